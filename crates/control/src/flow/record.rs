//! RECORD: refused attempts go into the ledger, and the ledger is read back as an audit trail.

use placet_domain::action::ActionState;
use placet_domain::command::{About, Command};
use placet_domain::digest::Digest;
use placet_domain::event_meta::Approver;
use placet_domain::id::RunId;
use placet_domain::record::Record;
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_ledger::Entry;
use placet_store::{EntryFilter, HEARTBEAT, Kinds, MOST_ROWS, Order, StoredEntry};
use placet_wire::api::AuditRow;

use super::{Caller, No, find_run};
use crate::app::App;

/// Records an attempt that was refused before it could become a command.
pub async fn note_refusal(
    app: &App,
    caller: &Caller,
    about: About,
    tried: &'static str,
    refusal: Refusal,
) -> Result<(), No> {
    app.submit(caller.actor(), Command::NoteRefusal { about, tried, refusal }, None).await.map(drop)
}

/// The audit trail of a run: one row per ledger entry about it.
pub(crate) async fn audit(
    app: &App,
    caller: &Caller,
    run: RunId,
    after: Option<u64>,
    limit: u32,
) -> Result<Vec<AuditRow>, No> {
    let run = find_run(app, caller, run).await?;
    let filter = EntryFilter { run: Some(run.id), after, limit, ..EntryFilter::default() };
    let entries = app.store().entries(filter).await.map_err(No::Fault)?;
    Ok(entries.iter().filter_map(|stored| Entry::parse(&stored.bytes).ok()).map(|entry| row(&run, entry)).collect())
}

/// The newest rows of it, oldest first, without heartbeats.
pub async fn newest(app: &App, caller: &Caller, run: RunId, limit: u32) -> Result<Vec<AuditRow>, No> {
    let run = find_run(app, caller, run).await?;
    let (kinds, order) = (Kinds::But(HEARTBEAT), Order::NewestFirst);
    let filter = EntryFilter { run: Some(run.id), kinds, order, limit, ..EntryFilter::default() };
    let entries = app.store().entries(filter).await.map_err(No::Fault)?;
    let parsed = entries.iter().rev().filter_map(|stored| Entry::parse(&stored.bytes).ok());
    Ok(parsed.map(|entry| row(&run, entry)).collect())
}

/// The digest, if a manifest with it was ever reported for the action. The ledger says so, and nothing else.
pub(crate) async fn reported(app: &App, action: &ActionState, digest: Digest) -> Result<Option<Digest>, No> {
    let mut after = None;
    loop {
        let filter = EntryFilter { action: Some(action.id), after, limit: MOST_ROWS, ..EntryFilter::default() };
        let entries = app.store().entries(filter).await.map_err(No::Fault)?;
        let Some(last) = entries.last() else { return Ok(None) };
        after = Some(last.seq);
        if entries.iter().any(|stored| tells_of(stored, digest)) {
            return Ok(Some(digest));
        }
    }
}

fn tells_of(stored: &StoredEntry, digest: Digest) -> bool {
    let reports = matches!(stored.kind.as_str(), "job.completed" | "evidence.quarantined");
    let evidence = || Entry::parse(&stored.bytes).ok().and_then(|entry| entry.body["evidence"].as_str()?.parse().ok());
    reports && evidence() == Some(digest)
}

fn row(run: &Run, entry: Entry) -> AuditRow {
    let action = entry.action.as_deref().and_then(|id| id.parse().ok());
    let about = About { project: Some(run.project), run: Some(run.id), action };
    let record = Record::read(about, &entry.kind, entry.body);
    // An entry of another version is listed without details.
    let note = record.map(|record| record.event.meta().audit).unwrap_or_default();
    AuditRow {
        seq: entry.seq,
        timestamp: entry.at,
        agent: Some(run.agent.to_string()),
        event: entry.kind,
        action: entry.action,
        action_type: note.action_kind.map(|kind| kind.to_string()),
        input_digest: note.input.map(|digest| digest.to_string()),
        output_digest: note.output.map(|digest| digest.to_string()),
        approval_status: note.status.as_ref().map(ToString::to_string),
        status: note.status,
        approver: match note.approver {
            Approver::None => None,
            Approver::Author => Some(entry.actor.clone()),
            Approver::Identity(id) => Some(id.to_string()),
        },
        actor: entry.actor,
        tokens: note.spent.tokens,
        cost_usd_micros: note.spent.usd_micros,
    }
}
