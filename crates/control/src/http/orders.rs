//! Standing orders: given on an action, listed, taken back.

use axum::Json;
use axum::extract::State;
use placet_domain::action::ActionState;
use placet_domain::approval::MOST_TIMES;
use placet_domain::id::{ActionId, RunId};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Order, Run, Stand};
use placet_store::Listed;
use placet_wire::api;

use super::actions::title;
use super::body::Asked;
use super::caller::Seen;
use super::extract::Path;
use super::pages::person;
use super::problem::Failure;
use super::view::time;
use crate::app::App;
use crate::flow::{self, Caller, No, Offer};

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

/// What stands within reach, newest run first.
pub(super) async fn all_standing(app: &App, caller: &Caller) -> Result<Vec<api::OrderView>, Failure> {
    let mut orders = Vec::new();
    for run in flow::runs_with_orders(app, caller).await? {
        orders.extend(
            shown(app, &run, run.orders.iter().filter(|order| stand(app, &run, order) == Stand::Stands)).await?,
        );
    }
    Ok(orders)
}

/// All orders of a run, as they were given.
pub(super) async fn listed(app: &App, run: &Run) -> Result<Vec<api::OrderView>, Failure> {
    shown(app, run, run.orders.iter()).await
}

async fn shown(app: &App, run: &Run, orders: impl Iterator<Item = &Order>) -> Result<Vec<api::OrderView>, Failure> {
    let mut views = Vec::new();
    for order in orders {
        views.push(view(app, run, order).await?);
    }
    Ok(views)
}

fn stand(app: &App, run: &Run, order: &Order) -> Stand {
    order.stand(run, app.policy().version(), app.store().now())
}

/// With what the order is about, whose run it is and who gave it: nobody tells orders apart by ids.
async fn view(app: &App, run: &Run, order: &Order) -> Result<api::OrderView, Failure> {
    let given_on = app.store().action(order.action).await?;
    let title = match &given_on {
        Some(action) => title(app, action).await,
        None => order.tool.to_string(),
    };
    Ok(api::OrderView {
        run: run.id,
        project: run.project,
        goal: run.goal.clone(),
        number: order.number,
        status: stand(app, run, order).as_str().to_owned(),
        action: order.action,
        tool: order.tool.to_string(),
        title,
        agent: person(app, run.agent).await?,
        width: order.width.to_string(),
        class: order.class,
        giver: order.giver,
        giver_name: person(app, order.giver).await?,
        given_at: time(order.given_at),
        until: time(order.until),
        times: order.times,
        used: order.used,
        because: order.revoked.as_ref().map(ToString::to_string),
        reason: order.revoked.clone(),
    })
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
