//! Standing orders: given on an action, listed, taken back.

use axum::Json;
use axum::extract::State;
use placet_domain::id::{ActionId, RunId};
use placet_domain::refusal::Refusal;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::orders::{all_standing, listed, offered, view};

pub(super) async fn offer(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    caller: Caller,
) -> Result<Json<api::OrderOffer>, Failure> {
    let offer = flow::offer(&app, &caller, id).await?;
    Ok(Json(offered(&app, &offer)))
}

pub(super) async fn give(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Seen(seen): Seen,
    Asked(caller, request): Asked<api::OrderRequest>,
) -> Result<Json<api::OrderView>, Failure> {
    let run = flow::give_order(&app, &caller, id, seen, request).await?;
    let given = run.orders.iter().rev().find(|order| order.action == id);
    let given = given.ok_or(No::Refused(Refusal::Unknown { what: "order" }))?;
    Ok(Json(view(&app, &run, given).await?))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(id): Path<RunId>,
    caller: Caller,
) -> Result<Json<api::OrderList>, Failure> {
    let run = flow::find_run(&app, &caller, id).await?;
    Ok(Json(api::OrderList { orders: listed(&app, &run).await? }))
}

pub(super) async fn standing(State(app): State<App>, caller: Caller) -> Result<Json<api::OrderList>, Failure> {
    Ok(Json(api::OrderList { orders: all_standing(&app, &caller).await? }))
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(RunId, u32)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> Result<Json<api::OrderList>, Failure> {
    let run = flow::revoke_order(&app, &caller, id, number, given.reason).await?;
    Ok(Json(api::OrderList { orders: listed(&app, &run).await? }))
}
