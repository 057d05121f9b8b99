//! What happened to an action. Each event is one ledger entry.
//!
//! Events carry digests, not contents: the ledger is kept for years and shown to strangers, arguments and outputs are not.

use serde::{Deserialize, Serialize};

use super::amend::Amendment;
use super::command::Resolution;
use super::state::ActionStatus;
use crate::approval::Approval;
use crate::audit_status::AuditStatus;
use crate::digest::Digest;
use crate::event_meta::{EventMeta, Metric, Phase};
use crate::evidence::{Exit, Usage};
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::notice::NoticeKind;
use crate::policy::{Ruling, Tier, Verdict};
use crate::proposal::{ActionKind, ToolName};
use crate::reason::StatusReason;
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
        reason: StatusReason,
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
        reason: StatusReason,
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
    /// Metadata of the event: the one place where a new event is declared, besides `evolve`.
    pub fn meta(&self) -> EventMeta {
        let meta = self.declared();
        match self.status_after() {
            Some(status) => meta.metric(Metric::Status { status, by_person: self.is_decided_by_person() }),
            None => meta,
        }
    }

    fn declared(&self) -> EventMeta {
        match self {
            Self::Proposed { digest, kind, .. } => EventMeta::new("action.proposed").action_kind(*kind).input(*digest),
            Self::Judged { verdict, deadline, .. } => {
                let meta = EventMeta::new("action.judged").status(AuditStatus::Judged { tier: verdict.tier() });
                match verdict.tier() {
                    tier @ (Tier::B | Tier::C) => {
                        meta.opens(&[Phase::Approval]).notice(NoticeKind::Action).tier(tier).until(*deadline)
                    }
                    Tier::A => meta,
                    Tier::D => meta.ends(),
                }
            }
            Self::Rehearsed => EventMeta::new("action.rehearsed").status(AuditStatus::Rehearsed).ends(),
            Self::ToBePerformed { reviewer, deadline, .. } => EventMeta::new("action.to_be_performed")
                .decided_by(AuditStatus::ToBePerformed, *reviewer)
                .notice(NoticeKind::Action)
                .until(*deadline),
            Self::Approved { approval, complete } => {
                let status = match approval.order {
                    Some(order) => AuditStatus::ApprovedByOrder { order },
                    None if *complete => AuditStatus::Approved,
                    None => AuditStatus::ApprovedInPart,
                };
                let closes: &[Phase] = if *complete { &[Phase::Approval] } else { &[] };
                EventMeta::new("action.approved").decided_by(status, approval.reviewer).closes(closes)
            }
            Self::ApprovalsVoided { of, deadline, .. } => EventMeta::new("action.approvals_voided")
                .decided_by(AuditStatus::ApprovalVoid, *of)
                .notice(NoticeKind::Action)
                .until(*deadline),
            Self::Rejected { reviewer, .. } => EventMeta::new("action.rejected")
                .closes(&[Phase::Approval])
                .ends()
                .decided_by(AuditStatus::Rejected, *reviewer),
            Self::Superseded { reviewer, .. } => EventMeta::new("action.superseded")
                .closes(&[Phase::Approval])
                .ends()
                .decided_by(AuditStatus::Amended, *reviewer),
            Self::Withdrawn { .. } => EventMeta::new("action.withdrawn").closes(&[Phase::Approval]).ends(),
            Self::Leased { .. } => EventMeta::new("job.leased").opens(&[Phase::Job]),
            Self::Redeemed { digest, .. } => EventMeta::new("permit.redeemed").input(*digest),
            Self::Renewed { .. } => EventMeta::new("job.renewed"),
            Self::Completed { executed, evidence, usage, .. } => EventMeta::new("job.completed")
                .closes(&[Phase::Job])
                .ends()
                .input(*executed)
                .output(*evidence)
                .metric(Metric::Usage(*usage)),
            Self::Quarantined { evidence, .. } => {
                EventMeta::new("evidence.quarantined").closes(&[Phase::Job]).output(*evidence)
            }
            Self::LeaseLapsed { started, .. } => EventMeta::new("job.lease_lapsed")
                .closes(&[Phase::Job])
                .notice(if *started { NoticeKind::Interrupted } else { NoticeKind::Worker }),
            Self::DeadlineLapsed => {
                EventMeta::new("action.expired").closes(&[Phase::Approval]).ends().status(AuditStatus::Expired)
            }
            Self::Postponed { .. } => EventMeta::new("action.postponed"),
            Self::Resolved { resolution: Resolution::Abandon, .. } => EventMeta::new("action.resolved").ends(),
            Self::Resolved { resolution: Resolution::Retry, .. } => EventMeta::new("action.resolved"),
            // Only the assignee is notified: the others were when the question was asked.
            Self::Assigned { to: Some(to), .. } => {
                EventMeta::new("action.assigned").status(AuditStatus::Assigned { to: *to }).notice(NoticeKind::Assigned)
            }
            Self::Assigned { to: None, .. } => EventMeta::new("action.assigned").status(AuditStatus::Unassigned),
            Self::Deferred { until, .. } => {
                let status = if until.is_some() { AuditStatus::Snoozed } else { AuditStatus::Unsnoozed };
                EventMeta::new("action.deferred").status(status)
            }
        }
    }

    /// Whether a person decided, and not a standing order at once.
    fn is_decided_by_person(&self) -> bool {
        let approved = matches!(self, Self::Approved { approval, .. } if approval.order.is_none());
        approved || matches!(self, Self::Rejected { .. })
    }

    /// Status that the action reaches, if the event alone determines it and it is a new one.
    fn status_after(&self) -> Option<ActionStatus> {
        Some(match self {
            Self::Judged { verdict, .. } => match verdict.ruling() {
                Ruling::Allow => ActionStatus::Approved,
                Ruling::Ask { .. } => ActionStatus::PendingApproval,
                Ruling::Deny => ActionStatus::Denied,
            },
            Self::Approved { complete: true, .. } | Self::LeaseLapsed { started: false, .. } => ActionStatus::Approved,
            Self::ApprovalsVoided { .. } => ActionStatus::PendingApproval,
            Self::Rehearsed => ActionStatus::Rehearsed,
            Self::Rejected { .. } => ActionStatus::Rejected,
            Self::Superseded { .. } => ActionStatus::Superseded,
            Self::Withdrawn { .. } => ActionStatus::Withdrawn,
            Self::DeadlineLapsed => ActionStatus::Expired,
            Self::Leased { .. } => ActionStatus::Leased,
            Self::Redeemed { .. } => ActionStatus::Executing,
            Self::Completed { exit, .. } if exit.is_success() => ActionStatus::Succeeded,
            Self::Completed { .. } => ActionStatus::Failed,
            Self::LeaseLapsed { started: true, .. } => ActionStatus::Interrupted,
            Self::Resolved { resolution: Resolution::Abandon, .. } => ActionStatus::Abandoned,
            Self::Proposed { .. }
            | Self::Approved { complete: false, .. }
            | Self::ToBePerformed { .. }
            | Self::Renewed { .. }
            | Self::Postponed { .. }
            | Self::Quarantined { .. }
            | Self::Assigned { .. }
            | Self::Deferred { .. }
            // The status follows from the verdict; it is counted when the action is judged or decided again.
            | Self::Resolved { resolution: Resolution::Retry, .. } => return None,
        })
    }
}
