//! What programs say while they work: a page of its own for each, and for pages that are open what came after a place.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Path, Query};
use placet_domain::run::Run;
use placet_wire::api::{ActionView, LogView};
use serde::Deserialize;

use super::guard::{Visiting, made};
use super::viewer;
use crate::markup::{LogPage, LogShown, Speaks};

/// A page shows what there is: it is told when there is more.
const AT_ONCE: Duration = Duration::ZERO;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// Only what came after, and nothing around it.
    after: Option<u64>,
}

/// What the agent of a run says, if a host starts one for it.
pub(super) async fn of_agent(app: &App, caller: &Caller, run: &Run) -> Result<Option<LogShown>, Failure> {
    if run.hosting.is_external() {
        return Ok(None);
    }
    let view = flow::log_of_run(app, caller, run.id, 0, AT_ONCE).await?;
    Ok(Some(LogShown { who: Speaks::Agent, path: format!("/runs/{}/log", run.id), of: run.id.to_string(), view }))
}

/// What the program of an action says, until it is over.
pub(super) async fn of_program(app: &App, caller: &Caller, action: &ActionView) -> Result<Option<LogShown>, Failure> {
    if action.status.is_final() {
        return Ok(None);
    }
    let view = flow::log_of_action(app, caller, action.id, 0, AT_ONCE).await?;
    let (path, of) = (format!("/actions/{}/log", action.id), action.id.to_string());
    Ok(Some(LogShown { who: Speaks::Program, path, of, view }))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
    Query(query): Query<LogQuery>,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let view = flow::log_of_run(&app, &caller, id, query.after.unwrap_or(0), AT_ONCE).await?;
    if query.after.is_some() {
        return after(&visiting, Speaks::Agent, view).await;
    }
    let run = flow::find_run(&app, &caller, id).await?;
    let (path, of, home) = (format!("/runs/{id}/log"), id.to_string(), format!("/runs/{id}"));
    let log = LogShown { who: Speaks::Agent, path, of, view };
    whole(&app, &visiting, LogPage { log, run: id, home, title: run.goal }).await
}

pub(super) async fn of_action(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
    Query(query): Query<LogQuery>,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let view = flow::log_of_action(&app, &caller, id, query.after.unwrap_or(0), AT_ONCE).await?;
    if query.after.is_some() {
        return after(&visiting, Speaks::Program, view).await;
    }
    let action = flow::find_action(&app, &caller, id).await?;
    let (path, of, home) = (format!("/actions/{id}/log"), id.to_string(), format!("/actions/{id}"));
    let log = LogShown { who: Speaks::Program, path, of, view };
    whole(&app, &visiting, LogPage { log, run: action.run, home, title: action.tool.to_string() }).await
}

async fn after(visiting: &Visiting, who: Speaks, view: LogView) -> Result<Response, Failure> {
    let lang = visiting.lang;
    made(move || crate::markup::log_after(lang, who, &view)).await
}

async fn whole(app: &App, visiting: &Visiting, page: LogPage) -> Result<Response, Failure> {
    let viewer = viewer::viewer(app, visiting).await?;
    made(move || crate::markup::log(&viewer, &page)).await
}
