//! Health, readiness, metrics, and the document of the API.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use placet_wire::api;
use serde_json::json;
use utoipa::openapi::OpenApi;

use super::extract::Query;
use super::problem::{Failure, NO_ROOM, problem};
use crate::accept::ArrivedAt;
use crate::app::App;

/// Also proves the identity of this control plane to any caller, so that a client can verify it before it sends a token.
pub(super) async fn health(
    State(app): State<App>,
    Query(query): Query<api::HealthQuery>,
    request: Request,
) -> Json<serde_json::Value> {
    let asked = query.question.zip(request.extensions().get::<ArrivedAt>());
    match asked.and_then(|(question, at)| app.signer().sign_presence(&question, at.0)) {
        Some(proof) => Json(json!({ "status": "ok", "proof": proof })),
        None => Json(json!({ "status": "ok" })),
    }
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

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics_text().await).into_response()
}

pub(super) async fn api_document() -> Json<OpenApi> {
    Json(placet_wire::api_document())
}
