//! Checkpoints: what a person sees there, and what can be decided.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::run::RunCommand;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};
use crate::read::actions::entitle;
use crate::read::view;

type RunAnswer = Result<Json<api::RunView>, Failure>;

/// Where the run stands now.
pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<RunId>,
    caller: Caller,
) -> Result<Json<api::CheckpointView>, Failure> {
    let look = flow::look(&app, &caller, id).await?;
    let none = || Failure::new(StatusCode::NOT_FOUND, "unknown", "the run stands at no checkpoint");
    let mut seen = view::checkpoint(look).ok_or_else(none)?;
    for list in [&mut seen.actions_done, &mut seen.actions_next, &mut seen.actions_interrupted] {
        entitle(&app, list).await;
    }
    Ok(Json(seen))
}

async fn decide(app: &App, caller: &Caller, place: (RunId, u32), command: RunCommand) -> RunAnswer {
    let (run, number) = place;
    let run = flow::decide_checkpoint(app, caller, run, number, command).await?;
    Ok(Json(view::run(run)))
}

fn pass(seen: Digest, given: api::Modification) -> RunCommand {
    RunCommand::PassGate { seen, note: given.note, plan: given.plan }
}

pub(super) async fn approve(
    State(app): State<App>,
    Path(place): Path<(RunId, u32)>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> RunAnswer {
    decide(&app, &caller, place, pass(seen, api::Modification::default())).await
}

pub(super) async fn modify(
    State(app): State<App>,
    Path(place): Path<(RunId, u32)>,
    Seen(seen): Seen,
    Asked(caller, given): Asked<api::Modification>,
) -> RunAnswer {
    decide(&app, &caller, place, pass(seen, given)).await
}

pub(super) async fn reject(
    State(app): State<App>,
    Path(place): Path<(RunId, u32)>,
    Seen(seen): Seen,
    Asked(caller, given): Asked<api::Rejection>,
) -> RunAnswer {
    decide(&app, &caller, place, RunCommand::RejectGate { seen, reason: given.reason }).await
}

/// Back to what was saved at this checkpoint, whether the run still stands there or not.
pub(super) async fn roll_back(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> RunAnswer {
    let run = flow::find_run(&app, &caller, id).await?;
    let saved = run.snapshots.kept.iter().rev().find(|snapshot| snapshot.gate == Some(number));
    let none = || Failure::new(StatusCode::NOT_FOUND, "unknown", "nothing was saved at this checkpoint");
    let to = saved.ok_or_else(none)?.number;
    let command = RunCommand::RollBack { to, reason: given.reason };
    Ok(Json(view::run(flow::change_run(&app, &caller, id, command).await?)))
}
