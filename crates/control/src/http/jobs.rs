//! Jobs: the worker's five calls.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use placet_domain::action::ActionStatus;
use placet_domain::id::ActionId;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::pair::OrNothing;
use super::problem::Failure;
use crate::app::App;
use crate::flow;
use crate::read::view;

pub(super) async fn lease(
    State(app): State<App>,
    Asked(caller, request): Asked<api::LeaseRequest>,
) -> Result<OrNothing<api::Job>, Failure> {
    let job = flow::lease(&app, &caller, Duration::from_millis(request.wait_ms)).await?;
    Ok(OrNothing(job))
}

pub(super) async fn redeem(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, redemption): Asked<api::Redemption>,
) -> Result<Json<api::RedemptionView>, Failure> {
    let action = flow::redeem(&app, &caller, id, &redemption.permit).await?;
    Ok(Json(api::RedemptionView { attempt: action.attempt, lease_ms: app.settings().terms.lease_ms }))
}

pub(super) async fn heartbeat(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, report): Asked<api::JobReport>,
) -> Result<Json<api::HeartbeatView>, Failure> {
    flow::heartbeat(&app, &caller, id, report.attempt).await?;
    Ok(Json(api::HeartbeatView { lease_ms: app.settings().terms.lease_ms }))
}

pub(super) async fn network(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, query): Asked<api::NetworkQuery>,
) -> Result<Json<api::NetworkView>, Failure> {
    let (slip, seen) = flow::network(&app, &caller, id, query).await?;
    Ok(Json(api::NetworkView { slip, seen }))
}

pub(super) async fn complete(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, completion): Asked<api::Completion>,
) -> Result<Json<api::CompletionView>, Failure> {
    let (action, evidence) = flow::complete(&app, &caller, id, completion.manifest).await?;
    let counted =
        matches!(action.status, ActionStatus::Succeeded | ActionStatus::Failed) && action.evidence == Some(evidence);
    Ok(Json(api::CompletionView { quarantined: !counted, evidence, action: view::action(&action) }))
}
