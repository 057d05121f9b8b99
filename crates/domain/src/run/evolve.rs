//! What a recorded event means for a run. Total: history is taken as it is, never judged again.

use std::collections::BTreeSet;

use super::event::RunEvent;
use super::gate::{Gate, GateCount, GateKind};
use super::hosting::Snapshot;
use super::milestones::{Milestones, Question, Standstill};
use super::state::{FormerPlan, Run, RunStatus, WorkClock};
use super::{order, wish};
use crate::budget::Budget;
use crate::id::{ActionId, RunId};
use crate::identity::Lineage;
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
        run.because = because.map(ToOwned::to_owned);
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
        created_by: *created_by,
        creator_lineage: creator_lineage.clone(),
        submitted_by: None,
        submitter_lineage: Lineage::default(),
        plan_approved_by: None,
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
        let_ask_at: None,
        overasked_at: None,
        hosting: hosting.clone(),
        host: None,
        snapshots: Vec::new(),
        snapshot_asked: false,
        unsaved: None,
        former_plans: Vec::new(),
        dry: None,
        restoring: None,
        rollbacks: 0,
        outputs: None,
        removed: Vec::new(),
        performing: BTreeSet::new(),
        performed: 0,
        exported: None,
        wishes: Vec::new(),
        orders: Vec::new(),
        destroyed: false,
    })
}

/// Everything but where it stands.
fn keep_contents(run: &mut Run, event: &RunEvent, at: Timestamp) {
    note_decision(run, event);
    match event {
        RunEvent::Submitted { plan, by, lineage } => {
            run.plan.clone_from(plan);
            run.submitted_by = *by;
            run.submitter_lineage.clone_from(lineage);
            stand_still(run, Standstill { asks: Question::Plan, since: at }, None);
        }
        RunEvent::Prepared { product } => run.products.get_or_insert_default().keep(product),
        RunEvent::BudgetSet { ceiling, warn_at_percent } => {
            let budget = run.budget.take().unwrap_or_else(|| first_budget(run));
            run.budget = Some(budget.within(*ceiling, *warn_at_percent));
        }
        RunEvent::Hosted { worker } => run.host = Some(*worker),
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
        RunEvent::GateUnanswered { summary, .. } => lose_action(run, summary),
        RunEvent::GateMoved { action } => change_gate(run, |gate| gate.action = Some(*action)),
        RunEvent::Overasked { .. } => run.overasked_at = Some(at),
        // Whoever paused it wants to be asked, however long that takes.
        RunEvent::Paused { .. } => change_gate(run, |gate| gate.passes_at = None),
        RunEvent::Halted => change_clock(run, at, |clock| clock.halted = true),
        RunEvent::Released => change_clock(run, at, |clock| clock.halted = false),
        RunEvent::WaitingForPeople => change_clock(run, at, |clock| clock.waits = true),
        RunEvent::WaitingOver => change_clock(run, at, |clock| clock.waits = false),
        RunEvent::PlanApproved { by, .. } => run.plan_approved_by = *by,
        // The next decision is about a new standstill.
        RunEvent::PlanApprovalVoided { .. } => {
            run.plan_approved_by = None;
            stand_still(run, Standstill { asks: Question::Plan, since: at }, None);
        }
        RunEvent::SnapshotAsked { .. } => (run.snapshot_asked, run.unsaved) = (true, None),
        RunEvent::SnapshotKept { .. } => keep_snapshot(run, event, at),
        RunEvent::SnapshotFailed { reason } => (run.snapshot_asked, run.unsaved) = (false, Some(reason.clone())),
        RunEvent::SnapshotsForgotten { numbers } => {
            run.snapshots.retain(|snapshot| !numbers.contains(&snapshot.number));
        }
        RunEvent::RolledBack { to, .. } => roll_back(run, *to, at),
        RunEvent::Restored { .. } => run.restoring = None,
        RunEvent::Held { purpose, amounts } => change_budget(run, |budget| budget.hold(purpose.clone(), *amounts)),
        RunEvent::Settled { purpose, spent } => change_budget(run, |budget| budget.settle(purpose, *spent)),
        RunEvent::Called { purpose, call } => change_budget(run, |budget| budget.charge(purpose, call.spent())),
        RunEvent::Finished { summary } => {
            forget_outputs(run);
            run.snapshot_asked = false;
            stand_still(run, Standstill { asks: Question::Results, since: at }, Some(summary));
        }
        RunEvent::Collected { outputs, removed } => {
            run.outputs = Some(outputs.clone());
            run.removed.clone_from(removed);
        }
        RunEvent::Performing { action } => drop(run.performing.insert(*action)),
        RunEvent::Performed { action, ran } => end_performance(run, *action, *ran),
        RunEvent::Failed { .. } | RunEvent::Cancelled { .. } => run.performing.clear(),
        RunEvent::ResultsApproved { exported, .. } => run.exported.clone_from(exported),
        RunEvent::Destroyed => run.destroyed = true,
        RunEvent::Exhausted { resource, .. } => run.dry = Some(*resource),
        RunEvent::Resumed => run.dry = None,
        RunEvent::NetworkWished { number, opening, action } => wish::asked(run, *number, opening, *action, at),
        RunEvent::NetworkGranted { number, until, by, .. } => wish::granted(run, *number, *until, *by),
        RunEvent::NetworkRejected { number, reason } => wish::rejected(run, *number, reason),
        RunEvent::NetworkRevoked { number, reason } => wish::revoked(run, *number, reason),
        RunEvent::OrderGiven { .. } => order::given(run, event, at),
        RunEvent::OrderUsed { number, .. } => order::used(run, *number),
        RunEvent::OrderRevoked { number, reason } => order::revoked(run, *number, reason),
        RunEvent::Created { .. }
        | RunEvent::PlanRejected { .. }
        | RunEvent::Started
        | RunEvent::Equipped
        | RunEvent::Attached
        | RunEvent::ResultsRejected { .. }
        // They took nothing.
        | RunEvent::CallsCounted { .. } => {}
    }
}

fn forget_outputs(run: &mut Run) {
    run.outputs = None;
    run.removed.clear();
}

/// What ran may have changed what was collected: that is looked at again.
fn end_performance(run: &mut Run, action: ActionId, ran: bool) {
    run.performing.remove(&action);
    if ran {
        run.performed = run.performed.saturating_add(1);
        forget_outputs(run);
    }
}

/// What was saved where a person decided is kept longer than what was saved otherwise.
fn note_decision(run: &mut Run, event: &RunEvent) {
    let decides = matches!(
        event,
        RunEvent::GatePassed { .. } | RunEvent::GateRejected { .. } | RunEvent::GateSettled { unseen: false, .. }
    );
    let saved = run.gate.as_ref().filter(|_| decides).and_then(|gate| gate.snapshot);
    let saved = saved.and_then(|number| run.snapshots.iter_mut().find(|snapshot| snapshot.number == number));
    if let Some(snapshot) = saved {
        snapshot.decided = true;
    }
}

/// What it asks for now is a look, like any other.
fn lose_action(run: &mut Run, summary: &str) {
    change_gate(run, |gate| (gate.kind, gate.action, gate.summary) = (GateKind::Step, None, summary.to_owned()));
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

fn stand_still(run: &mut Run, stood: Standstill, said: Option<&String>) {
    run.stood = Some(stood);
    run.standstills = run.standstills.saturating_add(1);
    run.said = said.cloned();
}

fn reach_gate(run: &mut Run, event: &RunEvent, at: Timestamp) {
    let RunEvent::GateReached { kind, summary, action, resource, finishes, passes_at } = event else { return };
    run.gates.reached = run.gates.reached.saturating_add(1);
    run.gate = Some(Gate {
        number: run.gates.reached,
        kind: *kind,
        summary: summary.clone(),
        action: *action,
        resource: *resource,
        finishes: finishes.clone(),
        reached_at: at,
        passes_at: *passes_at,
        snapshot: None,
    });
    stand_still(run, Standstill { asks: Question::Checkpoint(*kind), since: at }, Some(summary));
    if let Some(resource) = resource {
        change_budget(run, |budget| budget.ask(*resource));
    }
}

/// The clock that leads to the next checkpoint starts anew.
fn leave_gate(run: &mut Run, gates: GateCount, at: Timestamp) {
    if run.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Questions) {
        run.let_ask_at = Some(at);
    }
    (run.gate, run.gates) = (None, gates);
    run.looked_at = Some(at);
    run.clock.worked_ms_at_gate = run.clock.worked_ms;
}

/// What stood before can be needed again: whoever goes back goes back to it.
fn change_plan(run: &mut Run, plan: &[String]) {
    let before = std::mem::replace(&mut run.plan, plan.to_vec());
    let kept_until = run.former_plans.last().map(|former| former.until_snapshot);
    if let Some(last) = run.snapshots.last().filter(|last| Some(last.number) > kept_until) {
        run.former_plans.push(FormerPlan { until_snapshot: last.number, plan: before });
    }
}

fn keep_snapshot(run: &mut Run, event: &RunEvent, at: Timestamp) {
    let RunEvent::SnapshotKept { number, workspace, memory, files, size_bytes } = event else { return };
    run.snapshot_asked = false;
    // What a person decides on stays what it was, however often it is saved.
    let gate = run.gate.as_mut().filter(|gate| gate.snapshot.is_none()).map(|gate| {
        gate.snapshot = Some(*number);
        gate.number
    });
    // Room is taken and given back; what counts is the most of it.
    change_budget(run, |budget| budget.spent.disk_bytes = budget.spent.disk_bytes.max(*size_bytes));
    run.snapshots.push(Snapshot {
        number: *number,
        gate,
        decided: false,
        taken_at: at,
        workspace: *workspace,
        memory: *memory,
        files: *files,
        size_bytes: *size_bytes,
        steps_done: run.steps_done,
        spent: run.budget.as_ref().map(|budget| budget.spent).unwrap_or_default(),
    });
}

/// The plan stands where it stood then; what was spent since stays spent, and what was held is settled by whoever holds it.
fn roll_back(run: &mut Run, to: u32, at: Timestamp) {
    run.restoring = Some(to);
    // The waiting actions were proposed before the rollback and are void.
    run.clock.waits = false;
    run.snapshot_asked = false;
    run.rollbacks = run.rollbacks.saturating_add(1);
    run.steps_done = run.snapshot(to).map_or(run.steps_done, |snapshot| snapshot.steps_done);
    if let Some(plan) = run.plan_at(to).cloned() {
        change_plan(run, &plan);
    }
    forget_outputs(run);
    run.performing.clear();
    leave_gate(run, run.gates, at);
}

fn change_clock(run: &mut Run, at: Timestamp, change: impl FnOnce(&mut WorkClock)) {
    change(&mut run.clock);
    keep_time(run, at);
}

/// Starts the clock when work begins and stops it when work ends or only waits for people. The working time counts as spent, together
/// with that of the runs that this run pays for.
fn keep_time(run: &mut Run, at: Timestamp) {
    let works = run.status == RunStatus::Executing && !run.clock.waits && !run.clock.halted;
    let since = works.then_some(at);
    let worked_ms = run.clock.worked_ms(at);
    let more_ms = worked_ms.saturating_sub(run.clock.worked_ms);
    run.clock = WorkClock { since, worked_ms, ..run.clock };
    if let Some(budget) = &mut run.budget {
        budget.spent.wall_ms = budget.spent.wall_ms.saturating_add(more_ms);
    }
}

/// What was worked before there was a budget counts too.
fn first_budget(run: &Run) -> Budget {
    let mut budget = Budget::default();
    budget.spent.wall_ms = run.clock.worked_ms;
    budget
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
        | RunEvent::BudgetSet { .. }
        | RunEvent::WaitingForPeople
        | RunEvent::WaitingOver
        | RunEvent::Halted
        | RunEvent::Released
        | RunEvent::Hosted { .. }
        | RunEvent::Equipped
        | RunEvent::StepFinished { .. }
        | RunEvent::GateSettled { .. }
        | RunEvent::GateUnanswered { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::SnapshotAsked { .. }
        | RunEvent::SnapshotKept { .. }
        | RunEvent::SnapshotFailed { .. }
        | RunEvent::SnapshotsForgotten { .. }
        | RunEvent::Restored { .. }
        | RunEvent::Held { .. }
        | RunEvent::Settled { .. }
        | RunEvent::Called { .. }
        | RunEvent::CallsCounted { .. }
        | RunEvent::NetworkWished { .. }
        | RunEvent::NetworkGranted { .. }
        | RunEvent::NetworkRejected { .. }
        | RunEvent::NetworkRevoked { .. }
        | RunEvent::OrderGiven { .. }
        | RunEvent::OrderUsed { .. }
        | RunEvent::OrderRevoked { .. }
        | RunEvent::Collected { .. }
        | RunEvent::Performing { .. }
        | RunEvent::Performed { .. }
        | RunEvent::Destroyed => run.status,
    }
}

/// Back to where the pause found it: a checkpoint that is still there, or work.
fn resumed(run: &Run) -> RunStatus {
    match (run.paused_from, &run.gate) {
        (Some(RunStatus::CheckpointReached), Some(_)) => RunStatus::CheckpointReached,
        _ => RunStatus::Executing,
    }
}

/// What an event says about why the run stands where it stands; `None` where it says nothing about that.
fn because(event: &RunEvent) -> Option<Option<&str>> {
    match event {
        RunEvent::PlanRejected { reason }
        | RunEvent::PlanApprovalVoided { reason }
        | RunEvent::Paused { reason }
        | RunEvent::Exhausted { reason, .. }
        | RunEvent::GateRejected { reason }
        | RunEvent::RolledBack { reason, .. }
        | RunEvent::ResultsRejected { reason }
        | RunEvent::Failed { reason }
        | RunEvent::Cancelled { reason } => Some(Some(reason)),
        RunEvent::GateReached { summary, .. }
        | RunEvent::GateUnanswered { summary, .. }
        | RunEvent::Finished { summary } => Some(Some(summary)),
        RunEvent::GatePassed { note, .. } => Some(Some(note.as_str()).filter(|note| !note.is_empty())),
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
        | RunEvent::BudgetSet { .. }
        | RunEvent::WaitingForPeople
        | RunEvent::WaitingOver
        | RunEvent::Halted
        | RunEvent::Released
        | RunEvent::Hosted { .. }
        | RunEvent::Equipped
        | RunEvent::StepFinished { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::SnapshotAsked { .. }
        | RunEvent::SnapshotKept { .. }
        | RunEvent::SnapshotFailed { .. }
        | RunEvent::SnapshotsForgotten { .. }
        | RunEvent::Restored { .. }
        | RunEvent::Held { .. }
        | RunEvent::Settled { .. }
        | RunEvent::Called { .. }
        | RunEvent::CallsCounted { .. }
        | RunEvent::NetworkWished { .. }
        | RunEvent::NetworkGranted { .. }
        | RunEvent::NetworkRejected { .. }
        | RunEvent::NetworkRevoked { .. }
        | RunEvent::OrderGiven { .. }
        | RunEvent::OrderUsed { .. }
        | RunEvent::OrderRevoked { .. }
        | RunEvent::Collected { .. }
        | RunEvent::Performing { .. }
        | RunEvent::Performed { .. }
        | RunEvent::Destroyed => None,
    }
}
