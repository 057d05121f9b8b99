//! Webhooks in: a signed request that proposes an action, as the one agent that its hook stands for.

use axum::Json;
use axum::extract::State;
use placet_wire::api;

use super::body::Asked;
use super::problem::Failure;
use crate::app::App;
use crate::flow;
use crate::read::view;

pub(super) async fn propose(
    State(app): State<App>,
    Asked(caller, api::SignedProposal { run, proposal }): Asked<api::SignedProposal>,
) -> Result<Json<api::ActionView>, Failure> {
    let action = flow::propose(&app, &caller, run, proposal).await?;
    Ok(Json(view::action(&action)))
}
