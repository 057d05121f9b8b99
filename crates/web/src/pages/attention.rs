//! Attention by pages: the forms on a card that name somebody and that set it aside.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Path};
use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::identity::Role;
use placet_wire::api::AttentionView;

use super::form::{Fields, Sent};
use super::onward;
use crate::markup::Attended;

const MINUTE_MS: u64 = 60_000;

/// What was said about looking at it, and what the viewer can say, as long as it waits.
pub(super) fn attended(app: &App, caller: &Caller, state: &ActionState, said: AttentionView) -> Attended {
    let (reviews, operates) = (caller.identity.has(Role::Reviewer), caller.identity.has(Role::Operator));
    let waits = state.status == ActionStatus::PendingApproval && app.store().now() < state.deadline;
    Attended { said, may_assign: waits && (reviews || operates), may_defer: waits && reviews }
}

pub(super) async fn assign(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let (to, note) = (fields.text("to")?, fields.text("note")?);
    let to = Some(to.trim()).filter(|to| !to.is_empty());
    flow::assign(&app, &caller, id, to, note.trim().to_owned()).await?;
    // Whoever asks somebody else to look has not decided: the same card stays there.
    let to = if came_from_inbox(&fields) { format!("/?action={id}") } else { format!("/actions/{id}") };
    Ok(Redirect::to(&to).into_response())
}

pub(super) async fn defer(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let minutes = fields.number("minutes")?;
    let until = minutes.map(|minutes| app.store().now().plus_ms(minutes.saturating_mul(MINUTE_MS)));
    flow::defer(&app, &caller, id, until).await?;
    // In the inbox its neighbour comes next, as after a decision.
    let there = fields.text("onward").ok().filter(|_| came_from_inbox(&fields)).and_then(|to| onward::address(&to));
    let to = there.map_or_else(|| format!("/actions/{id}"), |there| format!("/?{there}"));
    Ok(Redirect::to(&to).into_response())
}

fn came_from_inbox(fields: &Fields) -> bool {
    fields.get("onward").is_ok_and(|onward| onward.is_some())
}
