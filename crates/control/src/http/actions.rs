//! Actions: proposed by agents, shown to and decided by people.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::id::{ActionId, RunId};
use placet_domain::proposal::{Action, Proposal};
use placet_domain::refusal::Refusal;
use placet_store::ActionFilter;
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

type ActionAnswer = Result<Json<api::ActionView>, Failure>;

const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

pub(super) async fn propose(
    State(app): State<App>,
    Path(run): Path<String>,
    Asked(caller, proposal): Asked<Proposal>,
) -> Result<(StatusCode, Json<api::ActionView>), Failure> {
    let run: RunId = run.parse().map_err(Failure::bad_id)?;
    let action = flow::propose(&app, &caller, run, proposal).await?;
    Ok((StatusCode::CREATED, Json(view::action(&action))))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// Only what was made after the entry of this number.
    after: Option<u64>,
    /// At most so many.
    limit: Option<u32>,
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(query): Query<PageQuery>,
    caller: Caller,
) -> Result<Json<api::ActionList>, Failure> {
    let run = flow::find_run(&app, &caller, run.parse().map_err(Failure::bad_id)?).await?;
    let limit = query.limit.unwrap_or(MOST_ROWS).min(MOST_ROWS);
    let filter = ActionFilter { run: Some(run.id), after: query.after, limit, ..ActionFilter::default() };
    let actions = app.store().actions(filter).await.map_err(No::Fault)?;
    let next = view::next(&actions, limit);
    Ok(Json(api::ActionList { actions: actions.iter().map(|listed| view::action(listed)).collect(), next }))
}

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<impl IntoResponse, Failure> {
    let action = flow::find_action(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?;
    let etag = format!("\"{}\"", action.review());
    Ok(([(header::ETAG, etag)], Json(detail(&app, &action).await?)))
}

pub(super) async fn detail(app: &App, action: &ActionState) -> Result<api::ActionDetail, Failure> {
    let sealed = app.store().sealed(action.id, action.digest).await.map_err(No::Fault)?;
    let sealed = sealed.ok_or(No::Refused(Refusal::Unknown { what: "action" }))?;
    let spec = Action::open(&sealed).map_err(No::Unsealable)?.spec().clone();
    let justification = match action.advice {
        Some(digest) => app.store().advice(action.id, digest).await.map_err(No::Fault)?,
        None => None,
    };
    let proposal = Proposal::behind(&spec, app.tools()).ok();
    Ok(api::ActionDetail { action: view::action(action), spec, proposal, justification })
}

/// What a run only rehearsed and what of it can still be done, in the order in which it was proposed.
pub(super) async fn effects(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(query): Query<PageQuery>,
    caller: Caller,
) -> Result<Json<api::EffectList>, Failure> {
    let run = flow::find_run(&app, &caller, run.parse().map_err(Failure::bad_id)?).await?;
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

fn parse(id: &str) -> Result<ActionId, Failure> {
    id.parse().map_err(Failure::bad_id)
}

pub(super) async fn approve(
    State(app): State<App>,
    Path(id): Path<String>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> ActionAnswer {
    let action = flow::approve(&app, &caller, parse(&id)?, seen).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn amend(
    State(app): State<App>,
    Path(id): Path<String>,
    Seen(seen): Seen,
    Asked(caller, request): Asked<api::AmendmentRequest>,
) -> Result<(StatusCode, Json<api::ActionView>), Failure> {
    let action = flow::amend(&app, &caller, parse(&id)?, seen, request).await?;
    Ok((StatusCode::CREATED, Json(view::action(&action))))
}

pub(super) async fn reject(
    State(app): State<App>,
    Path(id): Path<String>,
    Seen(seen): Seen,
    Asked(caller, rejection): Asked<api::Rejection>,
) -> ActionAnswer {
    let action = flow::reject(&app, &caller, parse(&id)?, seen, rejection.reason).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn withdraw(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, withdrawal): Asked<api::Withdrawal>,
) -> ActionAnswer {
    let action = flow::withdraw(&app, &caller, parse(&id)?, withdrawal.reason).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn perform(
    State(app): State<App>,
    Path(id): Path<String>,
    Seen(seen): Seen,
    Asked(caller, _): Asked<api::Decision>,
) -> ActionAnswer {
    let action = flow::perform(&app, &caller, parse(&id)?, seen).await?;
    Ok(Json(view::action(&action)))
}

pub(super) async fn resolve(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked(caller, request): Asked<api::ResolutionRequest>,
) -> ActionAnswer {
    let action = flow::resolve(&app, &caller, parse(&id)?, request.resolution, request.reason).await?;
    Ok(Json(view::action(&action)))
}
