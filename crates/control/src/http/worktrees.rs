//! Worktrees and duties: one handler per command, all through the same door.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::{ProjectId, WorktreeId};
use placet_domain::worktree::{Ticket, WorktreeCommand};
use placet_store::WorktreeFilter;
use placet_wire::api;
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::Asked;
use super::caller::Seen;
use super::extract::{Path, Query};
use super::problem::Failure;
use super::view;
use crate::app::App;
use crate::flow::{self, Caller, No};

type WorktreeAnswer = Result<Json<api::WorktreeView>, Failure>;

/// A page of a list.
const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

pub(super) async fn duties(
    State(app): State<App>,
    Path(project): Path<String>,
    caller: Caller,
) -> Result<Json<api::DutyTable>, Failure> {
    let project = project.parse().map_err(Failure::bad_id)?;
    Ok(Json(api::DutyTable { duties: flow::duties(&app, &caller, project).await? }))
}

pub(super) async fn assign_duties(
    State(app): State<App>,
    Path(project): Path<String>,
    Asked(caller, table): Asked<api::DutyTable>,
) -> Result<Json<api::DutyTable>, Failure> {
    let project = project.parse().map_err(Failure::bad_id)?;
    Ok(Json(api::DutyTable { duties: flow::assign_duties(&app, &caller, project, table.duties).await? }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// Only what belongs to this project.
    project: Option<String>,
    /// Only what is for this ticket.
    ticket: Option<String>,
    /// Only what was made after the entry of this number: the list goes from old to new.
    after: Option<u64>,
    /// At most so many.
    limit: Option<u32>,
}

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<api::WorktreeList>, Failure> {
    let project: Option<ProjectId> = query.project.map(|id| id.parse()).transpose().map_err(Failure::bad_id)?;
    let ticket: Option<Ticket> = query.ticket.map(|ticket| ticket.parse()).transpose().map_err(Failure::bad_name)?;
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
    Path(project): Path<String>,
    Asked(caller, new): Asked<api::NewWorktree>,
) -> Result<(StatusCode, Json<api::WorktreeView>), Failure> {
    let project = project.parse().map_err(Failure::bad_id)?;
    let worktree = flow::open_worktree(&app, &caller, project, new.opening).await?;
    Ok((StatusCode::CREATED, Json(worktree.into())))
}

pub(super) async fn show(State(app): State<App>, Path(id): Path<String>, caller: Caller) -> WorktreeAnswer {
    let worktree = flow::find_worktree(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?;
    Ok(Json(worktree.into()))
}

async fn change(app: &App, caller: &Caller, id: &str, command: WorktreeCommand) -> WorktreeAnswer {
    let id: WorktreeId = id.parse().map_err(Failure::bad_id)?;
    Ok(Json(flow::change_worktree(app, caller, id, command).await?.into()))
}

pub(super) async fn grant_exemption(
    State(app): State<App>,
    Path((id, number)): Path<(String, usize)>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> WorktreeAnswer {
    change(&app, &caller, &id, WorktreeCommand::GrantExemption { number, seen }).await
}

pub(super) async fn refuse_exemption(
    State(app): State<App>,
    Path((id, number)): Path<(String, usize)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> WorktreeAnswer {
    change(&app, &caller, &id, WorktreeCommand::RefuseExemption { number, reason: given.reason }).await
}

macro_rules! commands {
    ($($handler:ident takes $body:ident as $given:pat => $command:expr;)*) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            Path(id): Path<String>,
            Asked(caller, $given): Asked<api::$body>,
        ) -> WorktreeAnswer {
            change(&app, &caller, &id, $command).await
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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct NoticeQuery {
    /// Only what happened after the entry of this number.
    after: Option<u64>,
}

pub(super) async fn notices(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<NoticeQuery>,
) -> Result<Json<api::NoticeList>, Failure> {
    Ok(Json(flow::notices(&app, &caller, query.after).await?))
}
