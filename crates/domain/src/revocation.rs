//! REVOKE: voids everything that depends on a revoked identity and was not started.
//!
//! One rule, recorded together with the revocation: approvals of actions, standing orders, the approval of a plan that was not started,
//! network grants and exemptions become void, and the requester waits for another reviewer. Proposals of a revoked agent, and proposals
//! that a revoked reviewer amended, are withdrawn. Started actions continue: their permit is spent, and only their worker can stop them.
//! Replacing a token is not a revocation; the person is the same.

use crate::action::{ActionEvent, ActionState, ActionStatus};
use crate::approval::Terms;
use crate::decide::Loaded;
use crate::draft::{ActionOutcome, CommandDraft};
use crate::id::{ActionId, IdentityId};
use crate::identity::Identity;
use crate::organisation::Organisation;
use crate::reason::{RevokedPart, StatusReason};
use crate::record::Event;
use crate::refusal::Refusal;
use crate::run::{Answer, ClockEvent, NetworkEvent, OrderEvent, Run, RunEvent, RunStatus};
use crate::time::Timestamp;
use crate::worktree::{Worktree, WorktreeEvent, WorktreeNews, WorktreeStatus};

impl ActionState {
    /// Checks whether the action is not started and depends on an approval, a proposal or a lease of this identity.
    pub fn rests_on(&self, id: IdentityId) -> bool {
        let unstarted =
            matches!(self.status, ActionStatus::PendingApproval | ActionStatus::Approved | ActionStatus::Leased);
        unstarted && (wrote(self, id) || approved(self, id) || self.lease().is_some_and(|lease| lease.worker == id))
    }
}

fn wrote(action: &ActionState, id: IdentityId) -> bool {
    let amended = action.amendment.iter().flat_map(|amendment| &amendment.amenders).any(|amender| amender.id == id);
    action.proposer == id || amended
}

fn approved(action: &ActionState, id: IdentityId) -> bool {
    action.vouched_by == Some(id) || action.approvals.iter().any(|approval| approval.reviewer == id)
}

/// Voids everything loaded that depends on the revoked identity. `revoked` is the identity before its revocation.
pub(crate) fn record_consequences(
    draft: &mut CommandDraft<'_>,
    revoked: &Identity,
    terms: &Terms,
) -> Result<(), Refusal> {
    let before = draft.before;
    for action in &before.actions {
        let void = void_action(action, revoked, terms, draft.now);
        record_action(draft, action, void)?;
    }
    for id in before.runs.iter().map(|run| run.id) {
        let void = draft.after.find_run(id).map(|run| void_in_run(run, revoked)).unwrap_or_default();
        draft.record_run(id, void);
    }
    let exemptions = before.worktrees.iter().flat_map(|worktree| void_exemptions(worktree, revoked));
    draft.record_all(exemptions.map(Event::Worktree));
    let halted = still_halted(&before.organisation, before, &draft.after);
    draft.record_all(halted);
    Ok(())
}

/// Records the events of an action together with the events that follow for its run.
fn record_action(draft: &mut CommandDraft<'_>, action: &ActionState, events: Vec<ActionEvent>) -> Result<(), Refusal> {
    let events: Vec<(ActionId, ActionEvent)> = events.into_iter().map(|event| (action.id, event)).collect();
    // Without events, or without the run of the action, nothing follows.
    match draft.after.find_run(action.run).filter(|_| !events.is_empty()).cloned() {
        Some(run) => {
            let outcome = draft.record_action(&run, Some(action), events.clone(), true)?;
            if outcome == ActionOutcome::Replaced {
                // Whatever the run does instead, what rested on the revoked identity is void.
                draft.record_all(events.into_iter().map(|(id, event)| Event::Action(id, event)));
            }
            Ok(())
        }
        None => {
            draft.record_all(events.into_iter().map(|(id, event)| Event::Action(id, event)));
            Ok(())
        }
    }
}

fn void_action(action: &ActionState, revoked: &Identity, terms: &Terms, now: Timestamp) -> Vec<ActionEvent> {
    let name = &revoked.name;
    let withdrawn = |part| vec![ActionEvent::Withdrawn { reason: StatusReason::revoked(name, part) }];
    if !action.rests_on(revoked.id) {
        return Vec::new();
    }
    if action.proposer == revoked.id {
        return withdrawn(RevokedPart::Proposer);
    }
    if wrote(action, revoked.id) {
        return withdrawn(RevokedPart::Amender);
    }
    if !approved(action, revoked.id) {
        // The revoked identity is the worker. Nothing was started, so another worker may lease the action.
        return vec![ActionEvent::LeaseLapsed { attempt: action.attempt, started: false }];
    }
    if action.approvals.iter().any(|approval| approval.order.is_some()) {
        return withdrawn(RevokedPart::OrderApprover);
    }
    let reason = StatusReason::revoked(name, RevokedPart::Approver);
    let others = action.approvals.iter().filter(|approval| approval.reviewer != revoked.id);
    // The decision is due no later than the first remaining approval expires.
    let deadline = others.map(|approval| approval.expires_at).chain([now.plus_ms(terms.decide_within_ms)]).min();
    let deadline = deadline.unwrap_or(action.deadline);
    let voided = ActionEvent::ApprovalsVoided { of: revoked.id, reason, deadline };
    if action.performing && action.vouched_by == Some(revoked.id) {
        let judged = ActionEvent::Judged { verdict: action.verdict.clone(), review: action.review(), deadline };
        return vec![judged, voided, ActionEvent::Rehearsed];
    }
    vec![voided]
}

fn void_in_run(run: &Run, revoked: &Identity) -> Vec<RunEvent> {
    let (name, id) = (&revoked.name, revoked.id);
    if run.status.is_final() {
        return Vec::new();
    }
    let orders = run.orders.iter().filter(|order| order.giver == id && order.revoked.is_none());
    let orders = orders.map(|order| {
        let reason = StatusReason::revoked(name, RevokedPart::OrderGiver);
        OrderEvent::Revoked { number: order.number, reason }.into()
    });
    let granted = |answer: &Answer| matches!(answer, Answer::Granted { by, .. } if *by == Some(id));
    let wishes = run.network.wishes.iter().filter(|wish| granted(&wish.answer)).map(|wish| {
        let reason = StatusReason::revoked(name, RevokedPart::HostOpener);
        NetworkEvent::Revoked { number: wish.number, reason }.into()
    });
    let is_unstarted = run.status == RunStatus::Approved && run.authors.plan_approved_by == Some(id);
    let plan = is_unstarted
        .then(|| RunEvent::PlanApprovalVoided { reason: StatusReason::revoked(name, RevokedPart::PlanApprover) });
    let is_at_work = matches!(run.status, RunStatus::Executing | RunStatus::CheckpointReached) && run.agent == id;
    let paused = is_at_work.then(|| RunEvent::Paused { reason: StatusReason::revoked(name, RevokedPart::Agent) });
    orders.chain(wishes).chain(plan).chain(paused).collect()
}

fn void_exemptions(worktree: &Worktree, revoked: &Identity) -> Vec<WorktreeNews> {
    // A closed worktree was checked with its exemptions; that result stays.
    if !matches!(worktree.status, WorktreeStatus::Opening | WorktreeStatus::Open) {
        return Vec::new();
    }
    let granted = worktree.exemptions.iter().enumerate().filter(|(_, one)| one.granted_by == Some(revoked.id));
    let reason = StatusReason::revoked(&revoked.name, RevokedPart::ExemptionGranter);
    let void = granted.map(|(number, _)| WorktreeEvent::ExemptionVoided { number, reason: reason.clone() });
    void.map(|event| WorktreeNews { worktree: worktree.id, informed: Vec::new(), consulted: Vec::new(), event })
        .collect()
}

/// During a halt, stops the clock of each run that the revocation returns to `EXECUTING`.
fn still_halted(organisation: &Organisation, before: &Loaded, after: &Loaded) -> Vec<Event> {
    let works = |run: &Run| run.status == RunStatus::Executing;
    let worked = |run: &&Run| before.find_run(run.id).is_some_and(works);
    let began = after.runs.iter().filter(|run| works(run)).filter(|run| !worked(run));
    let halted = began.map(|run| Event::Run(run.id, ClockEvent::Halted.into()));
    if organisation.halt.is_some() { halted.collect() } else { Vec::new() }
}
