//! Steps 9 to 15: what people decided and the agent did.

use super::product::StepProduct;
use super::{Known, StepState};
use crate::run::hosting::Hosting;
use crate::run::state::{Run, RunStatus as Status};

/// Whether nothing more comes by itself: it is over, or it failed.
const fn is_over(run: &Run) -> bool {
    run.status.is_final() || matches!(run.status, Status::Failed)
}

/// What is neither done nor under way comes yet, or never.
const fn otherwise(run: &Run) -> StepState {
    if is_over(run) { StepState::Skipped } else { StepState::ToCome }
}

/// Whether its agent was ever at work.
const fn has_worked(run: &Run) -> bool {
    let works = matches!(
        run.status,
        Status::Executing
            | Status::CheckpointReached
            | Status::Paused
            | Status::RolledBack
            | Status::PendingExport
            | Status::Completed
    );
    works || run.milestones.attached_at.is_some()
}

const fn has_results(run: &Run) -> bool {
    matches!(run.status, Status::PendingExport | Status::Completed) || run.milestones.finished_at.is_some()
}

pub(super) fn plan(run: &Run) -> Known {
    let sent_back = run.status == Status::Draft && !run.plan.is_empty();
    let (state, product) = if was_approved(run) {
        (StepState::Done, StepProduct::PlanApproved)
    } else if run.status == Status::PendingApproval {
        (StepState::Now, StepProduct::PlanWaits)
    } else if sent_back {
        (StepState::Now, StepProduct::PlanSentBack(run.because.as_ref().map(ToString::to_string).unwrap_or_default()))
    } else {
        (otherwise(run), StepProduct::Nothing)
    };
    Known::new(state, "run.plan_approved", product).at(run.milestones.approved_at)
}

const fn was_approved(run: &Run) -> bool {
    let begins = matches!(run.status, Status::Approved | Status::SpawningSandbox);
    begins || has_worked(run) || run.milestones.approved_at.is_some()
}

pub(super) fn spawn(run: &Run) -> Known {
    let by = match &run.hosting {
        Hosting::External => StepProduct::AgentComes,
        Hosting::Hosted(_) => StepProduct::WorkerStarts,
    };
    let state = if has_worked(run) {
        StepState::Done
    } else if !was_approved(run) {
        otherwise(run)
    } else if is_over(run) {
        StepState::Stopped
    } else {
        StepState::Now
    };
    Known::new(state, "run.attached", by).at(run.milestones.attached_at)
}

/// An agent that says it is through has done what it reported, and no more than that.
pub(super) fn execution(run: &Run) -> Known {
    let all_reported = run.steps_done as usize >= run.plan.len();
    let state = match (has_results(run), has_worked(run)) {
        (true, _) if all_reported => StepState::Done,
        (true, _) => StepState::Stopped,
        (false, true) if is_over(run) => StepState::Stopped,
        (false, true) => StepState::Now,
        (false, false) => otherwise(run),
    };
    let product = StepProduct::StepsDone { done: run.steps_done, of: run.plan.len() };
    Known::new(state, "run.step_finished", product).at(run.milestones.finished_at)
}

pub(super) fn checkpoints(run: &Run) -> Known {
    let counts = run.gates;
    let state = match (&run.gate, has_results(run) || is_over(run)) {
        (Some(_), true) => StepState::Stopped,
        (Some(_), false) => StepState::Now,
        (None, true) if counts.reached > 0 => StepState::Done,
        (None, _) => otherwise(run),
    };
    // None was reached, and none will be: the results are there.
    let state = if has_results(run) && state == StepState::ToCome { StepState::Skipped } else { state };
    let waits = run.gate.as_ref().map(|gate| (gate.number, gate.kind));
    Known::new(state, "run.checkpoint_reached", StepProduct::Checkpoints { counts, waits })
}

/// Outputs that were sent back are no results; they are collected again.
pub(super) fn collection(run: &Run) -> Known {
    let outputs = run.host.outputs.as_ref().filter(|_| has_results(run));
    let (state, product) = match (&run.hosting, outputs) {
        (Hosting::Hosted(_), Some(outputs)) => (StepState::Done, StepProduct::Collected(outputs.len())),
        (Hosting::Hosted(_), None) if run.status == Status::PendingExport => {
            (StepState::Now, StepProduct::HostCollects)
        }
        (Hosting::External, _) if has_results(run) => (StepState::Skipped, StepProduct::AgentKeeps),
        (Hosting::Hosted(_), None) | (Hosting::External, _) => (otherwise(run), StepProduct::Nothing),
    };
    Known::new(state, "run.collected", product)
}

pub(super) fn results(run: &Run) -> Known {
    let waits = run.status == Status::PendingExport && (run.host.outputs.is_some() || run.hosting == Hosting::External);
    let (state, product) = if run.status == Status::Completed {
        (StepState::Done, StepProduct::ResultsAccepted)
    } else if waits {
        (StepState::Now, StepProduct::ResultsWait)
    } else if is_over(run) && has_results(run) {
        (StepState::Stopped, StepProduct::ResultsNeverAccepted)
    } else {
        (otherwise(run), StepProduct::Nothing)
    };
    Known::new(state, "run.completed", product).at(run.milestones.ended_at)
}

/// Everything is in the ledger at every moment; what is left to do is to let outputs out and to clean up.
pub(super) fn ending(run: &Run) -> Known {
    let exported = run.host.exported.as_ref().map_or(0, Vec::len);
    let (state, entry, product) = match (run.status, run.host.worker, run.host.destroyed) {
        (Status::Completed | Status::Cancelled, Some(_), true) => {
            (StepState::Done, "run.destroyed", StepProduct::LetOut(exported))
        }
        (Status::Completed | Status::Cancelled, Some(_), false) => {
            (StepState::Now, "run.destroyed", StepProduct::HostRemoves)
        }
        (Status::Completed, None, _) => (StepState::Done, "run.completed", StepProduct::InLedger),
        _ => (otherwise(run), "run.destroyed", StepProduct::Nothing),
    };
    Known::new(state, entry, product)
}
