//! What happened to an action. Each event is one ledger entry.
//!
//! Events carry digests, not contents: the ledger is kept for years and shown to strangers, arguments and outputs are not.

use serde::{Deserialize, Serialize};

use super::amend::Amendment;
use super::command::Resolution;
use crate::approval::Approval;
use crate::digest::Digest;
use crate::evidence::{Exit, Usage};
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::policy::Verdict;
use crate::proposal::{ActionKind, ToolName};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum ActionEvent {
    Proposed {
        project: ProjectId,
        run: RunId,
        digest: Digest,
        tool: ToolName,
        kind: ActionKind,
        /// The most pages that it may visit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pages: Option<u64>,
        /// Whether somebody outside of the run's workspace may notice it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reaches_others: bool,
        proposer: IdentityId,
        proposer_lineage: Lineage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<Digest>,
        /// What it replaces, if a reviewer made it of something else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amendment: Option<Amendment>,
        /// How often its run had been rolled back: what was proposed before that is void.
        #[serde(default, skip_serializing_if = "is_none_yet")]
        rollbacks: u32,
        /// What would be done, whoever wants it: the same for actions that are identical to a person. Older entries do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deed: Option<Digest>,
    },
    Judged {
        verdict: Verdict,
        review: Digest,
        deadline: Timestamp,
    },
    /// The run only shows what it would do: it is kept as it is, and not executed as long as nobody says so.
    Rehearsed,
    /// A reviewer wants what was rehearsed to be done; where its tier says so, others must too.
    ToBePerformed {
        reviewer: IdentityId,
        review: Digest,
        deadline: Timestamp,
    },
    Approved {
        approval: Approval,
        /// Whether this was the last approval that was missing.
        complete: bool,
    },
    /// An identity that approved the action, or had it performed or retried, was revoked before the start. Its decisions are void.
    ApprovalsVoided {
        of: IdentityId,
        reason: String,
        deadline: Timestamp,
    },
    Rejected {
        reviewer: IdentityId,
        review: Digest,
        reason: String,
    },
    /// A reviewer made another action of it, which stands in its place.
    Superseded {
        reviewer: IdentityId,
        review: Digest,
        by: ActionId,
        reason: String,
    },
    Withdrawn {
        reason: String,
    },
    Leased {
        worker: IdentityId,
        attempt: u32,
        expires_at: Timestamp,
    },
    Redeemed {
        worker: IdentityId,
        attempt: u32,
        digest: Digest,
        expires_at: Timestamp,
    },
    Renewed {
        attempt: u32,
        expires_at: Timestamp,
    },
    Completed {
        attempt: u32,
        executed: Digest,
        evidence: Digest,
        exit: Exit,
        usage: Usage,
    },
    /// A result that came too late: kept, marked, and without effect.
    Quarantined {
        worker: IdentityId,
        attempt: u32,
        evidence: Digest,
    },
    LeaseLapsed {
        attempt: u32,
        started: bool,
    },
    DeadlineLapsed,
    /// The deadline passed while no worker was free. The action can be leased until the new deadline.
    Postponed {
        deadline: Timestamp,
    },
    Resolved {
        resolution: Resolution,
        reason: String,
        deadline: Timestamp,
        /// Reviewer who decided. `None` in older entries, which did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    /// Somebody named who should look at it, or takes that back.
    Assigned {
        by: IdentityId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<IdentityId>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Somebody set it aside for themselves, or takes that back.
    Deferred {
        by: IdentityId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_none_yet(count: &u32) -> bool {
    *count == 0
}

impl ActionEvent {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Proposed { .. } => "action.proposed",
            Self::Judged { .. } => "action.judged",
            Self::Rehearsed => "action.rehearsed",
            Self::ToBePerformed { .. } => "action.to_be_performed",
            Self::Approved { .. } => "action.approved",
            Self::ApprovalsVoided { .. } => "action.approvals_voided",
            Self::Rejected { .. } => "action.rejected",
            Self::Superseded { .. } => "action.superseded",
            Self::Withdrawn { .. } => "action.withdrawn",
            Self::Leased { .. } => "job.leased",
            Self::Redeemed { .. } => "permit.redeemed",
            Self::Renewed { .. } => "job.renewed",
            Self::Completed { .. } => "job.completed",
            Self::Quarantined { .. } => "evidence.quarantined",
            Self::LeaseLapsed { .. } => "job.lease_lapsed",
            Self::DeadlineLapsed => "action.expired",
            Self::Postponed { .. } => "action.postponed",
            Self::Resolved { .. } => "action.resolved",
            Self::Assigned { .. } => "action.assigned",
            Self::Deferred { .. } => "action.deferred",
        }
    }
}
