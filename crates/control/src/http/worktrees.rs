//! Worktrees and duties: one handler per command, all through the same door.

use axum::Json;
use axum::extract::State;
use placet_domain::id::{ProjectId, WorktreeId};
use placet_domain::worktree::WorktreeCommand;
use placet_store::WorktreeFilter;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::view;

type WorktreeAnswer = Result<Json<api::WorktreeView>, Failure>;

/// A page of a list.
const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

pub(super) async fn duties(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    caller: Caller,
) -> Result<Json<api::DutyTable>, Failure> {
    Ok(Json(api::DutyTable { duties: flow::duties(&app, &caller, project).await? }))
}

pub(super) async fn assign_duties(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, table): Asked<api::DutyTable>,
) -> Result<Json<api::DutyTable>, Failure> {
    Ok(Json(api::DutyTable { duties: flow::assign_duties(&app, &caller, project, table.duties).await? }))
}

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::WorktreeQuery>,
) -> Result<Json<api::WorktreeList>, Failure> {
    let api::WorktreeQuery { project, ticket, .. } = query;
    if let Some(project) = project {
        caller.sees(project, "project")?;
    }
    let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
    let filter = WorktreeFilter { reach: caller.identity.reach.clone(), project, ticket, after: query.after, limit };
    let worktrees = app.store().worktrees(filter).await.map_err(No::Fault)?;
    let next = view::next(&worktrees, limit);
    Ok(Json(api::WorktreeList { worktrees: worktrees.into_iter().map(view::listed_worktree).collect(), next }))
}

pub(super) async fn open(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, new): Asked<api::NewWorktree>,
) -> Result<Json<api::WorktreeView>, Failure> {
    let worktree = flow::open_worktree(&app, &caller, project, new.opening).await?;
    Ok(Json(worktree.into()))
}

pub(super) async fn show(State(app): State<App>, Path(id): Path<WorktreeId>, caller: Caller) -> WorktreeAnswer {
    let worktree = flow::find_worktree(&app, &caller, id).await?;
    Ok(Json(worktree.into()))
}

async fn change(app: &App, caller: &Caller, id: WorktreeId, command: WorktreeCommand) -> WorktreeAnswer {
    Ok(Json(flow::change_worktree(app, caller, id, command).await?.into()))
}

pub(super) async fn grant_exemption(
    State(app): State<App>,
    Path((id, number)): Path<(WorktreeId, usize)>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> WorktreeAnswer {
    change(&app, &caller, id, WorktreeCommand::GrantExemption { number, seen }).await
}

pub(super) async fn refuse_exemption(
    State(app): State<App>,
    Path((id, number)): Path<(WorktreeId, usize)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> WorktreeAnswer {
    change(&app, &caller, id, WorktreeCommand::RefuseExemption { number, reason: given.reason }).await
}

macro_rules! commands {
    ($($handler:ident takes $body:ident as $given:pat => $command:expr;)*) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            Path(id): Path<WorktreeId>,
            Asked(caller, $given): Asked<api::$body>,
        ) -> WorktreeAnswer {
            change(&app, &caller, id, $command).await
        }
    )*};
}

commands! {
    settle takes Decision as _ => WorktreeCommand::Settle;
    adopt takes Reason as given => WorktreeCommand::Adopt { found: given.reason };
    note takes WorkReport as given => WorktreeCommand::Note { work: given.work };
    ask_exemption takes ExemptionRequest as given => WorktreeCommand::AskExemption { paths: given.paths, reason: given.reason };
    close takes Closing as given => WorktreeCommand::Close {
        tip: given.tip, report: given.report, items: given.items, force: given.force,
    };
    merge takes Merging as given => WorktreeCommand::Merge { into: given.into, commit: given.commit };
    abort takes Rejection as given => WorktreeCommand::Abort { reason: given.reason };
}

pub(super) async fn notices(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::NoticeQuery>,
) -> Result<Json<api::NoticeList>, Failure> {
    Ok(Json(flow::notices(&app, &caller, query.after).await?))
}
