//! Attention: naming who should look at an action, and setting it aside.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::ActionId;
use placet_domain::time::Timestamp;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow;
use crate::read::attention::view;

pub(super) async fn assign(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, asked): Asked<api::AssignRequest>,
) -> Result<Json<api::AttentionView>, Failure> {
    let state = flow::assign(&app, &caller, id, asked.to.as_deref(), asked.note).await?;
    Ok(Json(view(&app, &caller, &state).await?))
}

pub(super) async fn defer(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, asked): Asked<api::DeferRequest>,
) -> Result<Json<api::AttentionView>, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_body", "write `until` like `2026-08-15T08:00:00Z`");
    let until: Option<jiff::Timestamp> = asked.until.as_deref().map(str::parse).transpose().map_err(bad)?;
    let until = until.map(|until| Timestamp::from_unix_ms(until.as_millisecond()));
    let state = flow::defer(&app, &caller, id, until).await?;
    Ok(Json(view(&app, &caller, &state).await?))
}
