//! Standing orders by pages: given beside a decision, listed, taken back.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Path};
use placet_control::read::{names, orders};
use placet_domain::approval::Width;
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Role;
use placet_wire::api;

use super::form::{Fields, Sent};
use super::guard::{Visiting, html};
use super::onward::go_on;
use super::viewer;
use crate::markup::OrderRow;

const MINUTE_MS: u64 = 60_000;

pub(super) async fn list(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let standing = orders::all_standing(&app, &caller).await?;
    Ok(html(crate::markup::orders(&viewer, &rows(&app, &caller, standing).await?)))
}

/// Each with the name of whoever gave it.
pub(super) async fn rows(app: &App, caller: &Caller, orders: Vec<api::OrderView>) -> Result<Vec<OrderRow>, Failure> {
    let revocable = caller.identity.has(Role::Reviewer) || caller.identity.has(Role::Operator);
    let mut rows = Vec::new();
    for order in orders {
        let giver = names::person(app, order.giver).await?;
        rows.push(OrderRow { order, giver, revocable });
    }
    Ok(rows)
}

/// What the viewer could give on it, if anything.
pub(super) async fn offer(app: &App, caller: &Caller, id: ActionId) -> Result<Option<api::OrderOffer>, Failure> {
    let offer = flow::offer(app, caller, id).await?;
    Ok(Some(orders::offered(app, &offer)).filter(|offer| !offer.widths.is_empty()))
}

pub(super) async fn give(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    // Whoever has decided a lot lately looks at each: an order is the widest yes there is.
    if flow::pace(&app, caller.identity.id).await?.is_fast() {
        let why = "you have decided a lot lately; approve one by one for a while, or come back later";
        return Err(Failure::new(StatusCode::CONFLICT, "too_fast", why));
    }
    let (id, request) = (id.parse().map_err(Failure::bad_id)?, wanted(&fields)?);
    flow::give_order(&app, &caller, id, fields.seen()?, request).await?;
    Ok(go_on(&fields, id))
}

/// A page says all of it: what is missing is not guessed at.
fn wanted(fields: &Fields) -> Result<api::OrderRequest, Failure> {
    let bad = |why: &str| Failure::new(StatusCode::BAD_REQUEST, "bad_form", why);
    let width: Width = fields.text("width")?.parse().map_err(|_| bad("choose what is the same"))?;
    let minutes = fields.number("minutes")?.ok_or_else(|| bad("say for how many minutes"))?;
    let times = fields.number("times")?.and_then(|times| u32::try_from(times).ok());
    let times = times.ok_or_else(|| bad("say for how many actions"))?;
    Ok(api::OrderRequest { width, lasts_ms: Some(minutes.saturating_mul(MINUTE_MS)), times: Some(times) })
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let id: RunId = id.parse().map_err(Failure::bad_id)?;
    flow::revoke_order(&app, &caller, id, number, fields.text("reason")?).await?;
    Ok(Redirect::to("/orders").into_response())
}
