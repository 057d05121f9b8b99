//! Standing orders: given on an action, listed, taken back.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::action::ActionState;
use placet_domain::approval::MOST_TIMES;
use placet_domain::id::{ActionId, RunId};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Order, Run, Stand};
use placet_store::Listed;
use placet_wire::api;

use super::body::Asked;
use super::caller::Seen;
use super::extract::Path;
use super::problem::Failure;
use super::view::time;
use crate::app::App;
use crate::flow::{self, Caller, No, Offer};

pub(super) async fn offer(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<api::OrderOffer>, Failure> {
    let offer = flow::offer(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?;
    Ok(Json(offered(&app, &offer)))
}

pub(super) async fn give(
    State(app): State<App>,
    Path(id): Path<String>,
    Seen(seen): Seen,
    Asked(caller, request): Asked<api::OrderRequest>,
) -> Result<(StatusCode, Json<api::OrderView>), Failure> {
    let id: ActionId = id.parse().map_err(Failure::bad_id)?;
    let run = flow::give_order(&app, &caller, id, seen, request).await?;
    let given = run.orders.iter().rev().find(|order| order.action == id);
    let given = given.ok_or(No::Refused(Refusal::Unknown { what: "order" }))?;
    Ok((StatusCode::CREATED, Json(view(&app, &run, given))))
}

pub(super) async fn of_run(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<api::OrderList>, Failure> {
    let run = flow::find_run(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?;
    Ok(Json(api::OrderList { orders: listed(&app, &run) }))
}

pub(super) async fn standing(State(app): State<App>, caller: Caller) -> Result<Json<api::OrderList>, Failure> {
    Ok(Json(api::OrderList { orders: all_standing(&app, &caller).await? }))
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    Asked(caller, given): Asked<api::Rejection>,
) -> Result<Json<api::OrderList>, Failure> {
    let id: RunId = id.parse().map_err(Failure::bad_id)?;
    let run = flow::revoke_order(&app, &caller, id, number, given.reason).await?;
    Ok(Json(api::OrderList { orders: listed(&app, &run) }))
}

/// What stands within reach, newest run first.
pub(super) async fn all_standing(app: &App, caller: &Caller) -> Result<Vec<api::OrderView>, Failure> {
    let runs = flow::runs_with_orders(app, caller).await?;
    let orders = runs.iter().flat_map(|run| listed(app, run));
    Ok(orders.filter(|order| order.status == Stand::Stands.as_str()).collect())
}

/// All orders of a run, as they were given.
pub(super) fn listed(app: &App, run: &Run) -> Vec<api::OrderView> {
    run.orders.iter().map(|order| view(app, run, order)).collect()
}

fn view(app: &App, run: &Run, order: &Order) -> api::OrderView {
    api::OrderView {
        run: run.id,
        project: run.project,
        goal: run.goal.clone(),
        number: order.number,
        status: order.stand(run, app.policy().version(), app.store().now()).as_str().to_owned(),
        action: order.action,
        tool: order.tool.to_string(),
        width: order.width.to_string(),
        class: order.class,
        giver: order.giver,
        given_at: time(order.given_at),
        until: time(order.until),
        times: order.times,
        used: order.used,
        because: order.revoked.clone(),
    }
}

pub(super) fn offered(app: &App, offer: &Offer) -> api::OrderOffer {
    let covered = |listed: &Listed<ActionState>| api::CoveredView {
        action: listed.id,
        status: listed.status,
        proposed_at: time(listed.created_at),
    };
    let widths = offer.widths.iter().map(|(width, would)| api::WidthView {
        width: width.to_string(),
        would_cover: would.iter().map(covered).collect(),
    });
    api::OrderOffer {
        refused: offer.refused.as_ref().map(ToString::to_string),
        widths: widths.collect(),
        longest_ms: app.settings().terms.longest_order_ms,
        most_times: MOST_TIMES,
    }
}
