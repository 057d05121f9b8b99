//! A preparation: everything that is worked out before a run is founded and before anybody is asked. What a run takes from it
//! where its maker says nothing is said here too: its steps, its checkpoints and what it may use up.

use std::collections::BTreeSet;

use super::choose::Starter;
use super::input::Input;
use super::intent::Intent;
use super::plan::{Plan, plan_started_by};
use super::product::Product;
use super::refusal::{PlanRefusal, recordable};
use super::subtask::Subtask;
use super::template::Templates;
use crate::budget::{Ceiling, USUAL_WARNING_PERCENT};
use crate::catalogue::{Catalogue, CheckpointEvery};
use crate::proposal::Cages;
use crate::run::{Allowance, Founding, GateRules, Posture};

/// An intent and all that planning made of it. There is no other way to one than to plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    intent: Intent,
    plan: Plan,
    /// How often the chosen agent stands still by itself.
    every: CheckpointEvery,
}

impl Preparation {
    pub fn of(intent: Intent, catalogue: &Catalogue, templates: &Templates) -> Result<Self, PlanRefusal> {
        Self::started_by(Starter::Entry, intent, catalogue, templates)
    }

    /// Prepares a run whose agent the given party starts.
    pub fn started_by(
        starter: Starter,
        intent: Intent,
        catalogue: &Catalogue,
        templates: &Templates,
    ) -> Result<Self, PlanRefusal> {
        let plan = plan_started_by(starter, &intent, catalogue, templates)?;
        let intent = recordable("intent", "say it in fewer words", intent)?;
        let entry = catalogue.get(&plan.selection.chosen).expect("the chosen agent is one of the catalogue");
        Ok(Self { every: entry.checkpoint, intent, plan })
    }

    /// The same, where it is known what cages amount to: from here on the plan says which of them its actions run in.
    #[must_use]
    pub fn in_cages(mut self, cages: &Cages) -> Self {
        let choice = &mut self.plan.cage;
        choice.cages = Some(cages.within(choice.profile.as_str()));
        self
    }

    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn goal(&self) -> &str {
        self.intent.goal.as_str()
    }

    /// What is given to the agent.
    pub fn inputs(&self) -> &[Input] {
        &self.intent.inputs
    }

    /// The plan of the run: one step for each sub-task.
    pub fn steps(&self) -> Vec<String> {
        self.plan.subtasks.iter().map(|subtask| subtask.title.to_string()).collect()
    }

    /// How the run is carried out. Where nothing is said, it stands still as often as the agent's entry says; after a sub-task
    /// that has a checkpoint it stands still whatever is said.
    pub fn posture(&self, said: Option<GateRules>) -> Posture {
        let mut gates = said.unwrap_or_else(|| usual(self.every, &self.plan.subtasks));
        gates.after.extend(self.standstills());
        Posture { mode: self.intent.mode, effect: self.intent.effect, gates, ..Posture::default() }
    }

    /// What the run may use up: what is said, or what is reserved for the worst case; never more than its cage has.
    pub fn allowance(&self, said: Option<Allowance>) -> Allowance {
        let worst = || Ceiling::at(self.plan.estimate.worst);
        let (ceiling, warn_at_percent) =
            said.map_or_else(|| (worst(), USUAL_WARNING_PERCENT), |said| (said.ceiling, said.warn_at_percent));
        Allowance { ceiling: ceiling.within(self.plan.cage.limits), warn_at_percent }
    }

    /// Whether a run that is founded on it says nothing else.
    pub(crate) fn agrees_with(&self, founding: &Founding) -> bool {
        let posture = self.posture(Some(founding.posture.gates.clone()));
        let allowance = founding.allowance.map(|allowance| self.allowance(Some(allowance)));
        self.goal() == founding.goal
            && self.steps() == founding.plan
            && posture == founding.posture
            && allowance.is_some()
            && allowance == founding.allowance
    }

    /// Every product in the order of the steps, as it is recorded.
    pub fn products(&self) -> [Product; 6] {
        let Plan { task, subtasks, selection, cage, estimate } = self.plan.clone();
        [
            Product::Intent(Box::new(self.intent.clone())),
            Product::Task(Box::new(task)),
            Product::Subtasks(subtasks),
            Product::Selection(Box::new(selection)),
            Product::Cage(Box::new(cage)),
            Product::Estimate(Box::new(estimate)),
        ]
    }

    /// The sub-tasks after which a person looks. After the last one come the results.
    fn standstills(&self) -> impl Iterator<Item = u32> {
        let last = self.plan.subtasks.len();
        let gates = self.plan.subtasks.iter().filter(move |subtask| subtask.gate_after && !is(subtask, last));
        gates.map(|subtask| subtask.number)
    }
}

fn is(subtask: &Subtask, number: usize) -> bool {
    usize::try_from(subtask.number) == Ok(number)
}

/// What the frequency in an entry means for these sub-tasks.
fn usual(every: CheckpointEvery, subtasks: &[Subtask]) -> GateRules {
    const MINUTE_MS: u64 = 60_000;
    let rules = GateRules::default();
    match every {
        CheckpointEvery::Steps(steps) => GateRules { every_steps: Some(steps), ..rules },
        CheckpointEvery::Minutes(minutes) => GateRules { every_ms: Some(u64::from(minutes) * MINUTE_MS), ..rules },
        CheckpointEvery::Pages(pages) => GateRules { after: after_pages(pages.into(), subtasks), ..rules },
    }
}

/// The sub-tasks with which so many pages were visited since the one before, but for the last: then come the results.
fn after_pages(most: u64, subtasks: &[Subtask]) -> BTreeSet<u32> {
    let mut visited: u64 = 0;
    let full = |subtask: &&Subtask| {
        visited = visited.saturating_add(subtask.pages);
        let full = visited >= most;
        visited = if full { 0 } else { visited };
        full
    };
    let last = subtasks.len();
    subtasks.iter().filter(full).filter(|subtask| !is(subtask, last)).map(|subtask| subtask.number).collect()
}
