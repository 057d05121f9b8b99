//! Budget facet of a run: the limits of the run, and amounts that are held before and settled after they are used.
//!
//! The arithmetic is in [`crate::budget`], and the budgets of parents, projects and the organisation are in [`crate::allot`].

use serde::{Deserialize, Serialize};

use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use crate::budget::{Amounts, Budget, BudgetRefusal, Ceiling, Purpose};
use crate::event_meta::{EventMeta, Metric};
use crate::identity::Role;
use crate::refusal::Refusal;

/// Limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub ceiling: Ceiling,
    /// Share of a limit at which a person is asked.
    pub warn_at_percent: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetCommand {
    Set { allowance: Allowance },
    Hold { purpose: Purpose, amounts: Amounts },
    Settle { purpose: Purpose, spent: Amounts },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum BudgetEvent {
    Set { ceiling: Ceiling, warn_at_percent: u8 },
    Held { purpose: Purpose, amounts: Amounts },
    Settled { purpose: Purpose, spent: Amounts },
}

impl BudgetEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Set { .. } => EventMeta::new("run.budget_set"),
            Self::Held { .. } => EventMeta::new("run.held"),
            Self::Settled { purpose, spent } => {
                let meta = EventMeta::new("run.settled").spent(*spent);
                match purpose {
                    // Calls count what they took; this is what no call counted.
                    Purpose::Action(_) | Purpose::Call(_) => meta.metric(Metric::Spent(*spent)),
                    // Counted where it was spent.
                    Purpose::Run(_) | Purpose::Project(_) => meta,
                }
            }
        }
    }
}

impl BudgetCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        let status = run.status;
        match self {
            // Before the plan is approved, the budget is part of it; afterwards a larger one is a reviewer's decision.
            Self::Set { .. } if status == RunStatus::Draft => Rule::new(true, Giver::Role(Role::Operator)).or_runtime(),
            // A plan that is being reviewed does not change.
            Self::Set { .. } => {
                Rule::new(status != RunStatus::PendingApproval && !status.is_final(), Giver::IndependentReviewer)
            }
            Self::Hold { .. } => Rule::new(status == RunStatus::Executing, Giver::Runtime),
            // Whatever happened to the run meanwhile.
            Self::Settle { .. } => Rule::new(run.budget.is_some(), Giver::Runtime),
        }
    }

    pub(super) const fn goes_on(&self) -> bool {
        matches!(self, Self::Hold { .. })
    }
}

impl Allowance {
    /// Returns itself if it fits what is spent and held already.
    pub(crate) fn checked(self, now: Option<&Budget>) -> Result<Self, Refusal> {
        if !(1..=100).contains(&self.warn_at_percent) {
            return Err(Refusal::invalid("a person is asked at 1 to 100 percent of a limit"));
        }
        let committed = now.map(Budget::committed).unwrap_or_default();
        let enough = self.ceiling.permits(Amounts::NONE, committed);
        enough.map_err(BudgetRefusal::BelowCommitted)?;
        Ok(self)
    }

    pub(super) fn set(self, now: Option<&Budget>) -> Result<BudgetEvent, Refusal> {
        let Self { ceiling, warn_at_percent } = self.checked(now)?;
        Ok(BudgetEvent::Set { ceiling, warn_at_percent })
    }
}

pub(super) fn decide(run: &Run, command: &BudgetCommand) -> Result<BudgetEvent, Refusal> {
    match command {
        BudgetCommand::Set { allowance } => allowance.set(run.budget.as_ref()),
        BudgetCommand::Hold { purpose, amounts } => {
            of(run)?.permits(purpose, *amounts)?;
            Ok(BudgetEvent::Held { purpose: purpose.clone(), amounts: *amounts })
        }
        BudgetCommand::Settle { purpose, spent } => settle(run, purpose, *spent),
    }
}

/// Returns the budget of a run that needs one.
pub(super) fn of(run: &Run) -> Result<&Budget, Refusal> {
    run.budget.as_ref().ok_or_else(|| Refusal::invalid("this run has no budget; give it one first"))
}

fn settle(run: &Run, purpose: &Purpose, spent: Amounts) -> Result<BudgetEvent, Refusal> {
    if of(run)?.held_for(purpose).is_none() {
        return Err(Refusal::invalid(format!("nothing is held for `{purpose}`, or it was settled already")));
    }
    Ok(BudgetEvent::Settled { purpose: purpose.clone(), spent })
}

/// `worked_ms` counts for a first budget: time before there was one is spent, too.
pub(super) fn evolve(budget: &mut Option<Budget>, event: &BudgetEvent, worked_ms: u64) {
    match event {
        BudgetEvent::Set { ceiling, warn_at_percent } => {
            let now = budget.take().unwrap_or_else(|| worked(worked_ms));
            *budget = Some(now.within(*ceiling, *warn_at_percent));
        }
        BudgetEvent::Held { purpose, amounts } => {
            budget.iter_mut().for_each(|budget| budget.hold(purpose.clone(), *amounts));
        }
        BudgetEvent::Settled { purpose, spent } => budget.iter_mut().for_each(|budget| budget.settle(purpose, *spent)),
    }
}

fn worked(worked_ms: u64) -> Budget {
    let mut budget = Budget::default();
    budget.spent.wall_ms = worked_ms;
    budget
}
