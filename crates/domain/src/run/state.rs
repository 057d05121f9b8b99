//! State of a run: the twelve states of its lifecycle, composed with the states of its facets.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::asking::AskingMarks;
use super::clock::WorkClock;
use super::gate::{Gate, GateCount};
use super::hosting::{HostState, Hosting};
use super::milestones::{Milestones, Standstill};
use super::mode::Posture;
use super::network::Network;
use super::orders::Order;
use super::rehearsal::Rehearsal;
use super::snapshots::Snapshots;
use crate::budget::{Budget, Resource};
use crate::canonical;
use crate::catalogue::Bounds;
use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::planning::Products;
use crate::project::Separation;
use crate::reason::StatusReason;
use crate::scope::Scope;
use crate::time::Timestamp;

macro_rules! statuses {
    ($($variant:ident = $name:literal: $meaning:literal, $hint:literal;)*) => {
        /// Where a run stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum RunStatus {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)*
        }

        impl RunStatus {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// What usually comes next, for whoever tried something else.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

statuses! {
    Draft = "DRAFT": "Being written.", "submit a plan first";
    PendingApproval = "PENDING_APPROVAL": "The plan waits for a person.", "a reviewer must decide on the plan";
    Approved = "APPROVED": "The plan is approved.", "start it";
    SpawningSandbox = "SPAWNING_SANDBOX": "Started; the agent is not here yet.", "its agent must attach";
    Executing = "EXECUTING": "The agent works.", "it is under way";
    CheckpointReached = "CHECKPOINT_REACHED": "Stands still until a person decides.", "a reviewer must decide on the checkpoint";
    Paused = "PAUSED": "Stopped by a person; can go on.", "resume it first";
    PendingExport = "PENDING_EXPORT": "Done; the results wait for a person.", "a reviewer must decide on the results";
    Completed = "COMPLETED": "The results were accepted.", "it is over; make a new run";
    Failed = "FAILED": "It could not go on.", "roll it back or make a new run";
    Cancelled = "CANCELLED": "Stopped for good by a person.", "it is over; make a new run";
    RolledBack = "ROLLED_BACK": "Returned to a snapshot; can go on.", "resume it first";
}

impl RunStatus {
    /// Whether the run is over for good.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }

    /// Whether waiting actions may still be decided: the run works or will work again.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Executing | Self::CheckpointReached | Self::Paused | Self::RolledBack)
    }

    /// True if the run can go back to a snapshot; from `RolledBack`, to another one than before.
    pub const fn can_roll_back(self) -> bool {
        matches!(
            self,
            Self::Executing
                | Self::CheckpointReached
                | Self::Paused
                | Self::PendingExport
                | Self::Failed
                | Self::RolledBack
        )
    }

    /// What it waits for until a person decides, if it is the run itself that waits.
    pub const fn awaits(self) -> Option<Awaits> {
        match self {
            Self::PendingApproval => Some(Awaits::Plan),
            Self::CheckpointReached => Some(Awaits::Checkpoint),
            Self::PendingExport => Some(Awaits::Results),
            Self::Draft
            | Self::Approved
            | Self::SpawningSandbox
            | Self::Executing
            | Self::Paused
            | Self::Completed
            | Self::Failed
            | Self::Cancelled
            | Self::RolledBack => None,
        }
    }
}

/// On what of a run a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    Plan,
    Checkpoint,
    Results,
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// State of a run. Facets keep their state in a field of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub project: ProjectId,
    /// The run that had it made and pays for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    pub goal: String,
    /// What planning led to, if it was planned from an intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<Box<Products>>,
    pub plan: Vec<String>,
    pub scope: Scope,
    /// When people are asked and how far actions go.
    #[serde(default, skip_serializing_if = "Posture::is_usual")]
    pub posture: Posture,
    pub agent: IdentityId,
    pub agent_lineage: Lineage,
    pub authors: Authors,
    pub separation: Separation,
    pub status: RunStatus,
    /// Where a pause interrupted it, so that a resume goes back there.
    pub paused_from: Option<RunStatus>,
    #[serde(default)]
    pub milestones: Milestones,
    /// How often it has stood still for a person: each plan, each checkpoint, each set of results.
    pub standstills: u32,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<Standstill>,
    /// Reason for the latest standstill.
    pub said: Option<StatusReason>,
    /// Reason for the current status.
    pub because: Option<StatusReason>,
    /// How many steps of the plan are done.
    #[serde(default)]
    pub steps_done: u32,
    /// What it may use up. Without one it is not limited, and nothing is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default)]
    pub clock: WorkClock,
    /// Where it stands still now, if that is at a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    #[serde(default)]
    pub gates: GateCount,
    /// When it was last let past a checkpoint: what was done since then is what the next one is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<Timestamp>,
    #[serde(default)]
    pub asking: AskingMarks,
    #[serde(default)]
    pub hosting: Hosting,
    #[serde(default)]
    pub host: HostState,
    #[serde(default)]
    pub snapshots: Snapshots,
    /// Plans that stood before this one, with the last snapshot that was taken under each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_plans: Vec<FormerPlan>,
    /// What it wanted more of than there was, if it stands still for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<Resource>,
    /// How often it was rolled back. What was proposed before is void after.
    #[serde(default)]
    pub rollbacks: u32,
    #[serde(default)]
    pub rehearsal: Rehearsal,
    #[serde(default)]
    pub network: Network,
    /// Standing approvals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<Order>,
}

/// Identities that wrote and approved what the run does now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Authors {
    pub created_by: Option<IdentityId>,
    #[serde(skip_serializing_if = "Lineage::is_empty")]
    pub creator_lineage: Lineage,
    /// Author of the current plan.
    pub submitted_by: Option<IdentityId>,
    #[serde(skip_serializing_if = "Lineage::is_empty")]
    pub submitter_lineage: Lineage,
    /// Reviewer who approved the current plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_approved_by: Option<IdentityId>,
}

/// A plan that was changed at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormerPlan {
    pub until_snapshot: u32,
    pub plan: Vec<String>,
}

impl Run {
    /// The plan that stood when a snapshot was taken, if another stands now.
    pub(super) fn plan_at(&self, snapshot: u32) -> Option<&Vec<String>> {
        self.former_plans.iter().find(|former| snapshot <= former.until_snapshot).map(|former| &former.plan)
    }

    /// Checks whether the working time is bounded. If it is not, waits for people are not recorded.
    pub fn bounds_time(&self) -> bool {
        self.budget.is_some() || self.posture.gates.every_ms.is_some()
    }

    /// What it cannot go on without.
    pub fn lacks(&self) -> Option<Resource> {
        let budget = self.budget.as_ref()?;
        budget.overdrawn().or_else(|| self.dry.filter(|resource| budget.left(*resource) == Some(0)))
    }

    /// What its agent is held to, if it was planned with one of the catalogue.
    pub fn bounds(&self) -> Option<Bounds> {
        self.products.as_deref()?.bounds()
    }

    /// What a person approves where the run stands still: the plan, a checkpoint or the results, and which standstill of
    /// this run it is. A yes to one of them is never a yes to another.
    pub fn review(&self) -> Digest {
        let seen = serde_json::json!({
            "run": self.id, "goal": self.goal, "products": self.products, "plan": self.plan, "scope": self.scope.version(),
            "agent": self.agent, "parent": self.parent,
            "posture": self.posture, "hosting": self.hosting, "ceiling": self.budget.as_ref().map(|budget| budget.ceiling),
            "warn_at_percent": self.budget.as_ref().map(|budget| budget.warn_at_percent),
            "status": self.status, "standstill": self.standstills, "said": self.said, "gate": self.gate,
            "outputs": self.host.outputs, "removed": self.host.removed, "rehearsal": self.rehearsal,
        });
        Digest::of(&canonical::to_bytes(&seen))
    }

    /// When the clockwork should look at it next.
    pub fn due(&self) -> Option<Timestamp> {
        match self.status {
            RunStatus::Executing => {
                [self.time_gate_due(), self.wall_time_short(), self.wall_time_gone()].into_iter().flatten().min()
            }
            RunStatus::CheckpointReached => self.gate.as_ref().and_then(|gate| gate.passes_at),
            RunStatus::Draft
            | RunStatus::PendingApproval
            | RunStatus::Approved
            | RunStatus::SpawningSandbox
            | RunStatus::Paused
            | RunStatus::PendingExport
            | RunStatus::Completed
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::RolledBack => None,
        }
    }

    pub(super) fn time_gate_due(&self) -> Option<Timestamp> {
        let every_ms = self.posture.gates.every_ms?;
        self.clock.reaches(self.clock.worked_ms_at_gate.saturating_add(every_ms))
    }

    /// When so much of its time is used that a person is asked, if none was.
    pub(super) fn wall_time_short(&self) -> Option<Timestamp> {
        let left_ms = self.budget.as_ref()?.asks_first_in(Resource::WallMs)?;
        Some(self.clock.since?.plus_ms(left_ms))
    }

    pub(super) fn wall_time_gone(&self) -> Option<Timestamp> {
        let left_ms = self.budget.as_ref()?.left(Resource::WallMs)?;
        Some(self.clock.since?.plus_ms(left_ms))
    }
}
