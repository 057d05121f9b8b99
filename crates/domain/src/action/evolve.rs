//! What a recorded event means for an action. Total: history is taken as it is, never judged again.

use super::attention::Attention;
use super::command::Resolution;
use super::event::ActionEvent;
use super::state::{ActionState, ActionStatus as Status, Lease};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::policy::{Ruling, Verdict};
use crate::reason::StatusReason;
use crate::time::Timestamp;

pub fn evolve(id: ActionId, state: Option<ActionState>, event: &ActionEvent, at: Timestamp) -> Option<ActionState> {
    if let ActionEvent::Proposed {
        project,
        run,
        digest,
        tool,
        kind,
        pages,
        reaches_others,
        proposer,
        proposer_lineage,
        advice,
        amendment,
        rollbacks,
        deed,
    } = event
    {
        return Some(ActionState {
            id,
            run: *run,
            project: *project,
            digest: *digest,
            tool: tool.clone(),
            kind: *kind,
            pages: *pages,
            reaches_others: *reaches_others,
            proposer: *proposer,
            proposer_lineage: proposer_lineage.clone(),
            advice: *advice,
            amendment: amendment.clone(),
            rollbacks: *rollbacks,
            deed: *deed,
            performing: false,
            vouched_by: None,
            voided_attempt: None,
            // Until the verdict is in, there is nothing to approve: no card has this digest.
            review: *digest,
            verdict: Verdict::unheard(*digest),
            // Until the verdict is in (the next event of the same transaction), nothing is permitted.
            status: Status::Denied,
            asked_at: None,
            approvals: Vec::new(),
            deadline: Timestamp::from_unix_ms(0),
            approved_at: None,
            attempt: 0,
            holders: Vec::new(),
            lease: None,
            evidence: None,
            because: None,
            superseded_by: None,
            attention: Attention::default(),
        });
    }
    let mut action = state?;
    apply(&mut action, event, at);
    Some(action)
}

fn apply(action: &mut ActionState, event: &ActionEvent, at: Timestamp) {
    match event {
        ActionEvent::Proposed { .. } | ActionEvent::Quarantined { .. } => {}
        ActionEvent::Judged { verdict, review, deadline } => judged(action, verdict, *review, *deadline, at),
        ActionEvent::Approved { approval, complete } => {
            action.approvals.push(approval.clone());
            action.attention.looked_at_by(approval.reviewer);
            if *complete {
                action.status = Status::Approved;
                action.deadline = approval.expires_at;
                action.approved_at = Some(at);
                action.attention = Attention::default();
            }
        }
        ActionEvent::Rehearsed => {
            action.performing = false;
            // Reason why a planned performance was cancelled, if there was one.
            let because = action.because.take();
            end(action, Status::Rehearsed, because);
        }
        ActionEvent::ToBePerformed { reviewer, deadline, .. } => {
            action.performing = true;
            await_decision(action, *deadline, at);
            action.vouched_by = Some(*reviewer);
        }
        ActionEvent::ApprovalsVoided { of, reason, deadline } => {
            void_approvals(action, *of, reason.clone(), *deadline, at)
        }
        ActionEvent::Rejected { reason, .. } => end(action, Status::Rejected, Some(StatusReason::said(reason))),
        ActionEvent::Superseded { by, reason, .. } => {
            action.superseded_by = Some(*by);
            end(action, Status::Superseded, Some(StatusReason::said(reason)));
        }
        ActionEvent::Withdrawn { reason } => {
            note_voided_permit(action);
            end(action, Status::Withdrawn, Some(reason.clone()));
        }
        ActionEvent::DeadlineLapsed => end(action, Status::Expired, None),
        ActionEvent::Postponed { deadline } => action.deadline = *deadline,
        ActionEvent::Leased { worker, attempt, expires_at } => {
            action.status = Status::Leased;
            action.attempt = *attempt;
            action.holders.push(*worker);
            action.lease = Some(Lease { worker: *worker, expires_at: *expires_at });
        }
        ActionEvent::Redeemed { worker, expires_at, .. } => {
            action.status = Status::Executing;
            action.lease = Some(Lease { worker: *worker, expires_at: *expires_at });
        }
        ActionEvent::Renewed { expires_at, .. } => {
            action.lease = action.lease.map(|lease| Lease { expires_at: *expires_at, ..lease });
        }
        ActionEvent::Completed { evidence, exit, .. } => {
            let status = if exit.is_success() { Status::Succeeded } else { Status::Failed };
            action.evidence = Some(*evidence);
            end(action, status, Some(StatusReason::Exited { exit: exit.clone() }));
        }
        ActionEvent::LeaseLapsed { started, .. } => {
            action.status = if *started { Status::Interrupted } else { Status::Approved };
            action.lease = None;
        }
        ActionEvent::Resolved { resolution: Resolution::Retry, reason, deadline, by } => {
            await_decision(action, *deadline, at);
            action.because = Some(StatusReason::said(reason));
            action.vouched_by = *by;
        }
        ActionEvent::Resolved { resolution: Resolution::Abandon, reason, .. } => {
            end(action, Status::Abandoned, Some(StatusReason::said(reason)))
        }
        ActionEvent::Assigned { by, to, note } => action.attention.assign(*by, *to, note),
        ActionEvent::Deferred { by, until } => action.attention.defer(*by, *until),
    }
}

fn judged(action: &mut ActionState, verdict: &Verdict, review: Digest, deadline: Timestamp, at: Timestamp) {
    action.verdict = verdict.clone();
    action.review = review;
    await_decision(action, deadline, at);
}

/// Voids the permit of the current attempt, so that the worker that holds it cannot start the action.
fn note_voided_permit(action: &mut ActionState) {
    if action.status == Status::Leased {
        action.voided_attempt = Some(action.attempt);
    }
}

/// Removes the approvals of a revoked identity. Other approvals stay, because they are for the same digest. An action whose retry
/// only this identity ordered becomes interrupted again.
fn void_approvals(action: &mut ActionState, of: IdentityId, reason: StatusReason, deadline: Timestamp, at: Timestamp) {
    note_voided_permit(action);
    action.approvals.retain(|approval| approval.reviewer != of);
    let was_retried = action.vouched_by == Some(of) && !action.performing;
    action.status = if was_retried { Status::Interrupted } else { Status::PendingApproval };
    action.asked_at = (action.status == Status::PendingApproval).then_some(at);
    action.vouched_by = action.vouched_by.filter(|by| *by != of);
    (action.lease, action.deadline, action.because) = (None, deadline, Some(reason));
    action.attention = Attention::default();
}

/// Back to where the verdict puts it: earlier approvals were for something else, or for one execution that is over.
fn await_decision(action: &mut ActionState, deadline: Timestamp, at: Timestamp) {
    action.status = match action.verdict.ruling() {
        Ruling::Allow => Status::Approved,
        Ruling::Ask { .. } => Status::PendingApproval,
        Ruling::Deny => Status::Denied,
    };
    action.deadline = deadline;
    action.asked_at = (action.status == Status::PendingApproval).then_some(at);
    action.approved_at = (action.status == Status::Approved).then_some(at);
    action.approvals.clear();
    action.vouched_by = None;
    // It is another question now.
    action.attention = Attention::default();
}

fn end(action: &mut ActionState, status: Status, because: Option<StatusReason>) {
    action.status = status;
    action.lease = None;
    action.because = because;
    action.attention = Attention::default();
}
