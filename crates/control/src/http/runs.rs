//! Runs: one handler per command, all through the same door.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::RunId;
use placet_domain::run::{BudgetCommand, RunCommand, SnapshotCommand};
use placet_store::RunFilter;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::view;

type RunAnswer = Result<Json<api::RunView>, Failure>;

/// A page of a list.
const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::RunQuery>,
) -> Result<Json<api::RunList>, Failure> {
    if let Some(project) = query.project {
        caller.sees(project, "project")?;
    }
    let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
    let (reach, project, before) = (caller.identity.reach.clone(), query.project, query.after);
    let runs = app
        .store()
        .runs(RunFilter { project, reach, before, limit, ..RunFilter::default() })
        .await
        .map_err(No::Fault)?;
    let next = view::next(&runs, limit);
    let seen = runs.into_iter().filter(|run| caller.sees_work(run.project, run.agent, "run").is_ok());
    Ok(Json(api::RunList { runs: seen.map(view::listed_run).collect(), next }))
}

pub(super) async fn create(
    State(app): State<App>,
    Asked(caller, new): Asked<api::NewRun>,
) -> Result<Json<api::RunView>, Failure> {
    let run = flow::make_run(&app, &caller, new).await?;
    Ok(Json(view::run(run)))
}

pub(super) async fn show(State(app): State<App>, Path(id): Path<RunId>, caller: Caller) -> RunAnswer {
    let run = flow::find_run(&app, &caller, id).await?;
    Ok(Json(view::run(run)))
}

/// Plans from an intent, and makes a run of it that waits for a person.
pub(super) async fn execute(
    State(app): State<App>,
    Asked(caller, new): Asked<api::NewExecution>,
) -> Result<Json<api::ExecutionView>, Failure> {
    let run = flow::plan_run(&app, &caller, new).await?;
    let unplanned = || Failure::new(StatusCode::CONFLICT, "not_now", "the run of this request was not planned");
    let view = api::ExecutionView::of(view::run(run)).ok_or_else(unplanned)?;
    Ok(Json(view))
}

pub(super) async fn pipeline(
    State(app): State<App>,
    Path(id): Path<RunId>,
    caller: Caller,
) -> Result<Json<api::PipelineView>, Failure> {
    let run = flow::find_run(&app, &caller, id).await?;
    Ok(Json(view::pipeline(&run)))
}

async fn change(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> RunAnswer {
    let run = flow::change_run(app, caller, id, command).await?;
    Ok(Json(view::run(run)))
}

pub(super) async fn submit(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Asked(caller, plan): Asked<api::PlanSubmission>,
) -> RunAnswer {
    change(&app, &caller, id, RunCommand::Submit { plan: plan.plan }).await
}

pub(super) async fn approve(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> RunAnswer {
    change(&app, &caller, id, RunCommand::ApprovePlan { seen }).await
}

pub(super) async fn complete(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> RunAnswer {
    change(&app, &caller, id, RunCommand::ApproveResults { seen, chosen: None }).await
}

pub(super) async fn export(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Seen(seen): Seen,
    Asked(caller, given): Asked<api::ExportRequest>,
) -> RunAnswer {
    change(&app, &caller, id, RunCommand::ApproveResults { seen, chosen: given.output_ids }).await
}

pub(super) async fn reject_results(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Seen(seen): Seen,
    Asked(caller, given): Asked<api::Rejection>,
) -> RunAnswer {
    change(&app, &caller, id, RunCommand::RejectResults { seen, reason: given.reason }).await
}

macro_rules! commands {
    ($($handler:ident takes $body:ident as $given:pat => $command:expr;)*) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            Path(id): Path<RunId>,
            Asked(caller, $given): Asked<api::$body>,
        ) -> RunAnswer {
            change(&app, &caller, id, $command).await
        }
    )*};
}

commands! {
    reject takes Rejection as given => RunCommand::RejectPlan { reason: given.reason };
    start takes Decision as _ => RunCommand::Start;
    attach takes Decision as _ => RunCommand::Attach;
    pause takes Reason as given => RunCommand::Pause { reason: given.reason };
    resume takes Decision as _ => RunCommand::Resume;
    cancel takes Reason as given => RunCommand::Cancel { reason: given.reason };
    finish takes Summary as given => RunCommand::Finish { summary: given.summary };
    fail takes FailureRequest as given => RunCommand::Fail { reason: given.try_into().map_err(No::Refused)? };
    finish_step takes StepReport as given => RunCommand::FinishStep { step: given.step, summary: given.summary };
    reach_checkpoint takes Summary as given => RunCommand::ReachGate { summary: given.summary };
    roll_back takes RollbackRequest as given => RunCommand::RollBack { to: given.to, reason: given.reason };
    ask_snapshot takes Reason as given => RunCommand::Snapshot(SnapshotCommand::Ask { reason: given.reason });
    budget takes BudgetRequest as given => RunCommand::Budget(BudgetCommand::Set { allowance: given.into() });
}

pub(super) async fn audit(
    State(app): State<App>,
    Path(id): Path<RunId>,
    Query(query): Query<api::AuditQuery>,
    caller: Caller,
) -> Result<Json<api::AuditTrail>, Failure> {
    let limit = query.limit.unwrap_or(MOST_ROWS).min(MOST_ROWS);
    let rows = flow::audit(&app, &caller, id, query.after, limit).await?;
    Ok(Json(api::AuditTrail { rows }))
}
