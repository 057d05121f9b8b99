//! RECORD: refused attempts go into the ledger, and the ledger is read back as an audit trail.

use placet_domain::action::{ActionEvent, ActionState};
use placet_domain::command::{About, Command};
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Run, RunEvent};
use placet_ledger::Entry;
use placet_store::{EntryFilter, HEARTBEAT, Kinds, MOST_ROWS, Order, StoredEntry};
use placet_wire::api::AuditRow;

use super::{Caller, No, find_run};
use crate::app::App;

/// Records an attempt that was refused before it could become a command.
pub(crate) async fn note_refusal(
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
pub(crate) async fn newest(app: &App, caller: &Caller, run: RunId, limit: u32) -> Result<Vec<AuditRow>, No> {
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
    let mut row = AuditRow {
        seq: entry.seq,
        timestamp: entry.at,
        actor: entry.actor,
        agent: Some(run.agent.to_string()),
        event: entry.kind.clone(),
        action: entry.action.clone(),
        action_type: None,
        input_digest: None,
        output_digest: None,
        approval_status: None,
        approver: None,
        tokens: 0,
        cost_usd_micros: 0,
    };
    let action = entry.action.and_then(|id| id.parse().ok());
    let about = About { project: Some(run.project), run: Some(run.id), action };
    match Record::read(about, &entry.kind, entry.body).map(|record| record.event) {
        Ok(Event::Action(_, event)) => describe_action(&mut row, &event),
        Ok(Event::Run(_, event)) => describe_run(&mut row, &event),
        Ok(
            Event::Organisation(_)
            | Event::Project(..)
            | Event::Identity(..)
            | Event::Worktree(_)
            | Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_),
        )
        | Err(_) => {}
    }
    row
}

fn describe_action(row: &mut AuditRow, event: &ActionEvent) {
    match event {
        ActionEvent::Proposed { digest, kind, .. } => {
            row.action_type = Some(kind.to_string());
            row.input_digest = Some(digest.to_string());
        }
        ActionEvent::Judged { verdict, .. } => row.approval_status = Some(format!("tier {}", verdict.tier())),
        ActionEvent::Approved { approval, complete } => {
            row.approver = Some(approval.reviewer.to_string());
            row.approval_status = Some(match approval.order {
                Some(number) => format!("approved by order {number}"),
                None => if *complete { "approved" } else { "approved in part" }.to_owned(),
            });
        }
        ActionEvent::ApprovalsVoided { of, .. } => {
            row.approver = Some(of.to_string());
            row.approval_status = Some("approval void: its reviewer was revoked".to_owned());
        }
        ActionEvent::Rejected { reviewer, .. } => {
            row.approver = Some(reviewer.to_string());
            row.approval_status = Some("rejected".to_owned());
        }
        ActionEvent::Superseded { reviewer, .. } => {
            row.approver = Some(reviewer.to_string());
            row.approval_status = Some("amended".to_owned());
        }
        ActionEvent::Redeemed { digest, .. } => row.input_digest = Some(digest.to_string()),
        ActionEvent::Completed { executed, evidence, .. } => {
            row.input_digest = Some(executed.to_string());
            row.output_digest = Some(evidence.to_string());
        }
        ActionEvent::Quarantined { evidence, .. } => row.output_digest = Some(evidence.to_string()),
        ActionEvent::DeadlineLapsed => row.approval_status = Some("expired".to_owned()),
        ActionEvent::ToBePerformed { reviewer, .. } => {
            row.approver = Some(reviewer.to_string());
            row.approval_status = Some("to be performed".to_owned());
        }
        ActionEvent::Rehearsed => row.approval_status = Some("rehearsed".to_owned()),
        ActionEvent::Assigned { to: Some(to), .. } => row.approval_status = Some(format!("for {to} to look at")),
        ActionEvent::Assigned { to: None, .. } => row.approval_status = Some("for nobody in particular".to_owned()),
        ActionEvent::Deferred { until: Some(_), .. } => row.approval_status = Some("set aside".to_owned()),
        ActionEvent::Deferred { until: None, .. } => row.approval_status = Some("set aside no more".to_owned()),
        ActionEvent::Withdrawn { .. }
        | ActionEvent::Leased { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::LeaseLapsed { .. }
        | ActionEvent::Resolved { .. } => {}
    }
}

fn describe_run(row: &mut AuditRow, event: &RunEvent) {
    let status = match event {
        RunEvent::PlanApproved { .. } => "plan approved",
        RunEvent::PlanRejected { .. } => "plan rejected",
        RunEvent::PlanApprovalVoided { .. } => "approval of the plan void: its reviewer was revoked",
        RunEvent::GatePassed { .. } => "checkpoint approved",
        RunEvent::GateRejected { .. } => "checkpoint rejected",
        RunEvent::GateLapsed => "checkpoint passed unseen, as agreed",
        RunEvent::Settled { spent, .. } => {
            (row.tokens, row.cost_usd_micros) = (spent.tokens, spent.usd_micros);
            return;
        }
        RunEvent::Called { call, .. } => {
            (row.tokens, row.cost_usd_micros) = (call.tokens.total(), call.usd_micros);
            (row.input_digest, row.output_digest) = (Some(call.request.to_string()), Some(call.response.to_string()));
            return;
        }
        RunEvent::CallsCounted { count } => {
            let (calls, outcome, reason) = (count.calls, count.outcome.as_str(), &count.reason);
            row.approval_status = Some(format!("{calls} calls {outcome}: {reason}"));
            row.output_digest = count.digest.map(|digest| digest.to_string());
            return;
        }
        RunEvent::ResultsApproved { .. } => "results approved",
        RunEvent::ResultsRejected { .. } => "results rejected",
        RunEvent::NetworkGranted { .. } => "host opened",
        RunEvent::NetworkRejected { .. } => "host not opened",
        RunEvent::NetworkRevoked { .. } => "host closed again",
        RunEvent::OrderGiven { .. } => "order given",
        RunEvent::OrderRevoked { .. } => "order taken back",
        RunEvent::Created { .. }
        | RunEvent::Prepared { .. }
        | RunEvent::BudgetSet { .. }
        | RunEvent::Submitted { .. }
        | RunEvent::Started
        | RunEvent::Hosted { .. }
        | RunEvent::Equipped
        | RunEvent::Attached
        | RunEvent::StepFinished { .. }
        | RunEvent::GateReached { .. }
        | RunEvent::GateSettled { .. }
        | RunEvent::GateUnanswered { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::Paused { .. }
        | RunEvent::Exhausted { .. }
        | RunEvent::Resumed
        | RunEvent::WaitingForPeople
        | RunEvent::WaitingOver
        | RunEvent::Halted
        | RunEvent::Released
        | RunEvent::RolledBack { .. }
        | RunEvent::SnapshotAsked { .. }
        | RunEvent::SnapshotKept { .. }
        | RunEvent::SnapshotFailed { .. }
        | RunEvent::SnapshotsForgotten { .. }
        | RunEvent::Restored { .. }
        | RunEvent::Held { .. }
        | RunEvent::NetworkWished { .. }
        // Whose yes it is, stands with the action.
        | RunEvent::OrderUsed { .. }
        | RunEvent::Finished { .. }
        | RunEvent::Collected { .. }
        | RunEvent::Performing { .. }
        | RunEvent::Performed { .. }
        | RunEvent::Destroyed
        | RunEvent::Failed { .. }
        | RunEvent::Cancelled { .. } => return,
    };
    row.approval_status = Some(status.to_owned());
    row.approver = Some(row.actor.clone());
}
