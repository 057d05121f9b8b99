//! Whoever pays for a run: its parent, or its project where the parent has no budget.

use crate::budget::{Amounts, Budget, BudgetRefusal, PayerKind, Purpose};
use crate::decide::Loaded;
use crate::id::{ProjectId, RunId};
use crate::project::{Project, ProjectEvent};
use crate::record::Event;
use crate::refusal::Refusal;
use crate::run::{BudgetEvent, Run, RunStatus};

pub(super) struct Payer<'a> {
    who: Who,
    pub(super) budget: &'a Budget,
}

#[derive(Clone, Copy)]
enum Who {
    Parent(RunId),
    Project(ProjectId),
}

impl<'a> Payer<'a> {
    /// Whoever holds its share already; or else the nearest above it that has a budget.
    pub(super) fn of(known: &'a Loaded, run: &Run) -> Option<Self> {
        let parent = run.parent.and_then(|id| known.find_run(id)).and_then(Self::parent);
        let project = known.project.as_ref().filter(|project| project.id == run.project).and_then(Self::project);
        let above: Vec<Self> = parent.into_iter().chain(project).collect();
        let holds = |payer: &Self| payer.budget.held_for(&Purpose::Run(run.id)).is_some();
        let nearest = above.iter().position(holds).unwrap_or(0);
        above.into_iter().nth(nearest)
    }

    fn parent(run: &'a Run) -> Option<Self> {
        Some(Self { who: Who::Parent(run.id), budget: run.budget.as_ref()? })
    }

    fn project(project: &'a Project) -> Option<Self> {
        Some(Self { who: Who::Project(project.id), budget: project.budget.as_ref()? })
    }

    pub(super) const fn kind(&self) -> PayerKind {
        match self.who {
            Who::Parent(_) => PayerKind::Parent,
            Who::Project(_) => PayerKind::Project,
        }
    }

    /// Whoever made a plan did not name these amounts: they are told where they come from.
    pub(super) fn explains(&self, run: &Run, refusal: Refusal) -> Refusal {
        match (refusal, &run.products) {
            (Refusal::Budget(why), Some(_)) if run.status == RunStatus::PendingApproval => {
                BudgetRefusal::PlanUnpaid { payer: self.kind(), why: Box::new(why) }.into()
            }
            (refusal, _) => refusal,
        }
    }

    pub(super) fn allots(&self, run: RunId, amounts: Amounts) -> Event {
        match self.who {
            Who::Parent(id) => Event::Run(id, BudgetEvent::Held { purpose: Purpose::Run(run), amounts }.into()),
            Who::Project(id) => Event::Project(id, ProjectEvent::Allotted { run, amounts }),
        }
    }

    pub(super) fn settles(&self, run: RunId, spent: Amounts) -> Event {
        match self.who {
            Who::Parent(id) => Event::Run(id, BudgetEvent::Settled { purpose: Purpose::Run(run), spent }.into()),
            Who::Project(id) => Event::Project(id, ProjectEvent::Returned { run, spent }),
        }
    }
}
