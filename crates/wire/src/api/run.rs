//! Runs.

use std::collections::BTreeSet;

use placet_domain::budget::{Amounts, Budget, Ceiling, Resource, USUAL_WARNING_PERCENT};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::planning::Products;
use placet_domain::reason::{HostFault, RunFailure, StatusReason};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Effect, GateKind, GateRules, Launch, Mode, RunStatus};
use placet_domain::scope::ScopeDraft;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::action::ActionView;
use super::hosting::LaunchRequest;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub goal: String,
    /// The name of a locked scope of the project; its newest version is taken and never changes for this run.
    pub scope: String,
    /// The agent that will work in it and comes by itself; or else `launch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<IdentityId>,
    /// The agent that a worker starts for it in a cage; or else `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchRequest>,
    /// With a plan, the run waits for a reviewer at once; without, it is a draft.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
    /// `SIMULATION`, `SUPERVISED` or `CHECKPOINT`.
    #[serde(default)]
    #[schema(value_type = String)]
    pub mode: Mode,
    /// `dry_run`, `observe` or `execute`.
    #[serde(default)]
    #[schema(value_type = String)]
    pub effect: Effect,
    /// Where it stands still: `every_steps`, `after` (steps), `every_ms`, `before` (kinds of action), `auto_pass_after_ms`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub checkpoints: GateRules,
    /// Which language models its agent may call, by name or by how names begin (`claude-*`); without any, those that the gateway serves.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub models: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetRequest>,
    /// The run that has it made and pays for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent: Option<RunId>,
}

impl NewRun {
    /// A run as it usually is: free between checkpoints, executed, without a budget.
    pub fn usual(project: ProjectId, goal: String, scope: String, agent: IdentityId, plan: Vec<String>) -> Self {
        let (mode, effect, checkpoints) = (Mode::default(), Effect::default(), GateRules::default());
        let models = BTreeSet::new();
        let (agent, launch, budget, parent) = (Some(agent), None, None, None);
        Self { project, goal, scope, agent, launch, plan, mode, effect, checkpoints, models, budget, parent }
    }
}

/// What may be used up. What is left out is not limited.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetRequest {
    /// `actions`, `pages` and `wall_ms` are counted. `tokens`, `usd_micros` and `disk_bytes` are shared out among projects and runs,
    /// and nothing is charged to them yet.
    #[schema(value_type = Object)]
    pub limits: Ceiling,
    /// How much of a limit may be used before a person is asked.
    #[serde(default = "usual_warning")]
    pub warn_at_percent: u8,
}

const fn usual_warning() -> u8 {
    USUAL_WARNING_PERCENT
}

impl From<BudgetRequest> for Allowance {
    fn from(request: BudgetRequest) -> Self {
        Self { ceiling: request.limits, warn_at_percent: request.warn_at_percent }
    }
}

/// Limits, and how much of them is gone or spoken for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BudgetView {
    #[schema(value_type = Object)]
    pub limits: Ceiling,
    pub warn_at_percent: u8,
    #[schema(value_type = Object)]
    pub spent: Amounts,
    /// For things that are under way.
    #[schema(value_type = Object)]
    pub held: Amounts,
}

impl From<&Budget> for BudgetView {
    fn from(budget: &Budget) -> Self {
        let (limits, warn_at_percent, spent) = (budget.ceiling, budget.warn_at_percent, budget.spent);
        Self { limits, warn_at_percent, spent, held: budget.held() }
    }
}

/// Why a run cannot go on: in words, or, from its host, as a fault.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureRequest {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// `kind`: `agent_ended`, `host_failed` or `snapshot_failed`, with its parameters. Only for the host of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub fault: Option<HostFault>,
}

impl TryFrom<FailureRequest> for RunFailure {
    type Error = Refusal;

    fn try_from(FailureRequest { reason, fault }: FailureRequest) -> Result<Self, Refusal> {
        match fault {
            None => Ok(Self::Said(reason)),
            Some(fault) if reason.is_empty() => Ok(Self::Host(fault)),
            Some(_) => Err(Refusal::invalid("give `reason` or `fault`, not both")),
        }
    }
}

/// Fault of the host of a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultRequest {
    /// `kind`: `agent_ended`, `host_failed` or `snapshot_failed`, with its parameters.
    #[schema(value_type = Object)]
    pub fault: HostFault,
}

/// A step of the plan that is done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StepReport {
    pub step: u32,
    #[serde(default)]
    pub summary: String,
}

/// What the agent should do otherwise from here on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Modification {
    #[serde(default)]
    pub note: String,
    /// What is to be done instead of the steps that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<String>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackRequest {
    /// The number of the snapshot to go back to.
    pub to: u32,
    pub reason: String,
}

/// Which outputs are let out; all of them if nothing is said.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_ids: Option<BTreeSet<u32>>,
}

/// Everything a person needs to decide at a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckpointView {
    #[schema(value_type = String)]
    pub run: RunId,
    /// The how-many-th of the run.
    pub number: u32,
    /// `TIME`, `STEP`, `ACTION` or `COST`.
    #[schema(value_type = String)]
    pub kind: GateKind,
    pub reached_at: String,
    pub step: u32,
    pub of_steps: u32,
    pub percent: u32,
    /// Why the run stands still, in English.
    pub summary: String,
    /// The same reason as a code with parameters.
    #[schema(value_type = Object)]
    pub reason: StatusReason,
    /// The action that waits, at a checkpoint of kind ACTION: decide on that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub action: Option<ActionId>,
    /// What is nearly used up, at a checkpoint of kind COST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub resource: Option<Resource>,
    /// What was executed or rehearsed since the run was last let past a checkpoint, newest last.
    pub actions_done: Vec<ActionView>,
    /// What is proposed and not done yet, newest last.
    pub actions_next: Vec<ActionView>,
    /// What was started and then lost: nobody knows how far it got, and a reviewer must decide on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions_interrupted: Vec<ActionView>,
    /// Which of these lists are longer than what is shown of them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longer: Vec<String>,
    /// The steps of the plan that are left.
    pub steps_next: Vec<String>,
    #[schema(value_type = Object)]
    pub spent: Amounts,
    pub worked_ms: u64,
    /// The files that the actions done left as evidence, newest last. What else changed in its workspace is known to its host; a
    /// preview of going back (`GET …/rollback/{number}`) lists it.
    #[serde(default)]
    pub outputs: Vec<PieceView>,
    /// The pictures among what the actions done left, newest last.
    #[serde(default)]
    pub screenshots: Vec<PieceView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u32>,
    /// What was saved here: how many files the run has changed and made, and how large they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<SnapshotView>,
    /// When silence lets it pass, where that was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_at: Option<String>,
    /// What can be decided: `approve`, `modify`, `reject`, `pause`, `rollback`, `cancel`.
    pub options: Vec<String>,
    /// Send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
}

/// A file that an action left as evidence.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PieceView {
    #[schema(value_type = String)]
    pub action: ActionId,
    /// In the workspace of the run.
    pub path: String,
    #[schema(value_type = String)]
    pub digest: Digest,
    pub size_bytes: u64,
    /// Where its bytes are.
    pub link: String,
}

/// A saved state that a run can go back to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SnapshotView {
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u32>,
    pub taken_at: String,
    #[schema(value_type = String)]
    pub workspace: Digest,
    #[schema(value_type = String)]
    pub memory: Digest,
    pub files: u64,
    pub size_bytes: u64,
    pub steps_done: u32,
    /// What the run had spent by then. It stays spent when the run goes back.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub spent: Amounts,
}

/// A file that a run made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OutputView {
    pub id: u32,
    pub path: String,
    #[schema(value_type = String)]
    pub digest: Digest,
    pub size_bytes: u64,
    /// Whether it can be run as a program.
    #[serde(default)]
    pub executable: bool,
    /// Whether a person has let it out.
    pub exported: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSubmission {
    pub plan: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    #[serde(default)]
    pub summary: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    #[schema(value_type = String)]
    pub id: RunId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub goal: String,
    pub plan: Vec<String>,
    #[schema(value_type = String)]
    pub status: RunStatus,
    /// What the status means.
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The same reason as a code with parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<StatusReason>,
    /// Reason for the latest standstill, in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[schema(value_type = String)]
    pub agent: IdentityId,
    /// What a worker starts as its agent, where the agent does not come by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub launch: Option<Launch>,
    #[schema(value_type = String)]
    pub scope: Digest,
    /// What its actions may change, reach and use: `allow`, `deny`, `targets`, `tools`. Lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub rules: Option<ScopeDraft>,
    /// What a reviewer approves where the run stands still (plan or results); send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
    #[schema(value_type = String)]
    pub mode: Mode,
    #[schema(value_type = String)]
    pub effect: Effect,
    /// Where it stands still although nobody asks it to, and what passes by itself.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub checkpoints: GateRules,
    /// Which language models its agent may call; without any, those that the gateway serves.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub models: BTreeSet<String>,
    /// The run that had it made and pays for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent: Option<RunId>,
    /// What planning led to, where it was planned from an intent: `intent`, `task`, `subtasks`, `selection`, `cage`,
    /// `estimate`. Lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub products: Option<Box<Products>>,
    /// How many steps of the plan are done.
    pub steps_done: u32,
    /// The number of the checkpoint at which it stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<SnapshotView>,
    /// Why the last snapshot that somebody asked for could not be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputView>,
    /// What of its inputs it removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// What it only rehearsed, and is being done because a reviewer said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub performing: Vec<ActionId>,
    /// How much of that was done.
    #[serde(default)]
    pub performed: u32,
    /// Whether everything it used was removed.
    pub destroyed: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    pub runs: Vec<RunView>,
    /// There may be more: ask again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// What the cages of a run were refused, and what people said to it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WishList {
    #[schema(value_type = String)]
    pub run: RunId,
    pub wishes: Vec<WishView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WishView {
    pub number: u32,
    /// What would be open: with a method `GET https://example.org:443/`, or a tunnel `unseen https://example.org:443/`.
    pub opening: String,
    /// The action whose cage asked first.
    #[schema(value_type = String)]
    pub action: ActionId,
    pub asked_at: String,
    /// `WAITING`, `GRANTED`, `EXPIRED`, `REJECTED` or `REVOKED`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The same reason as a code with parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<StatusReason>,
    /// What `If-Match` names to grant it.
    #[schema(value_type = String)]
    pub review: Digest,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantRequest {
    /// For how long; an hour if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
}
