//! Steps 1 to 8: what was there before a person was asked. Of a run that nobody planned from an intent, a person declared it.

use super::product::{Declared, StepProduct, Takes};
use super::{Known, StepState};
use crate::planning::{CageChoice, Estimate, Products, Selection, Task};
use crate::run::state::{Run, RunStatus};

const MADE: &str = "run.created";

/// What planning left of a step, or what a person declared instead.
fn product<'r, P>(
    run: &'r Run,
    entry: &'static str,
    planned: impl Fn(&'r Products) -> Option<P>,
    led_to: impl Fn(P) -> StepProduct,
    declared: impl Fn() -> Known,
) -> Known {
    let found = run.products.as_deref().and_then(planned);
    let known = found.map_or_else(declared, |found| Known::done(entry, led_to(found)));
    known.at(run.milestones.created_at)
}

fn declared(what: Declared) -> Known {
    Known::done(MADE, StepProduct::Declared(what))
}

pub(super) fn intent(run: &Run) -> Known {
    let goal = || run.goal.clone();
    let led_to = |_| StepProduct::Goal(goal());
    let said = || declared(Declared::Goal(goal()));
    product(run, "run.intent_stated", |products| products.intent.as_ref(), led_to, said)
}

pub(super) fn encoding(run: &Run) -> Known {
    let led_to = |task: &Task| {
        let needs = || task.needs.iter().map(|capability| capability.as_str().to_owned()).collect();
        let template = task.template.as_ref().map(|template| Takes::Template(template.to_string()));
        let takes = template.unwrap_or_else(|| Takes::Capabilities(needs()));
        StepProduct::Encoded { takes, inputs: task.inputs.len(), outputs: task.outputs.len() }
    };
    let taken = || declared(Declared::AsWritten);
    product(run, "run.encoded", |products| products.task.as_ref(), led_to, taken)
}

pub(super) fn decomposition(run: &Run) -> Known {
    let planned = |products: &Products| {
        let titles: Vec<String> = products.subtasks.iter().map(|subtask| subtask.title.to_string()).collect();
        let gates = products.subtasks.iter().filter(|subtask| subtask.gate_after).count();
        (!titles.is_empty()).then(|| (titles == run.plan, titles.len(), gates))
    };
    let led_to = |(stands, subtasks, gates): (bool, usize, usize)| {
        let since = (!stands).then_some(run.plan.len());
        StepProduct::Decomposed { subtasks, gates, since }
    };
    let written = || match run.plan.len() {
        0 => Known::new(nothing_yet(run), "run.submitted", StepProduct::NoPlan),
        steps => Known::done("run.submitted", StepProduct::Declared(Declared::Steps(steps))),
    };
    product(run, "run.decomposed", planned, led_to, written)
}

fn nothing_yet(run: &Run) -> StepState {
    if run.status == RunStatus::Draft { StepState::Now } else { StepState::Skipped }
}

pub(super) fn selection(run: &Run) -> Known {
    let led_to = |selection: &Selection| {
        let fit = selection.ranking.first().map(|first| first.fit);
        StepProduct::Selected { agent: selection.chosen.to_string(), fit }
    };
    let said = || declared(Declared::Agent(run.agent));
    product(run, "run.agent_selected", |products| products.selection.as_ref(), led_to, said)
}

pub(super) fn cage(run: &Run) -> Known {
    let led_to = |cage: &CageChoice| StepProduct::Caged {
        profile: cage.profile.to_string(),
        agent: run.hosting.launch().map(|launch| launch.profile.to_string()),
        network: cage.network.clone(),
    };
    let tools = || declared(Declared::CagesOfTools);
    product(run, "run.cage_configured", |products| products.cage.as_ref(), led_to, tools)
}

pub(super) fn estimate(run: &Run) -> Known {
    let led_to = |estimate: &Estimate| StepProduct::Estimated { likely: estimate.likely, worst: estimate.worst };
    let none = || declared(Declared::NoEstimate);
    product(run, "run.estimated", |products| products.estimate.as_ref(), led_to, none)
}

pub(super) fn scope(run: &Run) -> Known {
    Known::done(MADE, StepProduct::Scope(run.scope.version())).at(run.milestones.created_at)
}

/// A run without a budget can be submitted only where whoever pays for it has no limit either.
pub(super) fn budget(run: &Run) -> Known {
    let Some(budget) = &run.budget else {
        return Known::new(StepState::Skipped, MADE, StepProduct::Unlimited);
    };
    Known::done("run.budget_set", StepProduct::Held(budget.ceiling)).at(run.milestones.created_at)
}
