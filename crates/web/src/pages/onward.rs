//! After a decision: the neighbour of what was decided is looked at, in the same part of the inbox, and what was decided is told.
//!
//! Where somebody goes on is said by the form and read as strictly as an address: it leads to the inbox and nowhere else. What was decided
//! is looked up: nobody is told that they decided what they did not.

use axum::extract::Query;
use axum::http::Uri;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::Failure;
use placet_control::read::actions::detail;
use placet_control::read::entries::{APPROVED, Decided, decided, decider, stored_entries};
use placet_control::read::waiting::MOST_AT_ONCE;
use placet_domain::action::ActionState;
use placet_domain::id::ActionId;
use placet_ledger::Entry;
use placet_store::{EntryFilter, StoredEntry};

use super::form::Fields;
use super::inbox::InboxQuery;
use crate::markup::{Given, Just};

/// To the neighbour of what was decided; to the top of the inbox where the form names none.
pub(super) fn go_on(fields: &Fields, decided: ActionId) -> Response {
    Redirect::to(&onward(fields, decided)).into_response()
}

/// The same after a word on so many others as well.
pub(super) fn go_on_with(fields: &Fields, decided: ActionId, others: usize) -> Response {
    Redirect::to(&format!("{}&with={others}", onward(fields, decided))).into_response()
}

fn onward(fields: &Fields, decided: ActionId) -> String {
    let there = fields.text("onward").ok().and_then(|onward| address(&onward)).unwrap_or_default();
    let joined = if there.is_empty() { "" } else { "&" };
    format!("/?{there}{joined}just={decided}")
}

/// The same place of the inbox, written anew from what it says; nothing for what says anything else.
pub(super) fn address(onward: &str) -> Option<String> {
    let written: Uri = format!("/?{onward}").parse().ok()?;
    let Query(query): Query<InboxQuery> = Query::try_from_uri(&written).ok()?;
    let listing = query.listing().ok()?;
    match query.action {
        Some(action) => Some(listing.query_at(action.parse().ok()?)),
        None => Some(listing.query()),
    }
}

/// What somebody has just decided, as it is on the record; nothing if the last word was not theirs.
pub(super) async fn just(app: &App, caller: &Caller, query: &InboxQuery) -> Result<Option<Just>, Failure> {
    let Some(id) = query.just.as_deref().and_then(|id| id.parse().ok()) else { return Ok(None) };
    let Ok(state) = flow::find_action(app, caller, id).await else { return Ok(None) };
    let entries = stored_entries(app, id).await?;
    let Some(Decided { kind, by_id, .. }) = decided(app, &entries).await? else { return Ok(None) };
    if by_id != Some(caller.identity.id) {
        return Ok(None);
    }
    let shown = detail(app, &state).await?;
    let (title, is_awaited) = (shown.spec.title(), shown.action.approvals_missing > 0);
    let order = ordered(app, caller, &state).await?;
    let count = 1 + together(app, caller, &state, &entries, query.with.unwrap_or_default()).await?;
    Ok(Some(Just { id, kind, title, count, order, is_awaited }))
}

/// The order that they gave with it.
async fn ordered(app: &App, caller: &Caller, state: &ActionState) -> Result<Option<Given>, Failure> {
    let run = flow::find_run(app, caller, state.run).await?;
    let given = run.orders.iter().find(|order| order.action == state.id && order.giver == caller.identity.id);
    Ok(given.map(|order| Given { run: run.id, number: order.number, times: order.times }))
}

/// How many others that ask the same they approved right after it: no more than the address says, and no more than are on the record.
async fn together(
    app: &App,
    caller: &Caller,
    state: &ActionState,
    entries: &[StoredEntry],
    most: usize,
) -> Result<u64, Failure> {
    let Some(first) = entries.iter().rev().find(|entry| entry.kind == APPROVED).filter(|_| most > 0) else {
        return Ok(0);
    };
    // Others decide meanwhile, and workers begin. Of whatever kind they are, only so many entries are looked through: who asks later is not
    // told of a word that they said right then by going over all that happened since.
    let (project, limit) = (Some(state.project), 4 * MOST_AT_ONCE as u32);
    let filter = EntryFilter { project, after: Some(first.seq), limit, ..EntryFilter::default() };
    let (entries, mut found) = (app.store().entries(filter).await?, 0);
    for entry in entries.iter().filter(|entry| entry.kind == APPROVED && decider(entry) == Some(caller.identity.id)) {
        found += u64::from(asks_the_same(app, entry, state).await?);
    }
    Ok(found.min(most as u64))
}

async fn asks_the_same(app: &App, approved: &StoredEntry, as_this: &ActionState) -> Result<bool, Failure> {
    let id = Entry::parse(&approved.bytes).ok().and_then(|entry| entry.action?.parse().ok());
    let other = match id {
        Some(id) => app.store().action(id).await?,
        None => None,
    };
    Ok(as_this.question().is_some() && other.and_then(|other| other.question()) == as_this.question())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_form_leads_on_within_the_inbox_and_nowhere_else() {
        let id = "act_00000000000000000000000000000008";
        assert_eq!(address(&format!("action={id}&tier=B")), Some(format!("tier=B&action={id}")));
        assert_eq!(address("part=others&after=70-12").as_deref(), Some("part=others&after=70-12"));
        assert_eq!(address("").as_deref(), Some(""));
        for elsewhere in ["//evil.example", "tier=Z", "action=x", "after=x", "part=x", "to=/settings", "tier=B%0d%0ax"]
        {
            assert_eq!(address(elsewhere), None, "{elsewhere}");
        }
    }
}
