//! What becomes of the parts when the whole is limited: each that is there already gets its share, or the limit is refused.

use crate::budget::{Amounts, Budget, BudgetPart, BudgetRefusal, Ceiling, Purpose};
use crate::decide::Loaded;
use crate::id::ProjectId;
use crate::organisation::OrganisationEvent;
use crate::project::{Project, ProjectEvent};
use crate::record::Event;
use crate::refusal::Refusal;
use crate::run::{Run, RunStatus};

/// What is to be held for a part, in the place of what is held for it now.
pub(super) fn share(whole: &Budget, purpose: &Purpose, part: &Ceiling) -> Result<Amounts, Refusal> {
    if let Some(resource) = part.unlimited_beside(&whole.ceiling) {
        return Err(BudgetRefusal::Unlimited { resource }.into());
    }
    let (mut others, amounts) = (whole.clone(), part.amounts());
    others.settle(purpose, Amounts::NONE);
    others.permits(purpose, amounts).map_err(BudgetRefusal::from)?;
    Ok(amounts)
}

/// What a project's events mean for the organisation, and for the runs that it pays for.
pub(crate) fn by_project(loaded: &Loaded, id: ProjectId, events: &[ProjectEvent]) -> Result<Vec<Event>, Refusal> {
    let set = events.iter().find_map(|event| match event {
        ProjectEvent::BudgetSet { ceiling, warn_at_percent } => Some((*ceiling, *warn_at_percent)),
        ProjectEvent::Created { .. }
        | ProjectEvent::ScopeLocked { .. }
        | ProjectEvent::DutiesAssigned { .. }
        | ProjectEvent::Allotted { .. }
        | ProjectEvent::Returned { .. }
        | ProjectEvent::MostlyUsed { .. }
        | ProjectEvent::PreservationBegun(_)
        | ProjectEvent::PreservationEnded { .. }
        | ProjectEvent::WordsSet { .. } => None,
    });
    let Some((ceiling, warn_at_percent)) = set else { return Ok(Vec::new()) };
    let budget = loaded.project.as_ref().and_then(|project| project.budget.clone()).unwrap_or_default();
    let shares = shares_of_runs(loaded, id, budget.within(ceiling, warn_at_percent))?;
    let Some(whole) = &loaded.organisation.budget else { return Ok(shares) };
    let amounts = share(whole, &Purpose::Project(id), &ceiling)?;
    let allotted = Event::Organisation(OrganisationEvent::Allotted { project: id, amounts });
    Ok(shares.into_iter().chain([allotted]).collect())
}

fn shares_of_runs(loaded: &Loaded, id: ProjectId, mut budget: Budget) -> Result<Vec<Event>, Refusal> {
    let mut shares = Vec::new();
    for run in loaded.runs.iter().filter(|run| run.project == id && is_paid_by_project(run, loaded)) {
        let (purpose, name) = (Purpose::Run(run.id), BudgetPart::Run { id: run.id });
        let part =
            Part { name, ceiling: run.budget.as_ref().map(|budget| budget.ceiling), is_under_way: is_begun(run) };
        if let Some(amounts) = part.of(&budget, &purpose)? {
            budget.hold(purpose, amounts);
            shares.push(Event::Project(id, ProjectEvent::Allotted { run: run.id, amounts }));
        }
    }
    Ok(shares)
}

/// A share that the parent holds is in the parent's own.
fn is_paid_by_project(run: &Run, loaded: &Loaded) -> bool {
    let Some(parent) = run.parent.and_then(|id| loaded.find_run(id)) else { return run.parent.is_none() };
    parent.budget.as_ref().is_none_or(|budget| budget.held_for(&Purpose::Run(run.id)).is_none())
}

/// What is only being written is looked at when it asks for approval.
const fn is_begun(run: &Run) -> bool {
    !matches!(run.status, RunStatus::Draft) && !run.status.is_final()
}

/// What the organisation's events mean for its projects.
pub(crate) fn by_organisation(loaded: &Loaded, events: &[OrganisationEvent]) -> Result<Vec<Event>, Refusal> {
    let mut allotted = Vec::new();
    for event in events {
        let OrganisationEvent::BudgetSet { ceiling, warn_at_percent } = event else { continue };
        let mut budget = loaded.organisation.budget.clone().unwrap_or_default().within(*ceiling, *warn_at_percent);
        for project in &loaded.projects {
            let purpose = Purpose::Project(project.id);
            if let Some(amounts) = part_of_organisation(project, loaded).of(&budget, &purpose)? {
                budget.hold(purpose, amounts);
                allotted.push(Event::Organisation(OrganisationEvent::Allotted { project: project.id, amounts }));
            }
        }
    }
    Ok(allotted)
}

fn part_of_organisation(project: &Project, loaded: &Loaded) -> Part {
    let is_under_way = loaded.runs.iter().any(|run| run.project == project.id && is_begun(run));
    let ceiling = project.budget.as_ref().map(|budget| budget.ceiling);
    Part { name: BudgetPart::Project { name: project.name.to_string() }, ceiling, is_under_way }
}

/// Something that is there already when the whole is limited.
struct Part {
    name: BudgetPart,
    ceiling: Option<Ceiling>,
    is_under_way: bool,
}

impl Part {
    /// What is to be held for it; nothing where enough is held already, or where it is looked at later.
    fn of(&self, whole: &Budget, purpose: &Purpose) -> Result<Option<Amounts>, Refusal> {
        let part = || self.name.clone();
        match &self.ceiling {
            _ if whole.ceiling.is_unlimited() => Ok(None),
            None if self.is_under_way => Err(BudgetRefusal::PartWithoutBudget { part: part() }.into()),
            None => Ok(None),
            Some(ceiling) => match ceiling.unlimited_beside(&whole.ceiling) {
                Some(resource) => Err(BudgetRefusal::PartUnlimited { part: part(), resource }.into()),
                None if whole.held_for(purpose).is_some() => Ok(None),
                None => match whole.permits(purpose, ceiling.amounts()) {
                    Ok(()) => Ok(Some(ceiling.amounts())),
                    Err(why) => Err(BudgetRefusal::PartTooLarge { part: part(), why }.into()),
                },
            },
        }
    }
}

/// The runs that a run has made have a share in each of its limits.
pub(super) fn check_children(run: &Run, known: &Loaded) -> Result<(), Refusal> {
    let Some(budget) = run.budget.as_ref().filter(|budget| !budget.ceiling.is_unlimited()) else { return Ok(()) };
    let is_child = |other: &&Run| other.parent == Some(run.id) && is_begun(other);
    for child in known.runs.iter().filter(is_child) {
        let ceiling = child.budget.as_ref().map(|budget| budget.ceiling).unwrap_or_default();
        let held = budget.held_for(&Purpose::Run(child.id)).is_some();
        if !held || ceiling.unlimited_beside(&budget.ceiling).is_some() {
            return Err(BudgetRefusal::ChildUnbound { child: child.id }.into());
        }
    }
    Ok(())
}
