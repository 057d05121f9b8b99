//! The first six steps in a row, for whoever wants all their products at once.

use serde::{Deserialize, Serialize};

use super::choose::{Selection, Starter, choose};
use super::configure::{CageChoice, configure};
use super::decompose::decompose;
use super::encode::{Task, encode};
use super::estimate::{Estimate, estimate};
use super::intent::Intent;
use super::refusal::PlanRefusal;
use super::subtask::Subtask;
use super::template::Templates;
use crate::catalogue::Catalogue;

/// All products of planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub task: Task,
    pub subtasks: Vec<Subtask>,
    pub selection: Selection,
    pub cage: CageChoice,
    pub estimate: Estimate,
}

/// Plans for an agent that Placet starts with the program of its entry.
pub fn plan(intent: &Intent, catalogue: &Catalogue, templates: &Templates) -> Result<Plan, PlanRefusal> {
    plan_started_by(Starter::Entry, intent, catalogue, templates)
}

/// Plans for an agent that the given party starts.
pub fn plan_started_by(
    starter: Starter,
    intent: &Intent,
    catalogue: &Catalogue,
    templates: &Templates,
) -> Result<Plan, PlanRefusal> {
    let task = encode(intent)?;
    let subtasks = decompose(&task, templates)?;
    let selection = choose(&task, &subtasks, catalogue, starter)?;
    let entry = catalogue.get(&selection.chosen).expect("the chosen agent is one of the catalogue");
    let (cage, estimate) = (configure(entry, &task, &subtasks), estimate(entry, &subtasks));
    Ok(Plan { task, subtasks, selection, cage, estimate })
}
