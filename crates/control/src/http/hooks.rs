//! Webhooks in: a signed request that proposes an action, as the one agent that its hook stands for.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::RunId;
use placet_domain::proposal::Proposal;
use placet_wire::api;
use serde::Deserialize;

use super::body::Asked;
use super::problem::Failure;
use super::view;
use crate::app::App;
use crate::flow;

/// What an agent would say in the address and in the body of its own request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedProposal {
    run: String,
    proposal: Proposal,
}

pub(super) async fn propose(
    State(app): State<App>,
    Asked(caller, SignedProposal { run, proposal }): Asked<SignedProposal>,
) -> Result<(StatusCode, Json<api::ActionView>), Failure> {
    let run: RunId = run.parse().map_err(Failure::bad_id)?;
    let action = flow::propose(&app, &caller, run, proposal).await?;
    Ok((StatusCode::CREATED, Json(view::action(&action))))
}
