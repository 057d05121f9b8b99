//! What the ledger says of one action: its entries, who approved it, and how it was decided.

use placet_domain::action::ActionState;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::time::Timestamp;
use placet_ledger::Entry;
use placet_store::{EntryFilter, HEARTBEAT, Kinds, Order, StoredEntry};

use super::names;
use crate::app::App;
use crate::error::No;

/// Limit of entries of one action, heartbeats left out; of one that has more, the newest.
const MOST_ENTRIES: u32 = 100;

/// One person's yes.
#[derive(Debug, Clone)]
pub struct Yes {
    pub name: String,
    /// When it was given, where that is known.
    pub at: Option<Timestamp>,
    /// Given by the person behind the agent, where one person works alone.
    pub alone: bool,
    /// Whether their passkey signed it.
    pub signed: bool,
}

/// What ended the waiting for a decision.
#[derive(Debug, Clone)]
pub struct Decided {
    pub kind: String,
    pub by: Option<String>,
    pub by_id: Option<IdentityId>,
    pub at: Timestamp,
}

/// Lists the approvals that count, each with the time of its latest entry. Voided approvals have entries too.
pub async fn approvals(app: &App, state: &ActionState, entries: &[StoredEntry]) -> Result<Vec<Yes>, No> {
    let mut said = Vec::new();
    for approval in &state.approvals {
        let is_it = |entry: &&StoredEntry| entry.kind == APPROVED && decider(entry) == Some(approval.reviewer);
        let at = entries.iter().rev().find(is_it).map(|entry| entry.at);
        let name = names::person(app, approval.reviewer).await?;
        said.push(Yes { name, at, alone: approval.single_operator, signed: approval.signing.is_some() });
    }
    Ok(said)
}

/// The newest entries of an action but heartbeats, the oldest of them first.
pub async fn stored_entries(app: &App, id: ActionId) -> Result<Vec<StoredEntry>, No> {
    let (kinds, order, limit) = (Kinds::But(HEARTBEAT), Order::NewestFirst, MOST_ENTRIES);
    let filter = EntryFilter { action: Some(id), kinds, order, limit, ..EntryFilter::default() };
    let mut newest = app.store().entries(filter).await?;
    newest.reverse();
    Ok(newest)
}

/// The kind of an entry that is a yes.
pub const APPROVED: &str = "action.approved";
/// Entries after which nobody is asked any more.
const DECISIONS: &[&str] =
    &[APPROVED, "action.rejected", "action.superseded", "action.withdrawn", "action.expired", "action.resolved"];

/// Whose decision an entry is: of a yes by order its giver's, and not of the agent whose proposal it came with.
pub fn decider(stored: &StoredEntry) -> Option<IdentityId> {
    let entry = Entry::parse(&stored.bytes).ok()?;
    let reviewer = entry.body["approval"]["reviewer"].as_str().and_then(|id| id.parse().ok());
    reviewer.or_else(|| entry.actor.parse().ok())
}

/// The last decision, with the name of whoever made it.
pub async fn decided(app: &App, entries: &[StoredEntry]) -> Result<Option<Decided>, No> {
    let Some(last) = entries.iter().rev().find(|entry| DECISIONS.contains(&entry.kind.as_str())) else {
        return Ok(None);
    };
    let by_id = decider(last);
    let by = match by_id {
        Some(id) => Some(names::person(app, id).await?),
        None => None,
    };
    Ok(Some(Decided { kind: last.kind.clone(), by, by_id, at: last.at }))
}

/// The manifest of what the execution of an action left.
pub async fn manifest(app: &App, state: &ActionState) -> Result<Option<Manifest>, No> {
    let Some(evidence) = state.evidence else { return Ok(None) };
    let bytes = app.store().sealed(state.id, evidence).await?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
