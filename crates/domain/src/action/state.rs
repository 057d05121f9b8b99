//! Where an action stands and what is known of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::amend::Amendment;
use super::attention::Attention;
use crate::approval::Approval;
use crate::canonical;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::policy::{Tier, Verdict};
use crate::proposal::{ActionKind, ToolName};
use crate::reason::StatusReason;
use crate::time::Timestamp;

macro_rules! statuses {
    ($($variant:ident = $name:literal: $meaning:literal, $hint:literal;)*) => {
        /// Where an action stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ActionStatus {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)*
        }

        impl ActionStatus {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|status| status.as_str() == name)
            }
        }
    };
}

statuses! {
    PendingApproval = "PENDING_APPROVAL": "Waits for a person.", "a reviewer must decide first";
    Approved = "APPROVED": "May be taken up by a worker.", "a worker takes it up";
    Denied = "DENIED": "Refused by the policy.", "propose something the policy permits";
    Rehearsed = "REHEARSED": "Kept to be looked at; done only if a reviewer says so when the run has its results.", "look at what it would do";
    Rejected = "REJECTED": "Refused by a person.", "read the reason and propose something else";
    Expired = "EXPIRED": "Nobody decided or took it up in time.", "propose it again";
    Superseded = "SUPERSEDED": "Replaced by what a reviewer made of it.", "look at the action that replaced it";
    Withdrawn = "WITHDRAWN": "Taken back by its agent or an operator.", "propose it again";
    Leased = "LEASED": "A worker holds a permit for it.", "the worker is about to start it";
    Executing = "EXECUTING": "The permit was redeemed; it runs.", "wait for its evidence";
    Succeeded = "SUCCEEDED": "Done, with evidence.", "look at its evidence";
    Failed = "FAILED": "Ended badly, with evidence.", "look at its evidence";
    Interrupted = "INTERRUPTED": "Started, and then its worker was lost: nobody knows how far it got.", "a reviewer must decide whether to run it again";
    Abandoned = "ABANDONED": "Interrupted, and a person decided not to run it again.", "propose it again if it is still wanted";
}

impl ActionStatus {
    /// Whether nothing happens to it any more. What was rehearsed comes to life again only if a reviewer says so.
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Denied
                | Self::Rehearsed
                | Self::Rejected
                | Self::Expired
                | Self::Superseded
                | Self::Withdrawn
                | Self::Succeeded
                | Self::Failed
                | Self::Abandoned
        )
    }
}

impl fmt::Display for ActionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A worker's hold on an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    pub worker: IdentityId,
    pub expires_at: Timestamp,
}

/// All that is known of an action, except its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionState {
    pub id: ActionId,
    pub run: RunId,
    pub project: ProjectId,
    pub digest: Digest,
    pub tool: ToolName,
    pub kind: ActionKind,
    /// The most pages that it may visit, if its tool says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Whether somebody outside of the run's workspace may notice it, by its kind or because its program reaches others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_others: bool,
    pub proposer: IdentityId,
    pub proposer_lineage: Lineage,
    /// The digest of the agent's own words, kept beside the action.
    pub advice: Option<Digest>,
    /// What it replaces, if a reviewer made it of something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<Amendment>,
    /// How often its run had been rolled back when it was proposed.
    #[serde(default)]
    pub rollbacks: u32,
    /// What would be done, whoever wants it. Not said by older entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<Digest>,
    /// It was rehearsed first, and is done because a reviewer said so.
    #[serde(default)]
    pub performing: bool,
    /// Reviewer who had the action performed or retried. Where the policy asks for no approval, the action depends on this decision alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vouched_by: Option<IdentityId>,
    /// Attempt whose permit was voided before a worker redeemed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voided_attempt: Option<u32>,
    pub verdict: Verdict,
    pub(super) review: Digest,
    pub status: ActionStatus,
    /// Since when a person is asked, or was asked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    pub approvals: Vec<Approval>,
    /// Until when it may be decided, or taken up.
    pub deadline: Timestamp,
    /// Time at which the action was last approved; kept if the approval is voided. `None` until an approval is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
    /// How often it was leased; the number of the current attempt is the fencing token of all its reports.
    pub attempt: u32,
    /// Who held it, attempt by attempt.
    pub holders: Vec<IdentityId>,
    pub(super) lease: Option<Lease>,
    pub evidence: Option<Digest>,
    pub because: Option<StatusReason>,
    /// The action that stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<ActionId>,
    /// Who should look at it, and who set it aside. Beside the question: no approval is bound to it.
    #[serde(default, skip_serializing_if = "Attention::is_none")]
    pub attention: Attention,
}

impl ActionState {
    /// What a reviewer is asked to approve now.
    pub const fn review(&self) -> Digest {
        self.review
    }

    /// The hold of a worker, while there is one.
    pub const fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// Whether the worker holds or held this attempt.
    pub fn was_held_by(&self, worker: IdentityId, attempt: u32) -> bool {
        let index = usize::try_from(attempt).ok().and_then(|attempt| attempt.checked_sub(1));
        index.and_then(|index| self.holders.get(index)) == Some(&worker)
    }

    /// Whether a person said yes with their eyes on this very action, and not beforehand by an order.
    pub fn was_looked_at(&self) -> bool {
        self.approvals.iter().any(|approval| approval.order.is_none())
    }

    /// What it asks of people: the same for two actions of a project by which the same would be done, and about which somebody is asked for
    /// the same reasons. For whom it would be done does not matter.
    pub fn question(&self) -> Option<Digest> {
        let asked = (self.project, self.verdict.tier(), self.verdict.reasons(), self.deed?);
        Some(Digest::of(&canonical::to_bytes(&asked)))
    }

    /// What it asks, while it may be decided together with others that ask the same. Where two people are asked each is looked at by itself; so
    /// is one about which somebody said something, and what a reviewer made of another one: that is not everybody's to decide who could
    /// decide the others.
    pub fn shared_question(&self) -> Option<Digest> {
        let waits = self.status == ActionStatus::PendingApproval;
        let is_agents_own = self.attention.is_none() && self.amendment.is_none();
        let is_one_of_many = waits && self.verdict.tier() == Tier::B && is_agents_own;
        is_one_of_many.then(|| self.question()).flatten()
    }

    pub fn approvals_missing(&self) -> usize {
        self.verdict.tier().approvals_needed().map_or(0, |needed| needed.saturating_sub(self.approvals.len()))
    }
}
