//! Health, readiness, metrics.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::problem::{Failure, NO_ROOM, problem};
use crate::app::App;

pub(super) async fn health() -> Json<serde_json::Value> {
    Json(json!({ "status": "ok" }))
}

/// Ready means: the ledger can be written. Without it nothing is done.
pub(super) async fn ready(State(app): State<App>) -> Response {
    match app.store().has_room() {
        Ok(true) => {}
        Ok(false) => return problem(StatusCode::SERVICE_UNAVAILABLE, "no_room", NO_ROOM),
        Err(fault) => return Failure::from(fault).into_response(),
    }
    match app.store().read_only() {
        None => Json(json!({ "status": "ready", "ledger_size": app.store().size() })).into_response(),
        Some(why) => {
            problem(StatusCode::SERVICE_UNAVAILABLE, "read_only", &format!("the ledger cannot be written: {why}"))
        }
    }
}

pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics_text().await)
}
