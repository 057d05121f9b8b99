//! A plan as people read it before they approve it.

use placet_domain::budget::{Amounts, Resource};
use placet_domain::planning::{Plan, Products, Row};

use crate::out::{BAD, BOLD, DIM, GOOD, styled, table};

/// How much of the table that decided is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    All,
    Misfits,
}

/// What planning led to, if all of it is there.
pub(crate) fn plan_of(products: &Products) -> Option<Plan> {
    let Products { task, subtasks, selection, cage, estimate, intent: _ } = products.clone();
    Some(Plan { task: task?, subtasks, selection: selection?, cage: cage?, estimate: estimate? })
}

/// Everything there is to approve: who does it and why, which steps, in which cage, for how much. With `Rows::All`, also in what
/// everybody fits.
pub(crate) fn words(plan: &Plan, rows: Rows) -> String {
    let because = plan.selection.ranking.first().map(|first| first.fit.to_string()).unwrap_or_default();
    let head = format!("{} {}: {because}", styled(GOOD, "chosen:"), styled(BOLD, &plan.selection.chosen));
    let shown = |row: &&Row| rows == Rows::All || !row.fits;
    let table: Vec<&Row> = plan.selection.table.iter().filter(shown).collect();
    let parts = [head, steps(plan), compared(&table), cage(plan), costs(plan)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn heading(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| styled(BOLD, word)).collect()
}

fn steps(plan: &Plan) -> String {
    let rows = plan.subtasks.iter().map(|subtask| {
        let after = if subtask.gate_after { "after it" } else { "" };
        let (number, pages) = (subtask.number.to_string(), subtask.pages.to_string());
        vec![number, subtask.title.to_string(), subtask.capability.to_string(), pages, after.to_owned()]
    });
    table(&std::iter::once(heading(&["", "step", "takes", "pages", "checkpoint"])).chain(rows).collect::<Vec<_>>())
}

fn compared(rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |row: &&Row| {
        let fits = if row.fits { styled(GOOD, "fits") } else { styled(BAD, "lacks") };
        vec![row.agent.to_string(), fits, row.criterion.to_string(), row.needs.clone(), row.has.clone()]
    };
    let lines = rows.iter().map(line);
    table(&std::iter::once(heading(&["agent", "", "in", "needs", "has"])).chain(lines).collect::<Vec<_>>())
}

fn cage(plan: &Plan) -> String {
    let cage = &plan.cage;
    let row = |name: &str, is: String| vec![name.to_owned(), is];
    let narrower = cage.cages.iter().flat_map(|cages| cages.keys()).filter(|name| *name != cage.profile.as_str());
    let narrower: Vec<&str> = narrower.map(String::as_str).collect();
    let also = if narrower.is_empty() { String::new() } else { format!(", or narrower: {}", narrower.join(", ")) };
    table(&[row("actions in", format!("{}{also}", cage.profile)), row("network", cage.network.to_string())])
}

fn costs(plan: &Plan) -> String {
    let (estimate, limits) = (&plan.estimate, &plan.cage.limits);
    let of = |amounts: &Amounts, resource: Resource| amounts.of(resource).to_string();
    let row = |resource: &Resource| {
        let (likely, worst) = (of(&estimate.likely, *resource), of(&estimate.worst, *resource));
        vec![resource.to_string(), likely, worst, of(limits, *resource)]
    };
    let rows = std::iter::once(heading(&["", "likely", "reserved", "at most"])).chain(Resource::ALL.iter().map(row));
    format!("{}\n{}", table(&rows.collect::<Vec<_>>()), styled(DIM, &estimate.basis))
}
