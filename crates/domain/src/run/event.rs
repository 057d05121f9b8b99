//! What happened to a run. Each event is one ledger entry and one lawful transition.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId};
use crate::identity::Lineage;
use crate::project::Separation;
use crate::scope::Scope;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum RunEvent {
    Created {
        project: ProjectId,
        separation: Separation,
        goal: String,
        scope: Box<Scope>,
        scope_version: Digest,
        agent: IdentityId,
        agent_lineage: Lineage,
        created_by: Option<IdentityId>,
    },
    Submitted {
        plan: Vec<String>,
        by: Option<IdentityId>,
    },
    PlanApproved {
        seen: Digest,
        single_operator: bool,
    },
    PlanRejected {
        reason: String,
    },
    Started,
    Attached,
    GateReached {
        summary: String,
    },
    GatePassed {
        seen: Digest,
        single_operator: bool,
    },
    Paused {
        reason: String,
    },
    Resumed,
    RolledBack {
        snapshot: Digest,
    },
    Finished {
        summary: String,
    },
    ResultsApproved {
        seen: Digest,
        single_operator: bool,
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
}

impl RunEvent {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "run.created",
            Self::Submitted { .. } => "run.submitted",
            Self::PlanApproved { .. } => "run.plan_approved",
            Self::PlanRejected { .. } => "run.plan_rejected",
            Self::Started => "run.started",
            Self::Attached => "run.attached",
            Self::GateReached { .. } => "run.checkpoint_reached",
            Self::GatePassed { .. } => "run.checkpoint_passed",
            Self::Paused { .. } => "run.paused",
            Self::Resumed => "run.resumed",
            Self::RolledBack { .. } => "run.rolled_back",
            Self::Finished { .. } => "run.finished",
            Self::ResultsApproved { .. } => "run.completed",
            Self::ResultsRejected { .. } => "run.results_rejected",
            Self::Failed { .. } => "run.failed",
            Self::Cancelled { .. } => "run.cancelled",
        }
    }
}
