//! What happened in a run, as its page tells it: the newest entries, all calls of models, and its actions. Each by a query of its own, so that
//! nothing crowds out anything else.

use std::collections::BTreeMap;

use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::Failure;
use placet_control::read::actions::title;
use placet_control::read::{names, view};
use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::evidence::Usage;
use placet_domain::id::RunId;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_ledger::Entry;
use placet_store::{ActionFilter, EntryFilter, HEARTBEAT, Kinds, Listed, Order};
use placet_wire::api;

use crate::markup::RunAction;

/// The newest entries of a run that a page tells of.
const MOST_ENTRIES: u32 = 400;
/// More corners of a curve than a screen has columns help nobody; every call is in the sums.
const MOST_POINTS: u32 = 300;
/// The newest actions that a page lists; each of the others is found by what happened.
const MOST_ACTIONS: u32 = 50;
/// What is decided at the results is all there, as far as anybody decides one by one.
const MOST_REHEARSED: u32 = 200;

/// The newest entries but heartbeats, oldest first; and how many heartbeats there were among them.
pub(super) async fn trail(app: &App, caller: &Caller, run: RunId) -> Result<(Vec<api::AuditRow>, u64), Failure> {
    let rows = flow::newest(app, caller, run, MOST_ENTRIES).await?;
    let after = rows.first().map(|row| row.seq).filter(|_| rows.len() >= MOST_ENTRIES as usize);
    let beats = EntryFilter { run: Some(run), kinds: Kinds::Only(HEARTBEAT), after, ..EntryFilter::default() };
    Ok((rows, app.store().count_entries(beats).await?))
}

/// Whom the entries name as those who acted, by their ids.
pub(super) async fn names(app: &App, trail: &[api::AuditRow]) -> Result<BTreeMap<String, String>, Failure> {
    let mut named = BTreeMap::new();
    for actor in trail.iter().map(|row| &row.actor) {
        if let (false, Ok(id)) = (named.contains_key(actor), actor.parse()) {
            named.insert(actor.clone(), names::person(app, id).await?);
        }
    }
    Ok(named)
}

/// What calls of models took, as sums over time: when, tokens, millionths of a dollar.
pub(super) async fn calls(app: &App, run: RunId) -> Result<Vec<(Timestamp, u64, u64)>, Failure> {
    let sums = app.store().calls(run, MOST_POINTS).await?;
    Ok(sums.into_iter().map(|taken| (taken.at, taken.tokens, taken.usd_micros)).collect())
}

/// The newest actions of the run, in one of these states or any.
pub(super) async fn actions(app: &App, run: &Run, statuses: Vec<ActionStatus>) -> Result<Vec<RunAction>, Failure> {
    let (run, order, limit) = (Some(run.id), Order::NewestFirst, MOST_ACTIONS);
    let found = app.store().actions(ActionFilter { run, statuses, order, limit, ..ActionFilter::default() }).await?;
    rows(app, found.iter()).await
}

/// What of it people are asked about now, the oldest first: nothing that came later takes their place. And whether there is more.
pub(super) async fn asked(app: &App, run: &Run) -> Result<(Vec<RunAction>, bool), Failure> {
    let (run, statuses, limit) = (Some(run.id), vec![ActionStatus::PendingApproval], MOST_ACTIONS + 1);
    let found = app.store().actions(ActionFilter { run, statuses, limit, ..ActionFilter::default() }).await?;
    let is_more = found.len() > MOST_ACTIONS as usize;
    Ok((rows(app, found.iter().take(MOST_ACTIONS as usize)).await?, is_more))
}

/// Each with what it is, in a line.
async fn rows(app: &App, found: impl Iterator<Item = &Listed<ActionState>>) -> Result<Vec<RunAction>, Failure> {
    let mut rows = Vec::new();
    for listed in found {
        let title = title(app, listed).await;
        rows.push(RunAction { action: view::action(listed), title, since: listed.created_at });
    }
    Ok(rows)
}

/// What it only rehearsed and somebody may have done at its results: not what belongs to a past that is no more.
pub(super) async fn rehearsed(app: &App, run: &Run) -> Result<Vec<RunAction>, Failure> {
    let statuses = vec![ActionStatus::Rehearsed];
    let filter = ActionFilter { run: Some(run.id), statuses, limit: MOST_REHEARSED, ..ActionFilter::default() };
    let found = app.store().actions(filter).await?;
    rows(app, found.iter().filter(|listed| listed.rollbacks == run.rollbacks)).await
}

/// What executions of the run used, the newest of them, oldest first: when, processor time, most memory.
pub(super) async fn used(app: &App, run: RunId) -> Result<Vec<(Timestamp, u64, u64)>, Failure> {
    let (kinds, order, limit) = (Kinds::Only("job.completed"), Order::NewestFirst, MOST_ENTRIES);
    let filter = EntryFilter { run: Some(run), kinds, order, limit, ..EntryFilter::default() };
    let completed = app.store().entries(filter).await?;
    let used = completed.iter().rev().filter_map(|entry| {
        let usage: Usage = serde_json::from_value(Entry::parse(&entry.bytes).ok()?.body["usage"].take()).ok()?;
        Some((entry.at, usage.cpu_ms, usage.peak_memory_bytes))
    });
    Ok(used.collect())
}
