//! What happened to a run. Each event is one ledger entry and at most one lawful transition.

use serde::{Deserialize, Serialize};

use super::call::{CallCount, ModelCall};
use super::gate::GateKind;
use super::hosting::{Hosting, Output};
use super::mode::Posture;
use crate::approval::Width;
use crate::budget::{Amounts, Ceiling, Purpose, Resource};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::planning::Product;
use crate::project::Separation;
use crate::proposal::{Opening, ToolName};
use crate::scope::Scope;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum RunEvent {
    Created {
        project: ProjectId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<RunId>,
        separation: Separation,
        goal: String,
        scope: Box<Scope>,
        scope_version: Digest,
        #[serde(default, skip_serializing_if = "Posture::is_usual")]
        posture: Posture,
        #[serde(default, skip_serializing_if = "Hosting::is_external")]
        hosting: Hosting,
        agent: IdentityId,
        agent_lineage: Lineage,
        created_by: Option<IdentityId>,
        /// Ancestors of the creator.
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        creator_lineage: Lineage,
    },
    /// What a step of planning led to.
    Prepared {
        product: Product,
    },
    BudgetSet {
        ceiling: Ceiling,
        warn_at_percent: u8,
    },
    Submitted {
        plan: Vec<String>,
        by: Option<IdentityId>,
        /// Ancestors of the plan's author.
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        lineage: Lineage,
    },
    PlanApproved {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    /// The reviewer who approved the plan was revoked before the run was started. The plan waits for approval again.
    PlanApprovalVoided {
        reason: String,
    },
    PlanRejected {
        reason: String,
    },
    Started,
    Hosted {
        worker: IdentityId,
    },
    /// Its host was given a fresh credential for the agent; the one before stopped working.
    Equipped,
    Attached,
    StepFinished {
        step: u32,
        summary: String,
    },
    GateReached {
        #[serde(default = "asked_for")]
        kind: GateKind,
        summary: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<ActionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<Resource>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finishes: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passes_at: Option<Timestamp>,
    },
    GatePassed {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Vec<String>>,
    },
    /// Nobody looked for as long as was agreed.
    GateLapsed,
    /// The action that it waited for needs no decision any more, one way or the other.
    GateSettled {
        action: ActionId,
        executes: bool,
        /// No reviewer had a say in it: it was taken back, or the policy changed.
        #[serde(default, skip_serializing_if = "is_false")]
        unseen: bool,
    },
    /// Nobody decided in time on the action that it waited for. It waits for a person still.
    GateUnanswered {
        action: ActionId,
        summary: String,
    },
    /// Another action stands in the place of the one that it waits for.
    GateMoved {
        action: ActionId,
    },
    GateRejected {
        reason: String,
    },
    /// A question of its agent was not taken, because too many wait. Said once in a while.
    Overasked {
        undecided: u64,
    },
    Paused {
        reason: String,
    },
    /// There is not enough left of something to go on.
    Exhausted {
        resource: Resource,
        reason: String,
    },
    Resumed,
    /// Every open action of the run waits for people: its clock is stopped.
    WaitingForPeople,
    /// An action of the run is in progress again, or none waits: its clock may run.
    WaitingOver,
    /// Everything was stopped while it was at work: its clock stands still.
    Halted,
    /// Everything may go on, and its clock with it.
    Released,
    RolledBack {
        to: u32,
        reason: String,
    },
    SnapshotAsked {
        reason: String,
    },
    SnapshotKept {
        number: u32,
        workspace: Digest,
        memory: Digest,
        files: u64,
        size_bytes: u64,
    },
    /// What somebody asked for could not be done; the run goes on without it.
    SnapshotFailed {
        reason: String,
    },
    /// There are enough newer ones. That they were is not forgotten.
    SnapshotsForgotten {
        numbers: Vec<u32>,
    },
    Restored {
        number: u32,
    },
    Held {
        purpose: Purpose,
        amounts: Amounts,
    },
    Settled {
        purpose: Purpose,
        spent: Amounts,
    },
    /// The cage of an action was refused something that a person could allow.
    NetworkWished {
        number: u32,
        opening: Opening,
        action: ActionId,
    },
    /// A person allowed it for this run, until then.
    NetworkGranted {
        number: u32,
        seen: Digest,
        until: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    NetworkRejected {
        number: u32,
        reason: String,
    },
    /// What was allowed is not any more.
    NetworkRevoked {
        number: u32,
        reason: String,
    },
    /// A person said yes to actions of this class beforehand, so many times and until then.
    OrderGiven {
        number: u32,
        /// The action it was given on, and what its reviewer was shown of it.
        action: ActionId,
        seen: Digest,
        tool: ToolName,
        width: Width,
        class: Digest,
        policy: Digest,
        giver: IdentityId,
        /// The digest of the giver's token.
        token: Digest,
        until: Timestamp,
        times: u32,
    },
    /// By it this action was approved.
    OrderUsed {
        number: u32,
        action: ActionId,
    },
    OrderRevoked {
        number: u32,
        reason: String,
    },
    /// Its agent called a language model.
    Called {
        purpose: Purpose,
        call: Box<ModelCall>,
    },
    /// Its agent made calls that are not recorded one by one.
    CallsCounted {
        count: CallCount,
    },
    Finished {
        summary: String,
    },
    Collected {
        outputs: Vec<Output>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
    /// Something that it only rehearsed is to be done.
    Performing {
        action: ActionId,
    },
    /// That is over, one way or the other.
    Performed {
        action: ActionId,
        /// Whether anything of it was started.
        ran: bool,
    },
    ResultsApproved {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exported: Option<Vec<u32>>,
    },
    ResultsRejected {
        reason: String,
    },
    Failed {
        reason: String,
    },
    Cancelled {
        reason: String,
    },
    Destroyed,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What a checkpoint was before there were kinds of them.
const fn asked_for() -> GateKind {
    GateKind::Step
}

impl RunEvent {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "run.created",
            Self::Prepared { product } => product.kind(),
            Self::BudgetSet { .. } => "run.budget_set",
            Self::Submitted { .. } => "run.submitted",
            Self::PlanApproved { .. } => "run.plan_approved",
            Self::PlanApprovalVoided { .. } => "run.plan_approval_voided",
            Self::PlanRejected { .. } => "run.plan_rejected",
            Self::Started => "run.started",
            Self::Hosted { .. } => "run.hosted",
            Self::Equipped => "run.equipped",
            Self::Attached => "run.attached",
            Self::StepFinished { .. } => "run.step_finished",
            Self::GateReached { .. } => "run.checkpoint_reached",
            Self::GatePassed { .. } => "run.checkpoint_passed",
            Self::GateLapsed => "run.checkpoint_lapsed",
            Self::GateSettled { .. } => "run.checkpoint_settled",
            Self::GateUnanswered { .. } => "run.checkpoint_unanswered",
            Self::GateMoved { .. } => "run.checkpoint_moved",
            Self::GateRejected { .. } => "run.checkpoint_rejected",
            Self::Overasked { .. } => "run.overasked",
            Self::Paused { .. } => "run.paused",
            Self::Exhausted { .. } => "run.exhausted",
            Self::Resumed => "run.resumed",
            Self::WaitingForPeople => "run.waiting_for_people",
            Self::WaitingOver => "run.waiting_over",
            Self::Halted => "run.halted",
            Self::Released => "run.released",
            Self::RolledBack { .. } => "run.rolled_back",
            Self::SnapshotAsked { .. } => "run.snapshot_asked",
            Self::SnapshotFailed { .. } => "run.snapshot_failed",
            Self::SnapshotsForgotten { .. } => "run.snapshots_forgotten",
            Self::SnapshotKept { .. } => "run.snapshot_kept",
            Self::Restored { .. } => "run.restored",
            Self::Held { .. } => "run.held",
            Self::Settled { .. } => "run.settled",
            Self::NetworkWished { .. } => "run.network_wished",
            Self::NetworkGranted { .. } => "run.network_granted",
            Self::NetworkRejected { .. } => "run.network_rejected",
            Self::NetworkRevoked { .. } => "run.network_revoked",
            Self::OrderGiven { .. } => "run.order_given",
            Self::OrderUsed { .. } => "run.order_used",
            Self::OrderRevoked { .. } => "run.order_revoked",
            Self::Called { .. } => "run.model_called",
            Self::CallsCounted { .. } => "run.calls_counted",
            Self::Finished { .. } => "run.finished",
            Self::Collected { .. } => "run.collected",
            Self::Performing { .. } => "run.performing",
            Self::Performed { .. } => "run.performed",
            Self::ResultsApproved { .. } => "run.completed",
            Self::ResultsRejected { .. } => "run.results_rejected",
            Self::Failed { .. } => "run.failed",
            Self::Cancelled { .. } => "run.cancelled",
            Self::Destroyed => "run.destroyed",
        }
    }
}
