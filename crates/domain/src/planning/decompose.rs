//! Step 3: a task becomes sub-tasks, from its declared steps, from a template, or from the words of its goal.

use std::collections::BTreeSet;

use super::encode::{Step, Task};
use super::intent::{USUAL_TURNS, usual_pages};
use super::refusal::{PlanRefusal, recordable};
use super::subtask::Subtask;
use super::template::{Template, Templates};
use crate::catalogue::Capability;
use crate::proposal::ActionKind;
use crate::prose::Prose;
use crate::run::{Watch, watch};

/// Splits a task. Never empty: a task that says nothing was refused when it was encoded.
pub fn decompose(task: &Task, templates: &Templates) -> Result<Vec<Subtask>, PlanRefusal> {
    let drafts: Vec<Draft> = match &task.template {
        Some(name) => {
            let unknown = || PlanRefusal::UnknownTemplate { name: name.clone(), known: templates.ids() };
            from_template(templates.get(name).ok_or_else(unknown)?)
        }
        None if task.steps.is_empty() => task.needs.iter().map(|capability| from_word(*capability)).collect(),
        None => task.steps.iter().map(from_step).collect(),
    };
    recordable("plan", "take fewer steps, or shorter titles", numbered(drafts))
}

/// A sub-task without its number.
struct Draft {
    title: Prose<300>,
    capability: Capability,
    kinds: BTreeSet<ActionKind>,
    stands_still: bool,
    pages: u64,
    turns: u64,
}

fn usual_kinds(capability: Capability) -> BTreeSet<ActionKind> {
    capability.usual_kinds().iter().copied().collect()
}

fn from_step(step: &Step) -> Draft {
    Draft {
        title: step.title.clone(),
        capability: step.capability,
        kinds: usual_kinds(step.capability),
        stands_still: step.checkpoint,
        pages: step.pages,
        turns: step.turns,
    }
}

fn from_word(capability: Capability) -> Draft {
    let title = capability.meaning().trim_end_matches('.');
    Draft {
        title: title.parse().expect("the meaning of a capability is a short sentence"),
        capability,
        kinds: usual_kinds(capability),
        stands_still: true,
        pages: usual_pages(capability),
        turns: USUAL_TURNS,
    }
}

fn from_template(template: &Template) -> Vec<Draft> {
    template
        .steps()
        .map(|(title, step)| Draft {
            title,
            capability: step.capability,
            kinds: step.kinds.clone().unwrap_or_else(|| usual_kinds(step.capability)),
            stands_still: step.checkpoint,
            pages: step.pages,
            turns: step.turns,
        })
        .collect()
}

/// Every sub-task whose acts always ask, and the last one, has a gate: nobody can plan it away.
fn numbered(drafts: Vec<Draft>) -> Vec<Subtask> {
    let last = drafts.len();
    let number = |(number, draft): (u32, Draft)| {
        let always = draft.kinds.iter().any(|kind| watch(*kind) == Watch::Always);
        let is_last = usize::try_from(number) == Ok(last);
        Subtask {
            number,
            title: draft.title,
            capability: draft.capability,
            kinds: draft.kinds,
            gate_after: draft.stands_still || always || is_last,
            pages: draft.pages,
            turns: draft.turns,
        }
    };
    (1..).zip(drafts).map(number).collect()
}
