//! Wishes: what cages of a run were refused, and what people say to it.

use axum::Json;
use axum::extract::State;
use placet_domain::id::RunId;
use placet_domain::run::{NetworkCommand, RunCommand};
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};
use crate::read::wishes::listed;

type WishAnswer = Result<Json<api::WishList>, Failure>;

pub(super) async fn list(State(app): State<App>, Path(id): Path<RunId>, caller: Caller) -> WishAnswer {
    let run = flow::find_run(&app, &caller, id).await?;
    Ok(Json(listed(&run, &app)))
}

pub(super) async fn grant(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    Seen(seen): Seen,
    Asked(caller, given): Asked<api::GrantRequest>,
) -> WishAnswer {
    let run = flow::grant(&app, &caller, id, number, seen, given.lasts_ms).await?;
    Ok(Json(listed(&run, &app)))
}

pub(super) async fn reject(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> WishAnswer {
    change(&app, &caller, id, RunCommand::Network(NetworkCommand::Reject { number, reason: given.reason })).await
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> WishAnswer {
    change(&app, &caller, id, RunCommand::Network(NetworkCommand::Revoke { number, reason: given.reason })).await
}

async fn change(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> WishAnswer {
    let run = flow::change_run(app, caller, id, command).await?;
    Ok(Json(listed(&run, app)))
}
