//! Step 2: an intent becomes a structured task, or everything that stands against it is told.
//!
//! Data classes are judged here (C3), before anything is planned with them: what an agent must not see never becomes part
//! of a task.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::intent::{Constraints, DeclaredStep, Intent, usual_pages};
use super::refusal::{Objection, PlanRefusal, recordable};
use super::verb::verbs_in;
use super::{BaseFolder, Input};
use crate::budget::{Ceiling, Resource};
use crate::canonical::LARGEST_SAFE_INTEGER;
use crate::catalogue::{Capability, EntryId, TemplateId};
use crate::prose::Prose;
use crate::run::{Effect, Mode};
use crate::scope::Glob;

/// A run's plan has no more steps than a person can read.
pub(super) const MOST_STEPS: usize = 200;
/// Of everything else that is listed.
const MOST_LISTED: usize = 200;
pub(super) const MOST_PAGES: u64 = 100_000;
pub(super) const MOST_TURNS: u64 = 10_000;

/// What has to be done, in a form that can be planned with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub goal: Prose<2000>,
    /// The words of the goal that were understood, in their order.
    pub verbs: Vec<String>,
    /// What an agent must be able to do, as far as the intent itself says; a template may add to it.
    pub needs: Vec<Capability>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Glob>,
    pub constraints: Constraints,
    pub done: Vec<Prose<500>>,
    /// The declared steps; none where a template or the goal itself says what to do.
    pub steps: Vec<Step>,
    pub template: Option<TemplateId>,
    pub agent: Option<EntryId>,
    pub mode: Mode,
    pub effect: Effect,
    pub ceiling: Ceiling,
    pub base: Option<BaseFolder>,
}

/// A declared step that was understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub title: Prose<300>,
    pub capability: Capability,
    pub checkpoint: bool,
    pub pages: u64,
    pub turns: u64,
}

/// Understands an intent. Pure: the same intent is always the same task.
pub fn encode(intent: &Intent) -> Result<Task, PlanRefusal> {
    let mut objections = listed_too_much(intent);
    objections.extend(inputs(intent));
    objections.extend(beyond(&intent.ceiling));
    objections.extend(source_of_steps(intent));
    let mut steps = Vec::new();
    for (index, step) in intent.steps.iter().enumerate() {
        match understood(step) {
            Ok(step) => steps.push(step),
            Err(why) => objections.push(Objection::new(format!("steps[{index}]"), why)),
        }
    }
    if !objections.is_empty() {
        return Err(PlanRefusal::Intent(objections));
    }
    recordable("task", "say it in fewer words, and name folders instead of single files", task(intent, steps))
}

fn task(intent: &Intent, steps: Vec<Step>) -> Task {
    let intent = intent.clone();
    let found: Vec<_> = verbs_in(intent.goal.as_str()).collect();
    let needs = match (&intent.template, steps.is_empty()) {
        (Some(_), _) => Vec::new(),
        (None, true) => once_each(found.iter().map(|(_, capability)| *capability)),
        (None, false) => once_each(steps.iter().map(|step| step.capability)),
    };
    Task {
        goal: intent.goal,
        verbs: once_each(found.into_iter().map(|(verb, _)| verb.to_owned())),
        needs,
        inputs: intent.inputs,
        outputs: intent.outputs,
        constraints: intent.constraints,
        done: intent.done,
        steps,
        template: intent.template,
        agent: intent.agent,
        mode: intent.mode,
        effect: intent.effect,
        ceiling: intent.ceiling,
        base: intent.base,
    }
}

/// Each once, where it comes first.
fn once_each<T: Ord + Clone>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|item| seen.insert(item.clone())).collect()
}

fn listed_too_much(intent: &Intent) -> Vec<Objection> {
    let constraints = &intent.constraints;
    let lists = [
        ("inputs", intent.inputs.len()),
        ("outputs", intent.outputs.len()),
        ("done", intent.done.len()),
        ("steps", intent.steps.len()),
        ("constraints.rules", constraints.rules.len()),
        ("constraints.tools", constraints.tools.len()),
        ("constraints.targets", constraints.targets.len()),
    ];
    let too_many = lists.into_iter().filter(|(_, count)| *count > MOST_LISTED);
    too_many.map(|(place, _)| Objection::new(place, format!("there are more than {MOST_LISTED} of them"))).collect()
}

fn inputs(intent: &Intent) -> Vec<Objection> {
    let mut seen = BTreeSet::new();
    let against = |(index, input): (usize, &Input)| {
        let why = if seen.insert(input.path.clone()) { input.withheld()? } else { "it is named twice" };
        Some(Objection::new(format!("inputs[{index}]"), format!("`{}`: {why}", input.path)))
    };
    intent.inputs.iter().enumerate().filter_map(against).collect()
}

/// Numbers that not every reader reads alike have no place in a record.
fn beyond(ceiling: &Ceiling) -> Vec<Objection> {
    let large = |resource: &&Resource| ceiling.of(**resource).is_some_and(|limit| limit > LARGEST_SAFE_INTEGER);
    let why = "it is beyond 2^53 - 1, where readers disagree; leave it out for no limit";
    Resource::ALL.iter().filter(large).map(|resource| Objection::new(format!("ceiling.{resource}"), why)).collect()
}

/// Steps come from one place.
fn source_of_steps(intent: &Intent) -> Option<Objection> {
    let understood = verbs_in(intent.goal.as_str()).next().is_some();
    match (&intent.template, intent.steps.is_empty()) {
        (Some(_), false) => Some(Objection::new("template", "there are declared steps too; give one or the other")),
        (None, true) if !understood => Some(Objection::new(
            "goal",
            "nothing says what an agent must be able to do; name a template, or declare steps with a capability",
        )),
        (Some(_), true) | (None, _) => None,
    }
}

/// A step with its capability, named or understood from its title.
fn understood(step: &DeclaredStep) -> Result<Step, String> {
    let first_verb = || verbs_in(step.title.as_str()).next().map(|(_, capability)| capability);
    let capability = step.capability.or_else(first_verb).ok_or_else(|| {
        let known: Vec<&str> = Capability::ALL.iter().map(|capability| capability.as_str()).collect();
        format!("nothing in its title says what it takes; give it a `capability`: {}", known.join(", "))
    })?;
    let (pages, turns) = (step.pages.unwrap_or(usual_pages(capability)), step.turns);
    if pages > MOST_PAGES || !(1..=MOST_TURNS).contains(&turns) {
        return Err(format!("a step has 1 to {MOST_TURNS} turns and at most {MOST_PAGES} pages"));
    }
    Ok(Step { title: step.title.clone(), capability, checkpoint: step.checkpoint, pages, turns })
}
