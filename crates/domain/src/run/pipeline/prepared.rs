//! Steps 1 to 8: what was there before a person was asked. Of a run that nobody planned from an intent, a person declared it.

use super::{Known, StepState};
use crate::budget::{Amounts, Ceiling, Resource, dollars};
use crate::planning::Products;
use crate::run::state::{Run, RunStatus};

const DECLARED: &str = "declared by a person";
const MADE: &str = "run.created";

/// What planning left of a step, or what a person declared instead.
fn product<'r, P>(
    run: &'r Run,
    entry: &'static str,
    planned: impl Fn(&'r Products) -> Option<P>,
    words: impl Fn(P) -> String,
    declared: impl Fn() -> Known,
) -> Known {
    let found = run.products.as_deref().and_then(planned);
    let known = found.map_or_else(declared, |found| Known::done(entry, words(found)));
    known.at(run.milestones.created_at)
}

fn declared(what: impl std::fmt::Display) -> Known {
    Known::done(MADE, format!("{DECLARED}: {what}"))
}

pub(super) fn intent(run: &Run) -> Known {
    let words = |_| run.goal.clone();
    product(run, "run.intent_stated", |products| products.intent.as_ref(), words, || declared(&run.goal))
}

pub(super) fn encoding(run: &Run) -> Known {
    let words = |task: &crate::planning::Task| {
        let needs: Vec<&str> = task.needs.iter().map(|capability| capability.as_str()).collect();
        let takes = match &task.template {
            Some(template) => format!("the template {template}"),
            None => needs.join(", "),
        };
        format!("takes {takes}; {} inputs, {} outputs", task.inputs.len(), task.outputs.len())
    };
    let taken = || declared("the goal is taken as it was written");
    product(run, "run.encoded", |products| products.task.as_ref(), words, taken)
}

pub(super) fn decomposition(run: &Run) -> Known {
    let planned = |products: &Products| {
        let titles: Vec<String> = products.subtasks.iter().map(|subtask| subtask.title.to_string()).collect();
        let gates = products.subtasks.iter().filter(|subtask| subtask.gate_after).count();
        (!titles.is_empty()).then(|| (titles == run.plan, titles.len(), gates))
    };
    let words = |(stands, steps, gates): (bool, usize, usize)| {
        let since =
            if stands { String::new() } else { format!("; since then a person wrote {} steps", run.plan.len()) };
        format!("{steps} sub-tasks, {gates} with a checkpoint{since}")
    };
    let written = || match run.plan.len() {
        0 => Known::new(nothing_yet(run), "run.submitted", "no plan yet"),
        steps => Known::done("run.submitted", format!("{DECLARED}: {steps} steps")),
    };
    product(run, "run.decomposed", planned, words, written)
}

fn nothing_yet(run: &Run) -> StepState {
    if run.status == RunStatus::Draft { StepState::Now } else { StepState::Skipped }
}

pub(super) fn selection(run: &Run) -> Known {
    let words = |selection: &crate::planning::Selection| {
        let because = selection.ranking.first().map(|first| first.because.as_str()).unwrap_or_default();
        format!("{}: {because}", selection.chosen)
    };
    product(run, "run.agent_selected", |products| products.selection.as_ref(), words, || declared(run.agent))
}

pub(super) fn cage(run: &Run) -> Known {
    let agent = run.hosting.launch().map(|launch| format!(", its agent in {}", launch.profile)).unwrap_or_default();
    let words = |cage: &crate::planning::CageChoice| {
        format!("actions in {} or narrower{agent}, network {}", cage.profile, cage.network)
    };
    let tools = || declared("each action in the cage of its tool");
    product(run, "run.cage_configured", |products| products.cage.as_ref(), words, tools)
}

pub(super) fn estimate(run: &Run) -> Known {
    let words = |estimate: &crate::planning::Estimate| {
        format!("likely {}; at most {}", amounts(&estimate.likely), amounts(&estimate.worst))
    };
    let none = || declared("nothing was estimated");
    product(run, "run.estimated", |products| products.estimate.as_ref(), words, none)
}

fn amounts(amounts: &Amounts) -> String {
    let minutes = amounts.wall_ms.div_ceil(60_000);
    format!("{}, {} tokens, {minutes} min", dollars(amounts.usd_micros), amounts.tokens)
}

pub(super) fn scope(run: &Run) -> Known {
    Known::done(MADE, run.scope.version().to_string()).at(run.milestones.created_at)
}

/// A run without a budget can be submitted only where whoever pays for it has no limit either.
pub(super) fn budget(run: &Run) -> Known {
    let Some(budget) = &run.budget else {
        return Known::new(StepState::Skipped, MADE, "not limited, and whoever pays for it is not either");
    };
    Known::done("run.budget_set", format!("held for it: {}", limits(&budget.ceiling))).at(run.milestones.created_at)
}

fn limits(ceiling: &Ceiling) -> String {
    let limit = |resource: &Resource| Some(format!("{resource} {}", ceiling.of(*resource)?));
    Resource::ALL.iter().filter_map(limit).collect::<Vec<_>>().join(", ")
}
