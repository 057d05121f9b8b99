//! Actions: proposed by agents, shown to and decided by people.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, header};
use placet_domain::action::ActionStatus;
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Role;
use placet_domain::proposal::Proposal;
use placet_store::ActionFilter;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::actions::{detail, entitle, titled};
use crate::read::{interruption, view};

type ActionAnswer = Result<Json<api::ActionView>, Failure>;

const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;
/// As many actions of a run as are told by what they do at once.
const MOST_TITLED: usize = 200;

pub(super) async fn propose(
    State(app): State<App>,
    Path(run): Path<RunId>,
    Asked(caller, proposal): Asked<Proposal>,
) -> Result<Json<api::ActionView>, Failure> {
    let action = flow::propose(&app, &caller, run, proposal).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(run): Path<RunId>,
    Query(query): Query<api::PageQuery>,
    caller: Caller,
) -> Result<Json<api::ActionList>, Failure> {
    let run = flow::find_run(&app, &caller, run).await?;
    let limit = query.limit.unwrap_or(MOST_ROWS).min(MOST_ROWS);
    let filter = ActionFilter { run: Some(run.id), after: query.after, limit, ..ActionFilter::default() };
    let actions = app.store().actions(filter).await.map_err(No::Fault)?;
    let next = view::next(&actions, limit);
    let mut actions: Vec<_> = actions.iter().map(|listed| view::action(listed)).collect();
    // Each is opened for that; a longer list finds ids.
    if actions.len() <= MOST_TITLED {
        entitle(&app, &mut actions).await;
    }
    Ok(Json(api::ActionList { actions, next }))
}

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    caller: Caller,
) -> Result<([(HeaderName, String); 1], Json<api::ActionDetail>), Failure> {
    let action = flow::find_action(&app, &caller, id).await?;
    let etag = format!("\"{}\"", action.review());
    let mut detail = detail(&app, &action).await?;
    // Where things run is nothing that an agent should plan with.
    if !caller.identity.has(Role::Agent) {
        detail.interruption = interruption::of(&app, &action).await?;
    }
    Ok(([(header::ETAG, etag)], Json(detail)))
}

/// What a run only rehearsed and what of it can still be done, in the order in which it was proposed.
pub(super) async fn effects(
    State(app): State<App>,
    Path(run): Path<RunId>,
    Query(query): Query<api::PageQuery>,
    caller: Caller,
) -> Result<Json<api::EffectList>, Failure> {
    let run = flow::find_run(&app, &caller, run).await?;
    let (limit, statuses) = (query.limit.unwrap_or(USUAL_ROWS).min(USUAL_ROWS), vec![ActionStatus::Rehearsed]);
    let filter = ActionFilter { run: Some(run.id), statuses, after: query.after, limit, ..ActionFilter::default() };
    let found = app.store().actions(filter).await.map_err(No::Fault)?;
    let next = view::next(&found, limit);
    let mut effects = Vec::new();
    // What was rehearsed before a rollback belongs to a past that is no more.
    for listed in found.iter().filter(|listed| listed.rollbacks == run.rollbacks) {
        effects.push(detail(&app, listed).await?);
    }
    Ok(Json(api::EffectList { effects, next }))
}

pub(super) async fn approve(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> ActionAnswer {
    let action = flow::approve(&app, &caller, id, seen).await?;
    Ok(Json(titled(&app, &action).await?))
}

pub(super) async fn amend(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Seen(seen): Seen,
    Asked(caller, request): Asked<api::AmendmentRequest>,
) -> Result<Json<api::ActionView>, Failure> {
    let action = flow::amend(&app, &caller, id, seen, request).await?;
    Ok(Json(titled(&app, &action).await?))
}

pub(super) async fn reject(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Seen(seen): Seen,
    Asked(caller, rejection): Asked<api::Rejection>,
) -> ActionAnswer {
    let action = flow::reject(&app, &caller, id, seen, rejection.reason).await?;
    Ok(Json(titled(&app, &action).await?))
}

pub(super) async fn withdraw(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, withdrawal): Asked<api::Withdrawal>,
) -> ActionAnswer {
    let action = flow::withdraw(&app, &caller, id, withdrawal.reason).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn perform(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> ActionAnswer {
    let action = flow::perform(&app, &caller, id, seen).await?;
    Ok(Json(titled(&app, &action).await?))
}

pub(super) async fn resolve(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, request): Asked<api::ResolutionRequest>,
) -> ActionAnswer {
    let api::ResolutionRequest { resolution, reason, attempt } = request;
    let state = flow::find_action(&app, &caller, id).await?;
    // Only of what waits for a word: whoever sends the same word again hears what came of it.
    if state.status == ActionStatus::Interrupted && attempt.is_some_and(|attempt| attempt != state.attempt) {
        return Err(Failure::tried_again());
    }
    let action = flow::resolve(&app, &caller, id, resolution, reason).await?;
    Ok(Json(titled(&app, &action).await?))
}
