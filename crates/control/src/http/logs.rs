//! Logs: what programs say while they work, told by workers and read by people.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use placet_wire::api;
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::Asked;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// `next` of the last answer; everything that is kept, without it.
    #[serde(default)]
    after: u64,
    /// How long to wait for more.
    #[serde(default)]
    wait_ms: u64,
}

pub(super) async fn agent_said(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, report): Asked<api::LogReport>,
) -> Result<Json<api::LogHeard>, Failure> {
    let heard = flow::agent_said(&app, &caller, id.parse().map_err(Failure::bad_id)?, &report).await?;
    Ok(Json(api::LogHeard { heard }))
}

pub(super) async fn action_said(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, report): Asked<api::LogReport>,
) -> Result<Json<api::LogHeard>, Failure> {
    let heard = flow::action_said(&app, &caller, id.parse().map_err(Failure::bad_id)?, &report).await?;
    Ok(Json(api::LogHeard { heard }))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    Query(LogQuery { after, wait_ms }): Query<LogQuery>,
) -> Result<Json<api::LogView>, Failure> {
    let (id, wait) = (id.parse().map_err(Failure::bad_id)?, Duration::from_millis(wait_ms));
    Ok(Json(flow::log_of_run(&app, &caller, id, after, wait).await?))
}

pub(super) async fn of_action(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    Query(LogQuery { after, wait_ms }): Query<LogQuery>,
) -> Result<Json<api::LogView>, Failure> {
    let (id, wait) = (id.parse().map_err(Failure::bad_id)?, Duration::from_millis(wait_ms));
    Ok(Json(flow::log_of_action(&app, &caller, id, after, wait).await?))
}
