//! Hostings: what a worker that keeps runs asks and reports.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::RunId;
use placet_domain::run::{HostingCommand, RunCommand, SnapshotCommand};
use placet_wire::api;

use super::body::Asked;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};
use crate::read::view;

type RunAnswer = Result<Json<api::RunView>, Failure>;

pub(super) async fn list(
    State(app): State<App>,
    Asked(caller, query): Asked<api::HostingQuery>,
) -> Result<Json<api::HostingList>, Failure> {
    let wait = Duration::from_millis(query.wait_ms);
    let (runs, seen) = flow::hostings(&app, &caller, wait, query.seen).await?;
    let hostings = runs.into_iter().map(|(run, wanted)| {
        let mine = run.host.worker == Some(caller.identity.id);
        let lineage = run.agent_lineage.clone();
        let preview = app.previews().wanted_of(run.id).filter(|_| mine);
        api::HostingView { mine, wanted, preview, lineage, run: view::run(run) }
    });
    Ok(Json(api::HostingList { hostings: hostings.collect(), seen }))
}

pub(super) async fn equip(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, _): Asked<api::NewToken>,
) -> Result<Json<api::TokenOnce>, Failure> {
    let (identity, token) = flow::equip(&app, &caller, id).await?;
    Ok(Json(api::TokenOnce { identity: view::identity(&identity), token: token.reveal().to_owned() }))
}

pub(super) async fn collect(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, report): Asked<api::OutputReport>,
) -> RunAnswer {
    Ok(Json(view::run(flow::collect(&app, &caller, id, report).await?)))
}

pub(super) async fn previewed(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, report): Asked<api::PreviewReport>,
) -> RunAnswer {
    let run = flow::previewed(&app, &caller, id, report).await?;
    Ok(Json(view::run(run)))
}

pub(super) async fn preview(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    caller: Caller,
    Query(query): Query<api::PreviewQuery>,
) -> Result<Json<api::RollbackPreview>, Failure> {
    let wait = Duration::from_millis(query.wait_ms);
    let report = flow::preview(&app, &caller, id, number, wait).await?;
    let no_answer = |code, why: &str| Failure::new(StatusCode::SERVICE_UNAVAILABLE, code, why);
    let report = report.ok_or_else(|| no_answer("no_answer", "its host has not answered yet; ask again"))?;
    let why = report.failed.as_deref().unwrap_or("its host gave no answer");
    report.preview.clone().map(Json).ok_or_else(|| no_answer("no_preview", why))
}

pub(super) async fn destroy(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, _): Asked<api::Decision>,
) -> RunAnswer {
    Ok(Json(view::run(flow::destroyed(&app, &caller, id).await?)))
}

macro_rules! reports {
    ($($handler:ident takes $body:ident as $given:pat => $command:expr;)*) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            Path(id): Path<RunId>,
            Asked(caller, $given): Asked<api::$body>,
        ) -> RunAnswer {
                    Ok(Json(view::run(flow::change_run(&app, &caller, id, $command).await?)))
        }
    )*};
}

reports! {
    host takes Decision as _ => RunCommand::Hosting(HostingCommand::Host);
    keep_snapshot takes SnapshotReport as api::SnapshotReport { number, workspace, memory, files, size_bytes } =>
        RunCommand::Snapshot(SnapshotCommand::Keep { number, workspace, memory, files, size_bytes });
    fail_snapshot takes FaultRequest as api::FaultRequest { fault } => RunCommand::Snapshot(SnapshotCommand::Fail { fault });
    restore takes RestoreReport as api::RestoreReport { number, workspace, memory } =>
        RunCommand::Snapshot(SnapshotCommand::Restore { number, workspace, memory });
}
