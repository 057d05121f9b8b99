//! What a recorded event means for a run. Total: history is taken as it is, never judged again.

use super::asking::AskingMarks;
use super::calls::CallEvent;
use super::clock::WorkClock;
use super::event::RunEvent;
use super::gate::{Gate, GateCount, GateKind};
use super::hosting::HostState;
use super::milestones::{Milestones, Question, Standstill};
use super::network::Network;
use super::rehearsal::{Rehearsal, RehearsalEvent};
use super::snapshots::{SnapshotEvent, Snapshots, Surroundings};
use super::state::{Authors, FormerPlan, Run, RunStatus};
use super::{budget, orders};
use crate::budget::Budget;
use crate::id::RunId;
use crate::reason::StatusReason;
use crate::time::Timestamp;

pub fn evolve(id: RunId, state: Option<Run>, event: &RunEvent, at: Timestamp) -> Option<Run> {
    if matches!(event, RunEvent::Created { .. }) {
        return created(id, event, at);
    }
    let mut run = state?;
    let before = run.status;
    keep_contents(&mut run, event, at);
    run.status = status_after(&run, event);
    if run.status != before {
        run.paused_from = (run.status == RunStatus::Paused).then_some(before);
        run.clock.halted = false;
        keep_time(&mut run, at);
        run.milestones.mark(run.status, at);
    }
    if let Some(because) = because(event) {
        run.because = because;
    }
    Some(run)
}

fn created(id: RunId, event: &RunEvent, at: Timestamp) -> Option<Run> {
    let RunEvent::Created {
        project,
        parent,
        separation,
        goal,
        scope,
        posture,
        hosting,
        agent,
        agent_lineage,
        created_by,
        creator_lineage,
        scope_version: _,
    } = event
    else {
        return None;
    };
    Some(Run {
        id,
        project: *project,
        parent: *parent,
        goal: goal.clone(),
        products: None,
        plan: Vec::new(),
        scope: (**scope).clone(),
        posture: posture.clone(),
        agent: *agent,
        agent_lineage: agent_lineage.clone(),
        authors: Authors { created_by: *created_by, creator_lineage: creator_lineage.clone(), ..Authors::default() },
        separation: *separation,
        status: RunStatus::Draft,
        paused_from: None,
        milestones: Milestones::begin(at),
        standstills: 0,
        stood: None,
        said: None,
        because: None,
        steps_done: 0,
        budget: None,
        clock: WorkClock::default(),
        gate: None,
        gates: GateCount::default(),
        looked_at: None,
        asking: AskingMarks::default(),
        hosting: hosting.clone(),
        host: HostState::default(),
        snapshots: Snapshots::default(),
        former_plans: Vec::new(),
        dry: None,
        rollbacks: 0,
        rehearsal: Rehearsal::default(),
        network: Network::default(),
        orders: Vec::new(),
    })
}

/// Everything but the status.
fn keep_contents(run: &mut Run, event: &RunEvent, at: Timestamp) {
    note_decision(run, event);
    match event {
        RunEvent::Submitted { plan, by, lineage } => {
            run.plan.clone_from(plan);
            run.authors.submitted_by = *by;
            run.authors.submitter_lineage.clone_from(lineage);
            stand_still(run, Standstill { asks: Question::Plan, since: at }, None);
        }
        RunEvent::Prepared { product } => run.products.get_or_insert_default().keep(product),
        RunEvent::StepFinished { step, .. } => run.steps_done = *step,
        RunEvent::GateReached { .. } => reach_gate(run, event, at),
        RunEvent::GatePassed { plan, .. } => {
            plan.iter().for_each(|plan| change_plan(run, plan));
            leave_gate(run, run.gates.and_approved(), at);
        }
        // Nobody looked at what was done, so it does not count, and the next look is no later for it.
        RunEvent::GateSettled { unseen: true, .. } => {
            run.gate = None;
            run.gates.unseen = run.gates.unseen.saturating_add(1);
        }
        RunEvent::GateLapsed => leave_gate(run, run.gates.and_lapsed(), at),
        RunEvent::GateSettled { executes: true, .. } => leave_gate(run, run.gates.and_approved(), at),
        RunEvent::GateRejected { .. } | RunEvent::GateSettled { executes: false, .. } => {
            leave_gate(run, run.gates.and_rejected(), at);
        }
        RunEvent::GateUnanswered { reason, .. } => lose_action(run, reason),
        RunEvent::GateMoved { action } => change_gate(run, |gate| gate.action = Some(*action)),
        RunEvent::Overasked { .. } => run.asking.overasked_at = Some(at),
        // Whoever paused it wants to be asked, however long that takes.
        RunEvent::Paused { .. } => change_gate(run, |gate| gate.passes_at = None),
        RunEvent::PlanApproved { by, .. } => run.authors.plan_approved_by = *by,
        // The next decision is about a new standstill.
        RunEvent::PlanApprovalVoided { .. } => {
            run.authors.plan_approved_by = None;
            stand_still(run, Standstill { asks: Question::Plan, since: at }, None);
        }
        RunEvent::RolledBack { to, .. } => roll_back(run, *to, at),
        RunEvent::Finished { summary } => {
            run.host.forget_outputs();
            run.snapshots.asked = false;
            stand_still(run, Standstill { asks: Question::Results, since: at }, Some(StatusReason::said(summary)));
        }
        RunEvent::Failed { .. } | RunEvent::Cancelled { .. } => run.rehearsal.performing.clear(),
        RunEvent::ResultsApproved { exported, .. } => run.host.exported.clone_from(exported),
        RunEvent::Exhausted { resource } => run.dry = Some(*resource),
        RunEvent::Resumed => run.dry = None,
        RunEvent::Created { .. }
        | RunEvent::PlanRejected { .. }
        | RunEvent::Started
        | RunEvent::Attached
        | RunEvent::ResultsRejected { .. } => {}
        RunEvent::Budget(event) => budget::evolve(&mut run.budget, event, run.clock.worked_ms),
        RunEvent::Network(event) => run.network.evolve(event, at),
        RunEvent::Order(event) => orders::evolve(&mut run.orders, event, at),
        RunEvent::Hosting(event) => run.host.evolve(event),
        RunEvent::Snapshot(event) => evolve_snapshots(run, event, at),
        RunEvent::Call(event) => charge(run, event),
        RunEvent::Rehearsal(event) => evolve_rehearsal(run, event),
        RunEvent::Clock(event) => {
            run.clock.evolve(*event);
            keep_time(run, at);
        }
    }
}

fn charge(run: &mut Run, event: &CallEvent) {
    match event {
        CallEvent::Made { purpose, call } => change_budget(run, |budget| budget.charge(purpose, call.spent())),
        // Counted calls cost nothing.
        CallEvent::Counted { .. } => {}
    }
}

/// A performance may have changed the collected outputs, so they are collected again.
fn evolve_rehearsal(run: &mut Run, event: &RehearsalEvent) {
    run.rehearsal.evolve(event);
    if matches!(event, RehearsalEvent::Performed { ran: true, .. }) {
        run.host.forget_outputs();
    }
}

/// What was saved where a person decided is kept longer than what was saved otherwise.
fn note_decision(run: &mut Run, event: &RunEvent) {
    let decides = matches!(
        event,
        RunEvent::GatePassed { .. } | RunEvent::GateRejected { .. } | RunEvent::GateSettled { unseen: false, .. }
    );
    let saved = run.gate.as_ref().filter(|_| decides).and_then(|gate| gate.snapshot);
    saved.into_iter().for_each(|number| run.snapshots.mark_decided(number));
}

/// What it asks for now is a look, like any other.
fn lose_action(run: &mut Run, reason: &StatusReason) {
    change_gate(run, |gate| (gate.kind, gate.action, gate.reason) = (GateKind::Step, None, reason.clone()));
    if let Some(stood) = &mut run.stood {
        stood.asks = Question::Checkpoint(GateKind::Step);
    }
}

fn change_gate(run: &mut Run, change: impl FnOnce(&mut Gate)) {
    if let Some(gate) = &mut run.gate {
        change(gate);
    }
}

fn change_budget(run: &mut Run, change: impl FnOnce(&mut Budget)) {
    if let Some(budget) = &mut run.budget {
        change(budget);
    }
}

fn stand_still(run: &mut Run, stood: Standstill, said: Option<StatusReason>) {
    run.stood = Some(stood);
    run.standstills = run.standstills.saturating_add(1);
    run.said = said;
}

fn reach_gate(run: &mut Run, event: &RunEvent, at: Timestamp) {
    let RunEvent::GateReached { kind, reason, action, resource, finishes, passes_at } = event else { return };
    run.gates.reached = run.gates.reached.saturating_add(1);
    run.gate = Some(Gate {
        number: run.gates.reached,
        kind: *kind,
        reason: reason.clone(),
        action: *action,
        resource: *resource,
        finishes: finishes.clone(),
        reached_at: at,
        passes_at: *passes_at,
        snapshot: None,
    });
    stand_still(run, Standstill { asks: Question::Checkpoint(*kind), since: at }, Some(reason.clone()));
    if let Some(resource) = resource {
        change_budget(run, |budget| budget.ask(*resource));
    }
}

/// The clock that leads to the next checkpoint starts anew.
fn leave_gate(run: &mut Run, gates: GateCount, at: Timestamp) {
    if run.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Questions) {
        run.asking.let_ask_at = Some(at);
    }
    (run.gate, run.gates) = (None, gates);
    run.looked_at = Some(at);
    run.clock.worked_ms_at_gate = run.clock.worked_ms;
}

/// What stood before can be needed again: whoever goes back goes back to it.
fn change_plan(run: &mut Run, plan: &[String]) {
    let before = std::mem::replace(&mut run.plan, plan.to_vec());
    let kept_until = run.former_plans.last().map(|former| former.until_snapshot);
    if let Some(last) = run.snapshots.kept.last().filter(|last| Some(last.number) > kept_until) {
        run.former_plans.push(FormerPlan { until_snapshot: last.number, plan: before });
    }
}

fn evolve_snapshots(run: &mut Run, event: &SnapshotEvent, at: Timestamp) {
    let spent = run.budget.as_ref().map(|budget| budget.spent).unwrap_or_default();
    let mut around = Surroundings { gate: None, steps_done: run.steps_done, spent, at };
    if let SnapshotEvent::Kept { number, size_bytes, .. } = event {
        // What a person decides on does not change, however often it is saved.
        around.gate = run.gate.as_mut().filter(|gate| gate.snapshot.is_none()).map(|gate| {
            gate.snapshot = Some(*number);
            gate.number
        });
        // Disk space is taken and given back; the maximum counts.
        change_budget(run, |budget| budget.spent.disk_bytes = budget.spent.disk_bytes.max(*size_bytes));
        around.spent.disk_bytes = run.budget.as_ref().map_or(0, |budget| budget.spent.disk_bytes);
    }
    run.snapshots.evolve(event, &around);
}

/// The plan stands where it stood then; what was spent since stays spent, and what was held is settled by whoever holds it.
fn roll_back(run: &mut Run, to: u32, at: Timestamp) {
    run.snapshots.restoring = Some(to);
    // The waiting actions were proposed before the rollback and are void.
    run.clock.waits = false;
    run.snapshots.asked = false;
    run.rollbacks = run.rollbacks.saturating_add(1);
    run.steps_done = run.snapshot(to).map_or(run.steps_done, |snapshot| snapshot.steps_done);
    if let Some(plan) = run.plan_at(to).cloned() {
        change_plan(run, &plan);
    }
    run.host.forget_outputs();
    run.rehearsal.performing.clear();
    leave_gate(run, run.gates, at);
}

/// Runs the clock while the run executes. The working time counts as spent, together with that of the runs that this run pays for.
fn keep_time(run: &mut Run, at: Timestamp) {
    let more_ms = run.clock.turn(run.status == RunStatus::Executing, at);
    change_budget(run, |budget| budget.spent.wall_ms = budget.spent.wall_ms.saturating_add(more_ms));
}

fn status_after(run: &Run, event: &RunEvent) -> RunStatus {
    match event {
        RunEvent::Created { .. } | RunEvent::PlanRejected { .. } => RunStatus::Draft,
        RunEvent::Submitted { .. } | RunEvent::PlanApprovalVoided { .. } => RunStatus::PendingApproval,
        RunEvent::PlanApproved { .. } => RunStatus::Approved,
        RunEvent::Started => RunStatus::SpawningSandbox,
        RunEvent::Attached
        | RunEvent::GatePassed { .. }
        | RunEvent::GateLapsed
        | RunEvent::GateRejected { .. }
        | RunEvent::ResultsRejected { .. } => RunStatus::Executing,
        // Whoever paused it meanwhile goes on from there when they say so.
        RunEvent::GateSettled { .. } if run.status == RunStatus::CheckpointReached => RunStatus::Executing,
        RunEvent::GateReached { .. } => RunStatus::CheckpointReached,
        RunEvent::Paused { .. } | RunEvent::Exhausted { .. } => RunStatus::Paused,
        RunEvent::Resumed => resumed(run),
        RunEvent::RolledBack { .. } => RunStatus::RolledBack,
        RunEvent::Finished { .. } => RunStatus::PendingExport,
        RunEvent::ResultsApproved { .. } => RunStatus::Completed,
        RunEvent::Failed { .. } => RunStatus::Failed,
        RunEvent::Cancelled { .. } => RunStatus::Cancelled,
        RunEvent::Prepared { .. }
        | RunEvent::StepFinished { .. }
        | RunEvent::GateSettled { .. }
        | RunEvent::GateUnanswered { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::Budget(_)
        | RunEvent::Network(_)
        | RunEvent::Order(_)
        | RunEvent::Hosting(_)
        | RunEvent::Snapshot(_)
        | RunEvent::Call(_)
        | RunEvent::Rehearsal(_)
        | RunEvent::Clock(_) => run.status,
    }
}

/// Back to where the pause found it: a checkpoint that is still there, or work.
fn resumed(run: &Run) -> RunStatus {
    match (run.paused_from, &run.gate) {
        (Some(RunStatus::CheckpointReached), Some(_)) => RunStatus::CheckpointReached,
        _ => RunStatus::Executing,
    }
}

/// Reason for the status after this event: `None` keeps the current reason, `Some(None)` removes it.
fn because(event: &RunEvent) -> Option<Option<StatusReason>> {
    match event {
        RunEvent::PlanRejected { reason: text }
        | RunEvent::GateRejected { reason: text }
        | RunEvent::RolledBack { reason: text, .. }
        | RunEvent::ResultsRejected { reason: text }
        | RunEvent::Finished { summary: text } => Some(Some(StatusReason::said(text))),
        RunEvent::PlanApprovalVoided { reason }
        | RunEvent::Paused { reason }
        | RunEvent::Failed { reason }
        | RunEvent::Cancelled { reason }
        | RunEvent::GateReached { reason, .. }
        | RunEvent::GateUnanswered { reason, .. } => Some(Some(reason.clone())),
        RunEvent::Exhausted { resource } => Some(Some(StatusReason::BudgetUsedUp { resource: *resource })),
        RunEvent::GatePassed { note, .. } => Some((!note.is_empty()).then(|| StatusReason::said(note))),
        RunEvent::Created { .. }
        | RunEvent::Submitted { .. }
        | RunEvent::PlanApproved { .. }
        | RunEvent::Started
        | RunEvent::Attached
        | RunEvent::GateLapsed
        | RunEvent::GateSettled { .. }
        | RunEvent::Resumed
        | RunEvent::ResultsApproved { .. } => Some(None),
        RunEvent::Prepared { .. }
        | RunEvent::StepFinished { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::Budget(_)
        | RunEvent::Network(_)
        | RunEvent::Order(_)
        | RunEvent::Hosting(_)
        | RunEvent::Snapshot(_)
        | RunEvent::Call(_)
        | RunEvent::Rehearsal(_)
        | RunEvent::Clock(_) => None,
    }
}
