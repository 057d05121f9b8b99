//! After a decision: the neighbour of what was decided is looked at, in the same part of the inbox, and what was decided is told.
//!
//! Where somebody goes on is said by the form and read as strictly as an address: it leads to the inbox and nowhere else. What was decided
//! is looked up: nobody is told that they decided what they did not.

use axum::extract::Query;
use axum::http::Uri;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_domain::id::ActionId;
use placet_pages::{Decided, Just};

use super::super::actions::detail;
use super::super::problem::Failure;
use super::action::{decided, stored_entries};
use super::form::Fields;
use super::inbox::InboxQuery;
use crate::app::App;
use crate::flow::{self, Caller};

/// To the neighbour of what was decided; to the top of the inbox where the form names none.
pub(super) fn go_on(fields: &Fields, decided: ActionId) -> Response {
    let there = fields.text("onward").ok().and_then(|onward| address(&onward)).unwrap_or_default();
    let joined = if there.is_empty() { "" } else { "&" };
    Redirect::to(&format!("/?{there}{joined}just={decided}")).into_response()
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
pub(super) async fn just(app: &App, caller: &Caller, id: Option<&str>) -> Result<Option<Just>, Failure> {
    let Some(id) = id.and_then(|id| id.parse().ok()) else { return Ok(None) };
    let Ok(state) = flow::find_action(app, caller, id).await else { return Ok(None) };
    let entries = stored_entries(app, id).await?;
    let Some(Decided { kind, by_id, .. }) = decided(app, &entries).await? else { return Ok(None) };
    if by_id != Some(caller.identity.id) {
        return Ok(None);
    }
    let shown = detail(app, &state).await?;
    let (title, is_awaited) = (shown.spec.title(), shown.action.approvals_missing > 0);
    Ok(Some(Just { id, kind, title, is_awaited }))
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
