//! Calls of language models: which a run made, what was said in them, and whether a project keeps that.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use placet_domain::id::{ProjectId, RunId};
use placet_wire::api;

use super::body::Asked;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Called, Caller};
use crate::read::view;

pub(super) async fn set_words(
    State(app): State<App>,
    Path(id): Path<ProjectId>,
    Asked(caller, given): Asked<api::WordsRequest>,
) -> Result<Json<api::ProjectView>, Failure> {
    let project = flow::set_words(&app, &caller, id, given.kept, given.reason).await?;
    Ok(Json(view::project(project)))
}

pub(super) async fn list(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Query(query): Query<api::CallQuery>,
    caller: Caller,
) -> Result<Json<api::CallList>, Failure> {
    let (calls, last) = flow::calls(&app, &caller, id, query.after).await?;
    Ok(Json(api::CallList { calls: calls.into_iter().map(seen).collect(), last }))
}

fn seen(called: Called) -> api::CallView {
    let Called { entry, at, call } = called;
    let words = call.words.map_or("none", |words| if words.cut { "cut" } else { "kept" });
    api::CallView {
        entry,
        at,
        id: call.id,
        wire: call.wire,
        upstream: call.upstream,
        model: call.model_answered.unwrap_or_else(|| call.model_asked.clone()),
        model_asked: call.model_asked,
        other_model: call.other_model,
        upstream_request: call.upstream_request,
        status: call.status,
        failed: call.failed,
        tokens_in: call.tokens.taken_in(),
        tokens_out: call.tokens.output,
        usd_micros: call.usd_micros,
        prices: call.prices,
        estimated: call.estimated,
        latency_ms: call.latency_ms,
        request: call.request.to_string(),
        response: call.response.to_string(),
        words: words.to_owned(),
    }
}

pub(super) async fn words(
    State(app): State<App>,
    Path((id, entry)): Path<(RunId, u64)>,
    caller: Caller,
) -> Result<Response, Failure> {
    let bytes = flow::words(&app, &caller, id, entry).await?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, bytes).into_response())
}
