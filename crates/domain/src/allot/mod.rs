//! Who pays: what a project or a run gets is held in the budget of whoever gives it, and settled when it is over.
//!
//! A part is limited wherever the whole is, so the parts together never have more than the whole, and each check looks at one budget.
//! That holds in whatever order limits come: who limits a whole holds the shares of the parts that are there already, and is refused
//! where one of them could use up more than that.

mod payer;
mod shares;

use crate::budget::{Amounts, Budget, BudgetRefusal, Purpose};
use crate::decide::Loaded;
use crate::draft::CommandDraft;
use crate::id::RunId;
use crate::project::{Project, ProjectEvent};
use crate::reason::StatusReason;
use crate::record::Event;
use crate::refusal::{Obstacle, Refusal};
use crate::run::{BudgetEvent, Run, RunEvent, RunStatus, question};
use payer::Payer;
pub(crate) use shares::{by_organisation, by_project};
use shares::{check_children, share};

/// Records the events of a run, and their consequences for its payer (its parent or its project) and for the runs that it has made.
pub(crate) fn record_run(draft: &mut CommandDraft<'_>, id: RunId, events: Vec<RunEvent>) -> Result<(), Refusal> {
    let loaded = draft.before;
    let gets_a_budget = events.iter().any(|event| matches!(event, RunEvent::Budget(BudgetEvent::Set { .. })));
    let is_started = events.contains(&RunEvent::Started);
    let is_made = events.iter().any(|event| matches!(event, RunEvent::Created { .. }));
    draft.record_run(id, events);
    if loaded.run.is_some() {
        draft.record_question(id);
    }
    let Some(run) = draft.after.find_run(id).cloned() else { return Ok(()) };
    let begins = run.status == RunStatus::PendingApproval || is_started;
    if gets_a_budget || begins || is_made {
        check_parent(loaded)?;
    }
    let mut books = Books { draft };
    if gets_a_budget {
        check_children(&run, books.known())?;
        books.allot(&run)?;
    }
    if begins {
        books.check_share(&run)?;
    }
    match &loaded.run {
        Some(before) if before.status.is_final() => books.pass_on(before),
        Some(_) | None if run.status.is_final() => books.close(id),
        Some(_) | None => {}
    }
    Ok(())
}

/// Only a run that is approved and not over has other runs made: what is left of its budget is free again when it is over.
fn check_parent(loaded: &Loaded) -> Result<(), Refusal> {
    match loaded.parent.as_ref().map(|parent| parent.status) {
        Some(status) if status.is_final() => Err(Refusal::not_now("given a share", Obstacle::ParentOver)),
        Some(RunStatus::Draft | RunStatus::PendingApproval) => {
            Err(Refusal::not_now("given a share", Obstacle::ParentUnapproved))
        }
        Some(_) | None => Ok(()),
    }
}

/// Budgets of the runs and their payers, kept up to date in the draft of a command.
struct Books<'d, 'a> {
    draft: &'d mut CommandDraft<'a>,
}

impl Books<'_, '_> {
    const fn known(&self) -> &Loaded {
        &self.draft.after
    }

    fn record(&mut self, event: Event) {
        self.draft.record(event);
    }

    /// Holds a run's share with whoever pays for it.
    fn allot(&mut self, run: &Run) -> Result<(), Refusal> {
        let Some(payer) = Payer::of(self.known(), run) else { return Ok(()) };
        let ceiling = run.budget.as_ref().map(|budget| budget.ceiling).unwrap_or_default();
        let amounts = share(payer.budget, &Purpose::Run(run.id), &ceiling);
        let allotted = payer.allots(run.id, amounts.map_err(|refusal| payer.explains(run, refusal))?);
        self.record(allotted);
        Ok(())
    }

    /// What asks for approval, or is started, has a share of every limit above it.
    fn check_share(&self, run: &Run) -> Result<(), Refusal> {
        match Payer::of(self.known(), run) {
            Some(payer) if run.budget.is_none() && !payer.budget.ceiling.is_unlimited() => {
                Err(BudgetRefusal::RunWithoutBudget { payer: payer.kind() }.into())
            }
            Some(_) => Ok(()),
            None => match &self.known().organisation.budget {
                Some(whole) if !whole.ceiling.is_unlimited() => Err(BudgetRefusal::ProjectWithoutBudget.into()),
                Some(_) | None => Ok(()),
            },
        }
    }

    /// A run is over: so are the runs that it has made, and what was not used is free again.
    fn close(&mut self, id: RunId) {
        let is_child = |run: &&Run| run.parent == Some(id) && !run.status.is_final();
        let children: Vec<RunId> = self.known().runs.iter().filter(is_child).map(|run| run.id).collect();
        for child in children {
            self.record(Event::Run(child, RunEvent::Cancelled { reason: StatusReason::ParentOver }));
            self.close(child);
        }
        self.give_back(id);
    }

    /// Once for each limit of which most is used.
    fn tell_of_project(&mut self) {
        let told = |project: &Project| {
            let resource = project.budget.as_ref().and_then(Budget::unasked)?;
            Some(Event::Project(project.id, ProjectEvent::MostlyUsed { resource }))
        };
        while let Some(event) = self.known().project.as_ref().and_then(told) {
            self.record(event);
        }
    }

    /// What was not used is free again, but for what is still held for calls: an answer may be on its way, and its price is not known.
    fn give_back(&mut self, id: RunId) {
        let budget = self.known().find_run(id).and_then(|run| run.budget.clone()).unwrap_or_default();
        let pending = budget.pending();
        self.settle(id, budget.committed().less(pending.unwrap_or_default()), pending);
    }

    /// Something was settled of a run that is over: whoever pays for it is told, and whoever pays for that one if it is over too.
    fn pass_on(&mut self, before: &Run) {
        let Some(run) = self.known().find_run(before.id) else { return };
        let spent = |run: &Run| run.budget.as_ref().map(|budget| budget.spent).unwrap_or_default();
        let more = spent(run).less(spent(before));
        let pending = run.budget.as_ref().and_then(Budget::pending);
        if run.budget != before.budget {
            self.settle(before.id, more, pending);
        }
    }

    /// Has whoever pays for a run count this as spent, and hold so much of its share until the rest is known.
    fn settle(&mut self, id: RunId, spent: Amounts, pending: Option<Amounts>) {
        let Some(run) = self.known().find_run(id) else { return };
        let Some(payer) = Payer::of(self.known(), run) else { return };
        // All of it was settled before.
        if payer.budget.held_for(&Purpose::Run(id)).is_none() {
            return;
        }
        let kept = pending.map(|pending| payer.allots(id, pending));
        let (settled, parent) =
            (payer.settles(id, spent), run.parent.and_then(|id| self.known().find_run(id)).cloned());
        std::iter::once(settled).chain(kept).for_each(|event| self.record(event));
        self.tell_above(parent);
    }

    /// What was spent may be most of what its parent has. A parent that was over before tells whoever paid for it; one that ends with
    /// this command has not given anything back yet, and does so when its children have.
    fn tell_above(&mut self, parent: Option<Run>) {
        let was_over = |run: &Run| self.draft.before.find_run(run.id).is_some_and(|run| run.status.is_final());
        match parent {
            Some(before) if was_over(&before) => self.pass_on(&before),
            Some(before) => {
                let asked = self.known().find_run(before.id).and_then(question);
                asked.into_iter().for_each(|event| self.record(Event::Run(before.id, event)));
            }
            None => {}
        }
        self.tell_of_project();
    }
}
