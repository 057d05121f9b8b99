//! Who pays: what a project or a run gets is held in the budget of whoever gives it, and settled when it is over.
//!
//! A part is limited wherever the whole is, so the parts together never have more than the whole, and each check looks at one budget.

use crate::budget::{Amounts, Budget, Ceiling, NotHeld, Purpose};
use crate::decide::Loaded;
use crate::id::{ProjectId, RunId};
use crate::organisation::OrganisationEvent;
use crate::project::ProjectEvent;
use crate::record::Event;
use crate::refusal::Refusal;
use crate::run::{self, Run, RunEvent, RunStatus};
use crate::time::Timestamp;

/// What a run's events mean for whoever pays for it: its parent, or its project.
pub(crate) fn by_run(
    loaded: &Loaded,
    id: RunId,
    events: &[RunEvent],
    now: Timestamp,
) -> Result<Option<Event>, Refusal> {
    let after = events.iter().fold(loaded.run.clone(), |run, event| run::evolve(id, run, event, now));
    let (Some(after), Some(payer)) = (after, Payer::of(loaded)) else { return Ok(None) };
    let purpose = Purpose::Run(id);
    if events.iter().any(|event| matches!(event, RunEvent::BudgetSet { .. })) {
        let ceiling = after.budget.as_ref().map(|budget| budget.ceiling).unwrap_or_default();
        let amounts = share(payer.budget, &purpose, &ceiling).map_err(|refusal| payer.explains(&after, refusal))?;
        return Ok(Some(payer.allots(id, amounts)));
    }
    let asks_for_approval = after.status == RunStatus::PendingApproval;
    if asks_for_approval && after.budget.is_none() && !payer.budget.ceiling.is_unlimited() {
        let why = format!("the budget of its {} is limited; give the run one too", payer.name());
        return Err(Refusal::Budget { why });
    }
    let is_over = after.status.is_final() && payer.budget.held_for(&purpose).is_some();
    Ok(is_over.then(|| payer.settles(id, spent(&after))))
}

/// What a project's events mean for the organisation.
pub(crate) fn by_project(
    loaded: &Loaded,
    id: ProjectId,
    events: &[ProjectEvent],
) -> Result<Option<OrganisationEvent>, Refusal> {
    let Some(whole) = loaded.organisation.budget.as_ref() else { return Ok(None) };
    let set = events.iter().find_map(|event| match event {
        ProjectEvent::BudgetSet { ceiling, .. } => Some(ceiling),
        ProjectEvent::Created { .. }
        | ProjectEvent::ScopeLocked { .. }
        | ProjectEvent::DutiesAssigned { .. }
        | ProjectEvent::Allotted { .. }
        | ProjectEvent::Returned { .. } => None,
    });
    let Some(ceiling) = set else { return Ok(None) };
    let amounts = share(whole, &Purpose::Project(id), ceiling)?;
    Ok(Some(OrganisationEvent::Allotted { project: id, amounts }))
}

/// What is to be held for a part, in the place of what is held for it now.
fn share(whole: &Budget, purpose: &Purpose, part: &Ceiling) -> Result<Amounts, Refusal> {
    if let Some(resource) = part.unlimited_beside(&whole.ceiling) {
        return Err(Refusal::Budget { why: format!("{resource} is limited above it; give it a limit too") });
    }
    let (mut others, amounts) = (whole.clone(), part.amounts());
    others.settle(purpose, Amounts::NONE);
    others.permits(purpose, amounts).map_err(|why: NotHeld| Refusal::from(why))?;
    Ok(amounts)
}

fn spent(run: &Run) -> Amounts {
    run.budget.as_ref().map(|budget| budget.committed()).unwrap_or_default()
}

/// Whoever pays for a run.
struct Payer<'a> {
    who: Who,
    budget: &'a Budget,
}

#[derive(Clone, Copy)]
enum Who {
    Parent(RunId),
    Project(ProjectId),
}

impl<'a> Payer<'a> {
    fn of(loaded: &'a Loaded) -> Option<Self> {
        match (&loaded.parent, &loaded.project) {
            (Some(parent), _) => Some(Self { who: Who::Parent(parent.id), budget: parent.budget.as_ref()? }),
            (None, Some(project)) => Some(Self { who: Who::Project(project.id), budget: project.budget.as_ref()? }),
            (None, None) => None,
        }
    }

    const fn name(&self) -> &'static str {
        match self.who {
            Who::Parent(_) => "parent",
            Who::Project(_) => "project",
        }
    }

    /// Whoever made a plan did not name these amounts: they are told where they come from.
    fn explains(&self, run: &Run, refusal: Refusal) -> Refusal {
        match (refusal, &run.products) {
            (Refusal::Budget { why }, Some(_)) if run.status == RunStatus::PendingApproval => Refusal::Budget {
                why: format!(
                    "the plan cannot be paid by its {}: {why}; plan less, or give the run a smaller budget",
                    self.name()
                ),
            },
            (refusal, _) => refusal,
        }
    }

    fn allots(&self, run: RunId, amounts: Amounts) -> Event {
        match self.who {
            Who::Parent(id) => Event::Run(id, RunEvent::Held { purpose: Purpose::Run(run), amounts }),
            Who::Project(id) => Event::Project(id, ProjectEvent::Allotted { run, amounts }),
        }
    }

    fn settles(&self, run: RunId, spent: Amounts) -> Event {
        match self.who {
            Who::Parent(id) => Event::Run(id, RunEvent::Settled { purpose: Purpose::Run(run), spent }),
            Who::Project(id) => Event::Project(id, ProjectEvent::Returned { run, spent }),
        }
    }
}
