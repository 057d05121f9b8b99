//! How an execution broke off, as the ledger has it: which worker had it, since when, when it was last heard of, and when it was given up.
//!
//! Nothing is decided here. What becomes of it is a person's word, bound to the attempt that they looked at.

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::time::Timestamp;
use placet_ledger::Entry;
use placet_store::{EntryFilter, HEARTBEAT, Kinds, Order, StoredEntry};
use placet_wire::api;
use serde_json::Value;

use super::names::person;
use super::view::time;
use crate::app::App;
use crate::error::No;

/// More than one attempt leaves, heartbeats left out.
const MOST_ENTRIES: u32 = 100;

/// Only of what waits for a word on it.
pub async fn of(app: &App, action: &ActionState) -> Result<Option<api::InterruptionView>, No> {
    if action.status != ActionStatus::Interrupted {
        return Ok(None);
    }
    let Some(worker) = action.holders.last().copied() else { return Ok(None) };
    let entries = entries(app, action, Kinds::But(HEARTBEAT), MOST_ENTRIES).await?;
    let at = |kind: &str| entries.iter().find(|entry| is_of(entry, kind, action.attempt)).map(|entry| entry.at);
    let (leased, started, lapsed) = (at("job.leased"), at("permit.redeemed"), at("job.lease_lapsed"));
    let (Some(leased), Some(started), Some(lapsed)) = (leased, started, lapsed) else { return Ok(None) };
    Ok(Some(api::InterruptionView {
        attempt: action.attempt,
        worker,
        worker_name: person(app, worker).await?,
        leased_at: time(leased),
        started_at: time(started),
        heard_at: time(heard(app, action).await?.unwrap_or(started)),
        interrupted_at: time(lapsed),
    }))
}

/// When the worker last said that it is at it, if it ever did.
async fn heard(app: &App, action: &ActionState) -> Result<Option<Timestamp>, No> {
    let newest = entries(app, action, Kinds::Only(HEARTBEAT), 1).await?;
    Ok(newest.iter().find(|entry| is_of(entry, HEARTBEAT, action.attempt)).map(|entry| entry.at))
}

async fn entries(app: &App, action: &ActionState, kinds: Kinds, limit: u32) -> Result<Vec<StoredEntry>, No> {
    let (action, order) = (Some(action.id), Order::NewestFirst);
    Ok(app.store().entries(EntryFilter { action, kinds, order, limit, ..EntryFilter::default() }).await?)
}

fn is_of(entry: &StoredEntry, kind: &str, attempt: u32) -> bool {
    let told = || Entry::parse(&entry.bytes).ok().map(|entry| entry.body["attempt"].clone());
    entry.kind == kind && told() == Some(Value::from(attempt))
}
