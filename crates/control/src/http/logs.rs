//! Logs: what programs say while they work, told by workers and read by people.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use placet_domain::id::{ActionId, RunId};
use placet_wire::api;

use super::body::Asked;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};

pub(super) async fn agent_said(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, report): Asked<api::LogReport>,
) -> Result<Json<api::LogHeard>, Failure> {
    let heard = flow::agent_said(&app, &caller, id, &report).await?;
    Ok(Json(api::LogHeard { heard }))
}

pub(super) async fn action_said(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, report): Asked<api::LogReport>,
) -> Result<Json<api::LogHeard>, Failure> {
    let heard = flow::action_said(&app, &caller, id, &report).await?;
    Ok(Json(api::LogHeard { heard }))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(id): Path<RunId>,
    caller: Caller,
    Query(api::LogQuery { after, wait_ms }): Query<api::LogQuery>,
) -> Result<Json<api::LogView>, Failure> {
    let wait = Duration::from_millis(wait_ms);
    Ok(Json(flow::log_of_run(&app, &caller, id, after, wait).await?))
}

pub(super) async fn of_action(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    caller: Caller,
    Query(api::LogQuery { after, wait_ms }): Query<api::LogQuery>,
) -> Result<Json<api::LogView>, Failure> {
    let wait = Duration::from_millis(wait_ms);
    Ok(Json(flow::log_of_action(&app, &caller, id, after, wait).await?))
}
