//! Standing orders, with names and the title of the action that each was given on.

use placet_domain::action::ActionState;
use placet_domain::approval::MOST_TIMES;
use placet_domain::run::{Order, Run, Stand};
use placet_store::Listed;
use placet_wire::api;

use super::actions::title;
use super::names::person;
use super::view::time;
use crate::app::App;
use crate::error::No;
use crate::flow::{self, Caller, Offer};

/// What stands within reach, newest run first.
pub async fn all_standing(app: &App, caller: &Caller) -> Result<Vec<api::OrderView>, No> {
    let mut orders = Vec::new();
    for run in flow::runs_with_orders(app, caller).await? {
        orders.extend(
            shown(app, &run, run.orders.iter().filter(|order| stand(app, &run, order) == Stand::Stands)).await?,
        );
    }
    Ok(orders)
}

/// All orders of a run, as they were given.
pub async fn listed(app: &App, run: &Run) -> Result<Vec<api::OrderView>, No> {
    shown(app, run, run.orders.iter()).await
}

async fn shown(app: &App, run: &Run, orders: impl Iterator<Item = &Order>) -> Result<Vec<api::OrderView>, No> {
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
pub async fn view(app: &App, run: &Run, order: &Order) -> Result<api::OrderView, No> {
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

/// What an order on an action could be.
pub fn offered(app: &App, offer: &Offer) -> api::OrderOffer {
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
