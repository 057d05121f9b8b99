//! The words of people and agents in commands: present where they are needed, and never too long to be read.

use super::command::{Founding, RunCommand};
use crate::reason::RunFailure;
use crate::refusal::Refusal;

const MOST_PLAN_STEPS: usize = 200;
/// Goals, reasons and summaries are read by people.
const LONGEST_TEXT: usize = 2_000;

pub(super) fn check_text(command: &RunCommand) -> Result<(), Refusal> {
    match command {
        RunCommand::Create(founding) => check_founding(founding),
        RunCommand::RejectPlan { reason }
        | RunCommand::RejectResults { reason, .. }
        | RunCommand::RejectGate { reason, .. }
        | RunCommand::RollBack { reason, .. }
        | RunCommand::Fail { reason: RunFailure::Said(reason) } => check_said(reason),
        RunCommand::Fail { reason: RunFailure::Host(fault) } => fault.check(),
        RunCommand::Pause { reason } | RunCommand::Cancel { reason } => check_short(reason),
        RunCommand::ReachGate { summary } | RunCommand::Finish { summary } | RunCommand::FinishStep { summary, .. } => {
            check_short(summary)
        }
        RunCommand::PassGate { note, plan, .. } => {
            check_short(note)?;
            plan.as_deref().map_or(Ok(()), check_plan)
        }
        RunCommand::Submit { plan } => check_plan(plan),
        RunCommand::Network(command) => command.check_text(),
        RunCommand::Order(command) => command.check_text(),
        RunCommand::Snapshot(command) => command.check_text(),
        RunCommand::ApprovePlan { .. }
        | RunCommand::Start
        | RunCommand::Attach
        | RunCommand::Resume
        | RunCommand::RunDry { .. }
        | RunCommand::ApproveResults { .. }
        | RunCommand::Lapse
        | RunCommand::Budget(_)
        | RunCommand::Hosting(_)
        | RunCommand::Call(_) => Ok(()),
    }
}

fn check_founding(founding: &Founding) -> Result<(), Refusal> {
    check_said(&founding.goal)?;
    founding.posture.check()?;
    check_plan(&founding.plan)
}

/// Checks a text that must be given.
pub(super) fn check_said(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() { Err(too_long_or_none()) } else { check_short(text) }
}

/// Checks a text that may be empty.
pub(super) fn check_short(text: &str) -> Result<(), Refusal> {
    if text.len() > LONGEST_TEXT { Err(too_long_or_none()) } else { Ok(()) }
}

fn too_long_or_none() -> Refusal {
    Refusal::invalid("say in 1 to 2000 bytes what it is about")
}

pub(super) fn check_plan(plan: &[String]) -> Result<(), Refusal> {
    let step_ok = |step: &String| !step.trim().is_empty() && step.len() <= LONGEST_TEXT;
    if plan.len() <= MOST_PLAN_STEPS && plan.iter().all(step_ok) {
        return Ok(());
    }
    Err(Refusal::invalid("a plan has at most 200 steps of 1 to 2000 bytes each"))
}
