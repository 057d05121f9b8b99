//! Reasons why a budget does not allow a command: codes with parameters. `Display` renders them in English.

use std::fmt;

use super::{NotHeld, Resource, Shortage};
use crate::id::RunId;

/// Reason why a budget does not allow a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetRefusal {
    #[error(transparent)]
    NotHeld(#[from] NotHeld),
    #[error("its budget for {resource} is used up; a reviewer can give it more")]
    UsedUp { resource: Resource },
    #[error("more than this is spent or held already: {0}")]
    BelowCommitted(Shortage),
    #[error("{resource} is limited above it; give it a limit too")]
    Unlimited { resource: Resource },
    #[error("the {part} is under way and has no budget; give it one first")]
    PartWithoutBudget { part: BudgetPart },
    #[error("the {part} has no limit for {resource}; give it one first")]
    PartUnlimited { part: BudgetPart, resource: Resource },
    #[error("the {part} has more than that: {why}")]
    PartTooLarge { part: BudgetPart, why: NotHeld },
    #[error("its child `{child}` would not be bound by it; end that first")]
    ChildUnbound { child: RunId },
    #[error("the budget of its {payer} is limited; give the run one too")]
    RunWithoutBudget { payer: PayerKind },
    #[error("the budget of the organisation is limited; an administrator must give the project one first")]
    ProjectWithoutBudget,
    #[error("the plan cannot be paid by its {payer}: {why}; plan less, or give the run a smaller budget")]
    PlanUnpaid { payer: PayerKind, why: Box<BudgetRefusal> },
}

/// Part of a budget: a project of the organisation, or a run of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetPart {
    Project { name: String },
    Run { id: RunId },
}

impl fmt::Display for BudgetPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project { name } => write!(f, "project `{name}`"),
            Self::Run { id } => write!(f, "run `{id}`"),
        }
    }
}

/// Kind of what pays for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayerKind {
    Parent,
    Project,
}

impl fmt::Display for PayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parent => "parent",
            Self::Project => "project",
        })
    }
}
