//! Jobs: the worker's five calls.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use placet_domain::action::ActionStatus;
use placet_wire::api;
use serde::Deserialize;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use super::view;
use crate::app::App;
use crate::flow;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaseRequest {
    #[serde(default)]
    wait_ms: u64,
}

pub(super) async fn lease(
    State(app): State<App>,
    Asked(caller, request): Asked<LeaseRequest>,
) -> Result<Response, Failure> {
    let job = flow::lease(&app, &caller, Duration::from_millis(request.wait_ms)).await?;
    Ok(job.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |job| Json(job).into_response()))
}

pub(super) async fn redeem(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, redemption): Asked<api::Redemption>,
) -> Result<Json<api::RedemptionView>, Failure> {
    let action = flow::redeem(&app, &caller, id.parse().map_err(Failure::bad_id)?, &redemption.permit).await?;
    Ok(Json(api::RedemptionView { attempt: action.attempt, lease_ms: app.settings().terms.lease_ms }))
}

pub(super) async fn heartbeat(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, report): Asked<api::JobReport>,
) -> Result<Json<api::HeartbeatView>, Failure> {
    flow::heartbeat(&app, &caller, id.parse().map_err(Failure::bad_id)?, report.attempt).await?;
    Ok(Json(api::HeartbeatView { lease_ms: app.settings().terms.lease_ms }))
}

pub(super) async fn network(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, query): Asked<api::NetworkQuery>,
) -> Result<Json<api::NetworkView>, Failure> {
    let (slip, seen) = flow::network(&app, &caller, id.parse().map_err(Failure::bad_id)?, query).await?;
    Ok(Json(api::NetworkView { slip, seen }))
}

pub(super) async fn complete(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, completion): Asked<api::Completion>,
) -> Result<Json<api::CompletionView>, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let (action, evidence) = flow::complete(&app, &caller, id, completion.manifest).await?;
    let counted =
        matches!(action.status, ActionStatus::Succeeded | ActionStatus::Failed) && action.evidence == Some(evidence);
    Ok(Json(api::CompletionView { quarantined: !counted, evidence, action: view::action(&action) }))
}
