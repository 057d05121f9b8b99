//! One question to people and its end: what it was about, how long it waited, who decided and how.

use std::fmt;

use crate::action::{ActionEvent, ActionState, ActionStatus, Amendment};
use crate::approval::Approval;
use crate::id::{ActionId, IdentityId, ProjectId};
use crate::policy::Tier;
use crate::proposal::ActionKind;
use crate::time::Timestamp;

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Somebody said yes; where two are asked, each of them is a decision.
    Approved,
    Rejected,
    /// A reviewer put something else in its place.
    Amended,
    /// Nobody decided in time.
    Expired,
    /// It was taken back before anybody decided.
    Withdrawn,
}

impl Outcome {
    pub const ALL: &[Self] = &[Self::Approved, Self::Rejected, Self::Amended, Self::Expired, Self::Withdrawn];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Amended => "amended",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|outcome| outcome.as_str() == name)
    }

    /// Whether a person decided it; the others are no decision, and how long they waited says nothing of people who decide.
    pub const fn is_decided(self) -> bool {
        match self {
            Self::Approved | Self::Rejected | Self::Amended => true,
            Self::Expired | Self::Withdrawn => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One end of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub at: Timestamp,
    pub asked_at: Timestamp,
    pub project: ProjectId,
    pub action: ActionId,
    /// Who decided; nobody, where nobody did.
    pub reviewer: Option<IdentityId>,
    pub tier: Tier,
    pub kind: ActionKind,
    pub outcome: Outcome,
    /// Given by the person behind the agent, where one person works alone.
    pub single_operator: bool,
}

impl Decision {
    pub fn waited_ms(&self) -> u64 {
        u64::try_from(self.at.unix_ms().saturating_sub(self.asked_at.unix_ms())).unwrap_or(0)
    }
}

/// The decision that an event is, if it is one. `before` is the action as it stood.
pub fn decision(before: &ActionState, event: &ActionEvent, at: Timestamp) -> Option<Decision> {
    let asked_at = before.asked_at.filter(|_| before.status == ActionStatus::PendingApproval)?;
    let (outcome, reviewer, single_operator) = ended(before, event, at)?;
    Some(Decision {
        at,
        asked_at,
        project: before.project,
        action: before.id,
        reviewer,
        tier: before.verdict.tier(),
        kind: before.kind,
        outcome,
        single_operator,
    })
}

fn ended(before: &ActionState, event: &ActionEvent, at: Timestamp) -> Option<(Outcome, Option<IdentityId>, bool)> {
    match event {
        ActionEvent::Approved { approval, .. } if is_part_of_amendment(before, approval, at) => None,
        // An order answered it: nobody was asked, and nobody decided now.
        ActionEvent::Approved { approval, .. } if approval.order.is_some() => None,
        ActionEvent::Approved { approval, .. } => {
            Some((Outcome::Approved, Some(approval.reviewer), approval.single_operator))
        }
        ActionEvent::Rejected { reviewer, .. } => Some((Outcome::Rejected, Some(*reviewer), false)),
        ActionEvent::Superseded { reviewer, .. } => Some((Outcome::Amended, Some(*reviewer), false)),
        ActionEvent::DeadlineLapsed => Some((Outcome::Expired, None, false)),
        ActionEvent::Withdrawn { .. } => Some((Outcome::Withdrawn, None, false)),
        ActionEvent::Proposed { .. }
        | ActionEvent::Judged { .. }
        | ActionEvent::Rehearsed
        | ActionEvent::ToBePerformed { .. }
        | ActionEvent::ApprovalsVoided { .. }
        | ActionEvent::Leased { .. }
        | ActionEvent::Redeemed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Completed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::LeaseLapsed { .. }
        | ActionEvent::Resolved { .. }
        | ActionEvent::Assigned { .. }
        | ActionEvent::Deferred { .. } => None,
    }
}

/// Whoever amends something says yes to it in the same breath: the first yes, unsigned, in the moment in which it is asked for the first
/// time. What they say later, to what they made, is a decision like any other: with a passkey, or when it is to be tried or done again.
fn is_part_of_amendment(before: &ActionState, approval: &Approval, at: Timestamp) -> bool {
    let amender = before.amendment.as_ref().and_then(Amendment::amender);
    let is_new = before.asked_at == Some(at) && before.attempt == 0 && !before.performing;
    amender == Some(approval.reviewer) && is_new && before.approvals.is_empty() && approval.signing.is_none()
}
