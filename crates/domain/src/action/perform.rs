//! PERFORM: what a run only rehearsed is done after all, exactly as it was shown.
//!
//! A simulation ends where every run ends, at its results, and there a reviewer decides what of it becomes real. What is done then
//! are the bytes that were sealed when the agent proposed them: program, arguments, target and files, by digest. Whoever says so gives
//! the first of the approvals that its tier needs. Where the policy, a tool or a cage is another one by now, what was seen is not what
//! would be done: the action is judged again, stays rehearsed, and the reviewer looks again.
//!
//! What is not here: that the run stays at its results meanwhile, and looks at them again afterwards ([`crate::run::follow`]).

use super::command::ActionCommandKind as Kind;
use super::decide::{
    Setting, first_approval, independence, judged, needs_role, needs_same_past, needs_status, run_not_active, wait_ms,
};
use super::event::ActionEvent;
use super::state::{ActionState, ActionStatus};
use crate::digest::Digest;
use crate::identity::Role;
use crate::policy::{Ruling, Verdict};
use crate::refusal::{Obstacle, Refusal};
use crate::run::{Run, RunStatus};

pub(super) fn perform(
    state: &ActionState,
    seen: Digest,
    verdict: &Verdict,
    setting: &Setting<'_>,
) -> Result<Vec<ActionEvent>, Refusal> {
    let reviewer = needs_role(setting, Role::Reviewer)?;
    needs_status(state, Kind::Perform, ActionStatus::Rehearsed)?;
    needs_results(setting.run)?;
    needs_same_past(state, setting.run, "performed")?;
    if seen != state.review() {
        return Err(Refusal::Stale { seen, current: state.review() });
    }
    if verdict.action() != state.digest || verdict.policy() != setting.policy {
        return Err(Refusal::invalid("the verdict is for another action or policy"));
    }
    let single_operator = independence(state, reviewer, setting.run.separation)?;
    if state.verdict.policy() != setting.policy {
        return Ok(rejudge_performance(verdict, setting));
    }
    let deadline = setting.now.plus_ms(wait_ms(&state.verdict, setting.terms));
    let wanted = ActionEvent::ToBePerformed { reviewer: reviewer.id, review: seen, deadline };
    let yes = first_approval(state, reviewer, single_operator, deadline, setting);
    Ok(std::iter::once(wanted).chain(yes).collect())
}

/// By another policy it is another decision: back to where a reviewer looks at it, unless that policy refuses it.
pub(super) fn rejudge_performance(verdict: &Verdict, setting: &Setting<'_>) -> Vec<ActionEvent> {
    let rehearsed = (verdict.ruling() != Ruling::Deny).then_some(ActionEvent::Rehearsed);
    std::iter::once(judged(verdict, setting)).chain(rehearsed).collect()
}

/// Whether the run is where actions like this one are executed: at work, or, for what was rehearsed first, at its results.
pub(super) fn needs_its_turn(state: &ActionState, run: &Run) -> Result<(), Refusal> {
    let place = if state.performing { RunStatus::PendingExport } else { RunStatus::Executing };
    if run.status == place { Ok(()) } else { Err(run_not_active(run)) }
}

fn needs_results(run: &Run) -> Result<(), Refusal> {
    if run.status == RunStatus::PendingExport {
        return Ok(());
    }
    Err(Refusal::not_now("performed", Obstacle::RunWithoutResults))
}
