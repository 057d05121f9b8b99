//! Executions: runs that are planned from an intent, and the fifteen steps that every run goes through.

use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::planning::{Estimate, Intent, Subtask};
use placet_domain::run::{GateRules, RunStatus, StepState, StepView};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::hosting::LaunchRequest;
use super::run::{BudgetRequest, RunView};

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExecution {
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// What shall be done: a sentence, or an object with `goal` and, as far as they are needed, `inputs`, `outputs`,
    /// `constraints`, `done`, `steps` or a `template`, `agent` (of the catalogue), `mode`, `effect`, `ceiling`, `base`.
    #[serde(deserialize_with = "sentence_or_whole")]
    #[schema(value_type = serde_json::Value)]
    pub intent: Intent,
    /// The name of a locked scope of the project; its newest version is taken and never changes for this run.
    pub scope: String,
    /// The agent that will work in it and comes by itself. Without one and without `launch`, a worker starts what the entry of the
    /// chosen agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<IdentityId>,
    /// What a worker starts for it in a cage, instead of what the entry says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchRequest>,
    /// Where it stands still, instead of what the agent's entry says. After a sub-task with a checkpoint it does anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub checkpoints: Option<GateRules>,
    /// What it may use up, instead of the worst case of the estimate; never more than its cage has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetRequest>,
    /// The run that has it made and pays for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent: Option<RunId>,
    /// A language model that splits the intent into steps, instead of a template or steps of one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<String>,
}

/// Most people write a sentence. What is wrong with a whole intent is told by its own reader.
fn sentence_or_whole<'de, D: Deserializer<'de>>(from: D) -> Result<Intent, D::Error> {
    let given = serde_json::Value::deserialize(from)?;
    match given.as_str() {
        Some(goal) => goal.parse().map(Intent::new).map_err(D::Error::custom),
        None => serde_json::from_value(given).map_err(D::Error::custom),
    }
}

/// A step as it was planned.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PlannedStep {
    pub number: u32,
    pub title: String,
    /// What an agent must be able to do.
    pub capability: String,
    /// Whether the run stands still after it until a person decides.
    pub checkpoint: bool,
    pub pages: u64,
    pub turns: u64,
}

impl From<&Subtask> for PlannedStep {
    fn from(subtask: &Subtask) -> Self {
        Self {
            number: subtask.number,
            title: subtask.title.to_string(),
            capability: subtask.capability.to_string(),
            checkpoint: subtask.gate_after,
            pages: subtask.pages,
            turns: subtask.turns,
        }
    }
}

/// A run that was just planned and waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExecutionView {
    /// The same as the run's id.
    #[schema(value_type = String)]
    pub execution_id: RunId,
    #[schema(value_type = String)]
    pub status: RunStatus,
    pub task_plan: Vec<PlannedStep>,
    /// `likely`, `worst` (what is held for it) and their `basis`.
    #[schema(value_type = Object)]
    pub estimated_cost: Estimate,
    /// All of it, with what is to be approved.
    pub run: RunView,
}

impl ExecutionView {
    /// The view of a run, if it was planned.
    pub fn of(run: RunView) -> Option<Self> {
        let products = run.products.as_deref()?;
        let (task_plan, estimate) =
            (products.subtasks.iter().map(PlannedStep::from).collect(), products.estimate.clone());
        Some(Self { execution_id: run.id, status: run.status, task_plan, estimated_cost: estimate?, run })
    }
}

/// One of the fifteen steps.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PipelineStep {
    pub number: u32,
    pub name: String,
    /// Whether a person decides here.
    pub decision: bool,
    /// `done`, `now`, `to_come`, `skipped` or `stopped`.
    #[schema(value_type = String)]
    pub state: StepState,
    /// What it led to, or what it waits for.
    pub product: String,
    /// The kind of ledger entry that records it.
    pub entry: String,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl PipelineStep {
    /// A step with its time as it is written.
    pub fn new(step: StepView, at: Option<String>) -> Self {
        let (name, entry) = (step.name.to_owned(), step.entry.to_owned());
        let StepView { number, is_decision: decision, state, product, .. } = step;
        Self { number, name, decision, state, product: product.to_string(), entry, at }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PipelineView {
    #[schema(value_type = String)]
    pub run: RunId,
    pub goal: String,
    #[schema(value_type = String)]
    pub status: RunStatus,
    pub steps: Vec<PipelineStep>,
}
