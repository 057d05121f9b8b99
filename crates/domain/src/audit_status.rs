//! Status of an audit row: what an entry did to a decision, as a code with parameters. `Display` renders it in English.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::IdentityId;
use crate::policy::Tier;
use crate::run::CallOutcome;

/// What an entry did to a decision, as the audit trail shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case", deny_unknown_fields)]
pub enum AuditStatus {
    PlanApproved,
    PlanApprovalVoid,
    PlanRejected,
    CheckpointApproved,
    CheckpointLapsed,
    CheckpointRejected,
    ResultsApproved,
    ResultsRejected,
    OrderGiven,
    OrderRevoked,
    HostOpened,
    HostNotOpened,
    HostClosed,
    Judged { tier: Tier },
    Rehearsed,
    ToBePerformed,
    Approved,
    ApprovedInPart,
    ApprovedByOrder { order: u32 },
    ApprovalVoid,
    Rejected,
    Amended,
    Expired,
    Assigned { to: IdentityId },
    Unassigned,
    Snoozed,
    Unsnoozed,
    CallsCounted { calls: u64, outcome: CallOutcome, reason: String },
}

impl fmt::Display for AuditStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlanApproved => "plan approved",
            Self::PlanApprovalVoid => "approval of the plan void: its reviewer was revoked",
            Self::PlanRejected => "plan rejected",
            Self::CheckpointApproved => "checkpoint approved",
            Self::CheckpointLapsed => "checkpoint passed unseen, as agreed",
            Self::CheckpointRejected => "checkpoint rejected",
            Self::ResultsApproved => "results approved",
            Self::ResultsRejected => "results rejected",
            Self::OrderGiven => "order given",
            Self::OrderRevoked => "order revoked",
            Self::HostOpened => "host opened",
            Self::HostNotOpened => "host not opened",
            Self::HostClosed => "host closed again",
            Self::Rehearsed => "rehearsed",
            Self::ToBePerformed => "to be performed",
            Self::Approved => "approved",
            Self::ApprovedInPart => "approved in part",
            Self::ApprovalVoid => "approval void: its reviewer was revoked",
            Self::Rejected => "rejected",
            Self::Amended => "amended",
            Self::Expired => "expired",
            Self::Unassigned => "assigned to nobody",
            Self::Snoozed => "snoozed",
            Self::Unsnoozed => "no longer snoozed",
            Self::Judged { tier } => return write!(f, "tier {tier}"),
            Self::ApprovedByOrder { order } => return write!(f, "approved by order {order}"),
            Self::Assigned { to } => return write!(f, "assigned to {to}"),
            Self::CallsCounted { calls, outcome, reason } => {
                return write!(f, "{calls} calls {}: {reason}", outcome.as_str());
            }
        })
    }
}
