//! The twelve states of a run and what is known of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::project::Separation;
use crate::scope::Scope;

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
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that is known of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub project: ProjectId,
    pub goal: String,
    pub plan: Vec<String>,
    pub scope: Scope,
    pub agent: IdentityId,
    pub agent_lineage: Lineage,
    pub created_by: Option<IdentityId>,
    /// Who wrote the plan that stands now.
    pub submitted_by: Option<IdentityId>,
    pub separation: Separation,
    pub status: RunStatus,
    /// Where a pause interrupted it, so that a resume goes back there.
    pub paused_from: Option<RunStatus>,
    /// How often it has stood still for a person: each plan, each checkpoint, each set of results.
    pub standstills: u32,
    /// What was said at the last of them.
    pub said: Option<String>,
    /// The last word of why it stands where it stands.
    pub because: Option<String>,
}

impl Run {
    /// What a person approves where the run stands still: the plan, a checkpoint or the results, and which standstill of
    /// this run it is. A yes to one of them is never a yes to another.
    pub fn review(&self) -> Digest {
        let seen = serde_json::json!({
            "run": self.id, "goal": self.goal, "plan": self.plan, "scope": self.scope.version(), "agent": self.agent,
            "status": self.status, "standstill": self.standstills, "said": self.said,
        });
        Digest::of(&canonical::to_bytes(&seen))
    }
}
