//! Calls facet of a run: calls of language models, recorded one by one or counted. It has no state; calls are charged to the budget.

use serde::{Deserialize, Serialize};

use super::budget;
use super::call::{CallCount, ModelCall};
use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use crate::audit_status::AuditStatus;
use crate::budget::Purpose;
use crate::event_meta::{EventMeta, Metric};
use crate::refusal::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallCommand {
    /// Records calls that were paid from what is held.
    Charge { purpose: Purpose, calls: Vec<ModelCall> },
    /// Records calls that are not recorded one by one.
    Count { counts: Vec<CallCount> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum CallEvent {
    /// The agent called a language model.
    Made { purpose: Purpose, call: Box<ModelCall> },
    /// The agent made calls that are not recorded one by one.
    Counted { count: CallCount },
}

impl CallEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Made { call, .. } => {
                let meta = EventMeta::new("run.model_called").spent(call.spent()).metric(Metric::Spent(call.spent()));
                meta.input(call.request).output(call.response)
            }
            Self::Counted { count } => {
                let (calls, outcome, reason) = (count.calls, count.outcome, &count.reason);
                EventMeta::new("run.calls_counted")
                    .status(AuditStatus::CallsCounted { calls, outcome, reason: reason.clone() })
                    .output(count.digest)
            }
        }
    }
}

impl CallCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        match self {
            // Calls that were made are recorded, whatever happened to the run meanwhile.
            Self::Charge { .. } => Rule::new(run.budget.is_some(), Giver::Runtime),
            // Counts arrive a while after the calls, so they may follow the end of a run; but nothing follows a run that could not pay.
            Self::Count { .. } => {
                let has_begun =
                    !matches!(run.status, RunStatus::Draft | RunStatus::PendingApproval | RunStatus::Approved);
                Rule::new(has_begun && (!run.status.is_final() || run.budget.is_some()), Giver::Runtime)
            }
        }
    }
}

pub(super) fn decide(run: &Run, command: &CallCommand) -> Result<Vec<CallEvent>, Refusal> {
    match command {
        CallCommand::Charge { purpose, calls } => {
            budget::of(run)?;
            calls.iter().map(|call| made(purpose.clone(), call)).collect()
        }
        CallCommand::Count { counts } => counts.iter().map(counted).collect(),
    }
}

/// The call that the plan of a new run came from. It is recorded with the run or not at all, so a repeated request pays nothing.
pub(super) fn of_planning(call: &ModelCall) -> Result<CallEvent, Refusal> {
    made(Purpose::Call("planning".to_owned()), call)
}

fn made(purpose: Purpose, call: &ModelCall) -> Result<CallEvent, Refusal> {
    call.check()?;
    Ok(CallEvent::Made { purpose, call: Box::new(call.clone()) })
}

fn counted(count: &CallCount) -> Result<CallEvent, Refusal> {
    count.check()?;
    Ok(CallEvent::Counted { count: count.clone() })
}
