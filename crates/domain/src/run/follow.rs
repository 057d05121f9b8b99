//! What the events of an action mean for its run: checkpoints before what always asks, what it may use up, and orders that are used.
//!
//! Both are recorded together or not at all. So a run stands still from the moment in which an action of an always-asking kind is
//! proposed until it is decided or taken back, and none is leased that the budget does not cover. What is to be tried again after it
//! was interrupted is decided without a standstill: that it was proposed was one.

use super::budget::BudgetEvent;
use super::change::{exhausted, needs_snapshot};
use super::clock::ClockEvent;
use super::event::RunEvent;
use super::gate::GateKind;
use super::orders;
use super::rehearsal::RehearsalEvent;
use super::state::{Run, RunStatus};
use crate::action::{ActionEvent, ActionState, ActionStatus, Resolution};
use crate::budget::{Amounts, NotHeld, Purpose};
use crate::id::ActionId;
use crate::policy::Ruling;
use crate::proposal::ActionKind;
use crate::reason::StatusReason;
use crate::refusal::Refusal;

/// They are part of a run's state, which is read with every action.
const MOST_PERFORMING: usize = 100;

/// What happens to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
    /// This too.
    Also(Vec<RunEvent>),
    /// This, and not what was asked of the action.
    Instead(Vec<RunEvent>),
}

/// Consequences of an action's events for its run, without its clock ([`clock_event`]). `run` and `action` are the states before the events.
pub fn follow(
    run: &Run,
    action: Option<&ActionState>,
    events: &[(ActionId, ActionEvent)],
) -> Result<Consequence, Refusal> {
    let mut also = Vec::new();
    let mut waits_for = run.gate.as_ref().and_then(|gate| gate.action);
    let (mut kind, mut pages) = (action.map(|action| action.kind), action.and_then(|action| action.pages));
    let rehearsed = events.iter().any(|(_, event)| *event == ActionEvent::Rehearsed);
    // A reviewer who amended it looked, whatever the policy makes of what they wrote.
    let unseen = !events.iter().any(|(_, event)| matches!(event, ActionEvent::Superseded { .. }));
    for (id, event) in events {
        if let ActionEvent::Proposed { kind: proposed, pages: visited, .. } = event {
            (kind, pages) = (Some(*proposed), *visited);
        }
        match money(run, *id, kind.map(|kind| worst_case(kind, pages)), event)? {
            Consequence::Also(events) => also.extend(events),
            instead @ Consequence::Instead(_) => return Ok(instead),
        }
        let awaited = Awaited { action: waits_for, unseen };
        let step = gate(run, awaited, *id, kind.filter(|_| !rehearsed), event)?;
        waits_for = match &step {
            Some(RunEvent::GateMoved { action }) => Some(*action),
            Some(RunEvent::GateSettled { .. } | RunEvent::GateUnanswered { .. }) => None,
            _ => waits_for,
        };
        also.extend(step);
        also.extend(performance(run, *id, event)?.map(RunEvent::from));
        also.extend(orders::follow(run, action, *id, event).into_iter().map(RunEvent::from));
    }
    Ok(Consequence::Also(also))
}

/// Number of actions of the run that wait for people, and that are approved or in progress, since its last rollback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside {
    pub waiting: u64,
    pub working: u64,
}

impl Beside {
    /// Adds one action of the run in its current state.
    #[must_use]
    pub fn and(self, run: &Run, action: &ActionState) -> Self {
        if action.rollbacks == run.rollbacks { self.plus(action.status, 1) } else { self }
    }

    /// Adds this many actions in one status. Interrupted actions may wait for a person indefinitely, so they do not count.
    #[must_use]
    pub fn plus(self, status: ActionStatus, count: u64) -> Self {
        match status {
            ActionStatus::PendingApproval => Self { waiting: self.waiting.saturating_add(count), ..self },
            ActionStatus::Approved | ActionStatus::Leased | ActionStatus::Executing => {
                Self { working: self.working.saturating_add(count), ..self }
            }
            ActionStatus::Denied
            | ActionStatus::Rehearsed
            | ActionStatus::Rejected
            | ActionStatus::Expired
            | ActionStatus::Superseded
            | ActionStatus::Withdrawn
            | ActionStatus::Succeeded
            | ActionStatus::Failed
            | ActionStatus::Interrupted
            | ActionStatus::Abandoned => self,
        }
    }
}

/// Stops the clock of the run while every open action waits for people, and restarts it afterwards. The action at whose checkpoint the
/// run waits is not counted: the checkpoint has already stopped the clock. `run` and `actions` are the states after the events.
pub(crate) fn clock_event(run: &Run, actions: Beside) -> Option<RunEvent> {
    let at_gate = run.gate.as_ref().is_some_and(|gate| gate.action.is_some());
    let waits = actions.working == 0 && actions.waiting > u64::from(at_gate);
    match (run.clock.waits, waits) {
        (false, true) if run.status.is_open() && run.bounds_time() => Some(ClockEvent::WaitingForPeople.into()),
        (true, false) => Some(ClockEvent::WaitingOver.into()),
        (false, _) | (true, true) => None,
    }
}

/// What an action takes at most. Time is counted by the run's own clock.
fn worst_case(kind: ActionKind, pages: Option<u64>) -> Amounts {
    Amounts { actions: 1, pages: pages.unwrap_or(kind.usual_pages()), ..Amounts::NONE }
}

fn money(run: &Run, id: ActionId, worst: Option<Amounts>, event: &ActionEvent) -> Result<Consequence, Refusal> {
    let none = Ok(Consequence::Also(Vec::new()));
    let (Some(budget), Some(amounts)) = (&run.budget, worst) else { return none };
    let purpose = Purpose::Action(id);
    let held = budget.held_for(&purpose).is_some();
    let spent = match event {
        // What is to be performed was paid for when that was decided.
        ActionEvent::Leased { .. } if held => return none,
        ActionEvent::Resolved { resolution: Resolution::Retry, .. } if !run.rehearsal.performing.contains(&id) => {
            return none;
        }
        ActionEvent::Leased { .. }
        | ActionEvent::ToBePerformed { .. }
        | ActionEvent::Resolved { resolution: Resolution::Retry, .. } => {
            return match budget.permits(&purpose, amounts) {
                Ok(()) => Ok(Consequence::Also(vec![BudgetEvent::Held { purpose, amounts }.into()])),
                // At its results a run does not go on, so there is nothing to pause.
                Err(NotHeld::Short(short)) if run.status == RunStatus::Executing => {
                    Ok(Consequence::Instead(vec![exhausted(short.resource)]))
                }
                Err(other) => Err(other.into()),
            };
        }
        ActionEvent::Completed { exit, .. } if exit.is_not_started() => Amounts::NONE,
        ActionEvent::Completed { .. } | ActionEvent::LeaseLapsed { started: true, .. } => amounts,
        // Another worker takes it up: it stays paid for.
        ActionEvent::LeaseLapsed { started: false, .. } if run.rehearsal.performing.contains(&id) => return none,
        // Held for what was to be performed, and is not.
        ActionEvent::LeaseLapsed { started: false, .. }
        | ActionEvent::Judged { .. }
        | ActionEvent::ApprovalsVoided { .. }
        | ActionEvent::Rejected { .. }
        | ActionEvent::Superseded { .. }
        | ActionEvent::Withdrawn { .. }
        | ActionEvent::DeadlineLapsed => Amounts::NONE,
        ActionEvent::Proposed { .. }
        | ActionEvent::Rehearsed
        | ActionEvent::Approved { .. }
        | ActionEvent::Redeemed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::Resolved { resolution: Resolution::Abandon, .. }
        | ActionEvent::Assigned { .. }
        | ActionEvent::Deferred { .. } => return none,
    };
    // What was leased before there was a budget is not in it.
    Ok(Consequence::Also(held.then(|| BudgetEvent::Settled { purpose, spent }.into()).into_iter().collect()))
}

/// The action that a checkpoint waits for, and whether no reviewer had a say in what happens to it now.
#[derive(Clone, Copy)]
struct Awaited {
    action: Option<ActionId>,
    unseen: bool,
}

fn gate(
    run: &Run,
    awaited: Awaited,
    id: ActionId,
    kind: Option<ActionKind>,
    event: &ActionEvent,
) -> Result<Option<RunEvent>, Refusal> {
    let (is_awaited, unseen) = (awaited.action == Some(id), awaited.unseen);
    Ok(match event {
        ActionEvent::Judged { verdict, .. } => match verdict.ruling() {
            Ruling::Ask { .. } if run.status == RunStatus::Executing && awaited.action.is_none() => {
                kind.filter(|kind| run.posture.stops_before(*kind)).map(|kind| action_gate(id, kind))
            }
            Ruling::Deny | Ruling::Allow if is_awaited => {
                Some(RunEvent::GateSettled { action: id, executes: verdict.ruling() == Ruling::Allow, unseen })
            }
            Ruling::Ask { .. } | Ruling::Deny | Ruling::Allow => None,
        },
        // The action needs a new decision, so the run stops at its checkpoint again.
        ActionEvent::ApprovalsVoided { .. } if run.status == RunStatus::Executing && awaited.action.is_none() => {
            kind.filter(|kind| run.posture.stops_before(*kind)).map(|kind| action_gate(id, kind))
        }
        ActionEvent::Approved { complete: true, .. } if is_awaited => {
            needs_snapshot(run)?;
            Some(RunEvent::GateSettled { action: id, executes: true, unseen: false })
        }
        ActionEvent::Rejected { .. } if is_awaited => {
            Some(RunEvent::GateSettled { action: id, executes: false, unseen: false })
        }
        ActionEvent::Withdrawn { .. } if is_awaited => Some(taken_back(run, id)),
        // A reviewer made something of it that this run does not execute.
        ActionEvent::Rehearsed if is_awaited => Some(RunEvent::GateSettled { action: id, executes: false, unseen }),
        // Silence decides nothing: a person passes the checkpoint, since there is no action to decide on any more.
        ActionEvent::DeadlineLapsed if is_awaited => {
            Some(RunEvent::GateUnanswered { action: id, reason: StatusReason::Undecided { kind } })
        }
        ActionEvent::Superseded { by, .. } if is_awaited => Some(RunEvent::GateMoved { action: *by }),
        ActionEvent::Proposed { .. }
        | ActionEvent::Rehearsed
        | ActionEvent::ToBePerformed { .. }
        | ActionEvent::Approved { .. }
        | ActionEvent::ApprovalsVoided { .. }
        | ActionEvent::Rejected { .. }
        | ActionEvent::Superseded { .. }
        | ActionEvent::Withdrawn { .. }
        | ActionEvent::Leased { .. }
        | ActionEvent::Redeemed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Completed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::LeaseLapsed { .. }
        | ActionEvent::DeadlineLapsed
        | ActionEvent::Resolved { .. }
        | ActionEvent::Assigned { .. }
        | ActionEvent::Deferred { .. } => None,
    })
}

/// A run whose results wait for a person does again something that it had only rehearsed.
fn performance(run: &Run, id: ActionId, event: &ActionEvent) -> Result<Option<RehearsalEvent>, Refusal> {
    let over =
        |ran: bool| run.rehearsal.performing.contains(&id).then_some(RehearsalEvent::Performed { action: id, ran });
    Ok(match event {
        ActionEvent::ToBePerformed { .. } if run.rehearsal.performing.len() >= MOST_PERFORMING => {
            let why =
                format!("at most {MOST_PERFORMING} rehearsed actions are performed at a time; wait for some of them");
            return Err(Refusal::invalid(why));
        }
        ActionEvent::ToBePerformed { .. } => Some(RehearsalEvent::Performing { action: id }),
        ActionEvent::Completed { exit, .. } => over(!exit.is_not_started()),
        ActionEvent::Resolved { resolution: Resolution::Abandon, .. } => over(true),
        // Judged by another policy it is not performed before somebody looked at it again.
        ActionEvent::Judged { .. }
        | ActionEvent::Rejected { .. }
        | ActionEvent::Superseded { .. }
        | ActionEvent::Withdrawn { .. }
        | ActionEvent::DeadlineLapsed => over(false),
        ActionEvent::Proposed { .. }
        | ActionEvent::Rehearsed
        | ActionEvent::Approved { .. }
        | ActionEvent::ApprovalsVoided { .. }
        | ActionEvent::Leased { .. }
        | ActionEvent::Redeemed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::LeaseLapsed { .. }
        | ActionEvent::Resolved { resolution: Resolution::Retry, .. }
        | ActionEvent::Assigned { .. }
        | ActionEvent::Deferred { .. } => None,
    })
}

/// It counts as nothing, and the run goes on; but whoever asks and takes back again and again is looked at.
fn taken_back(run: &Run, action: ActionId) -> RunEvent {
    if run.gates.is_enough() {
        let reason = StatusReason::WithdrawnUndecided { actions: run.gates.unseen.saturating_add(1) };
        return RunEvent::GateUnanswered { action, reason };
    }
    RunEvent::GateSettled { action, executes: false, unseen: true }
}

fn action_gate(action: ActionId, kind: ActionKind) -> RunEvent {
    let reason = StatusReason::ActionWaits { kind };
    let kind = GateKind::Action;
    RunEvent::GateReached { kind, reason, action: Some(action), resource: None, finishes: None, passes_at: None }
}
