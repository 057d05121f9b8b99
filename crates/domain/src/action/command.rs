//! What agents, people, workers and the clockwork may ask of an action.

use serde::{Deserialize, Serialize};

use crate::approval::Extent;
use crate::digest::Digest;
use crate::evidence::Evidence;
use crate::id::{ActionId, IdentityId};
use crate::identity::Identity;
use crate::passkey::Proof;
use crate::permit::Signed;
use crate::policy::Verdict;
use crate::proposal::Action;
use crate::time::Timestamp;

/// What a person decides about an interrupted action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It is safe to run it again.
    Retry,
    /// It is not, or no longer wanted.
    Abandon,
}

/// What a reviewer made of an action: sealed and judged like a proposal.
#[derive(Debug, Clone)]
pub struct Amended {
    /// Under which id it stands from now on.
    pub id: ActionId,
    pub action: Action,
    pub verdict: Verdict,
}

#[derive(Debug, Clone)]
pub enum ActionCommand {
    Propose {
        action: Box<Action>,
        verdict: Verdict,
        advice: Option<Digest>,
    },
    Approve {
        seen: Digest,
        /// That a passkey of the reviewer signed it.
        proof: Option<Box<Proof>>,
    },
    /// Approves it, and others of its class in this run until then.
    GiveOrder {
        seen: Digest,
        /// The sealed bytes, of which the class is computed.
        action: Box<Action>,
        extent: Extent,
    },
    /// Approves something else in its place.
    Amend {
        seen: Digest,
        reason: String,
        amended: Box<Amended>,
    },
    Reject {
        seen: Digest,
        reason: String,
    },
    Withdraw {
        reason: String,
    },
    /// What was only rehearsed is done after all, as it was shown.
    Perform {
        seen: Digest,
        /// What the policy in force says of it now.
        verdict: Verdict,
    },
    /// The policy changed: the old verdict, and every approval of it, is void.
    Rejudge {
        verdict: Verdict,
    },
    Lease {
        worker: IdentityId,
    },
    Redeem {
        permit: Signed,
    },
    Heartbeat {
        attempt: u32,
    },
    Complete {
        evidence: Box<Evidence>,
    },
    Resolve {
        resolution: Resolution,
        reason: String,
    },
    /// Names who should look at it; nobody takes that back.
    Assign {
        to: Option<Box<Identity>>,
        note: String,
    },
    /// Sets it aside for whoever asks until then; no time brings it back.
    Defer {
        until: Option<Timestamp>,
    },
    /// The clockwork noticed that a deadline or a lease ran out.
    Lapse,
}

impl ActionCommand {
    /// Whether work begins or goes on by it.
    pub const fn goes_on(&self) -> bool {
        match self {
            Self::Propose { .. }
            // A yes only waits; an amendment puts something there that was not, like a proposal.
            | Self::Amend { .. }
            // What lets others pass unseen is not given while everything stands still.
            | Self::GiveOrder { .. }
            | Self::Lease { .. }
            | Self::Redeem { .. }
            | Self::Heartbeat { .. } => true,
            Self::Approve { .. }
            | Self::Reject { .. }
            | Self::Withdraw { .. }
            | Self::Perform { .. }
            | Self::Rejudge { .. }
            | Self::Complete { .. }
            | Self::Resolve { .. }
            | Self::Assign { .. }
            | Self::Defer { .. }
            | Self::Lapse => false,
        }
    }

    /// Checks whether this command can start or end the action's wait for people.
    pub const fn may_move(&self) -> bool {
        match self {
            Self::Propose { .. }
            | Self::Approve { .. }
            | Self::GiveOrder { .. }
            | Self::Amend { .. }
            | Self::Reject { .. }
            | Self::Withdraw { .. }
            | Self::Perform { .. }
            | Self::Rejudge { .. }
            | Self::Lease { .. }
            | Self::Redeem { .. }
            | Self::Complete { .. }
            | Self::Resolve { .. }
            | Self::Lapse => true,
            Self::Heartbeat { .. } | Self::Assign { .. } | Self::Defer { .. } => false,
        }
    }

    /// What a passkey of whoever asks signed, if one did.
    pub fn proof(&self) -> Option<&Proof> {
        let Self::Approve { proof, .. } = self else { return None };
        proof.as_deref()
    }

    /// Whether somebody says yes by it, so that it matters which passkeys they have at that moment.
    pub const fn says_yes(&self) -> bool {
        match self {
            Self::Approve { .. }
            | Self::GiveOrder { .. }
            | Self::Amend { .. }
            | Self::Perform { .. }
            | Self::Resolve { .. } => true,
            Self::Propose { .. }
            | Self::Reject { .. }
            | Self::Withdraw { .. }
            | Self::Rejudge { .. }
            | Self::Lease { .. }
            | Self::Redeem { .. }
            | Self::Heartbeat { .. }
            | Self::Complete { .. }
            | Self::Assign { .. }
            | Self::Defer { .. }
            | Self::Lapse => false,
        }
    }

    /// What it would put there that is not there yet: what an agent proposes, or what a reviewer makes of that.
    pub fn brings(&self) -> Option<&Action> {
        match self {
            Self::Propose { action, .. } => Some(action),
            Self::Amend { amended, .. } => Some(&amended.action),
            Self::Approve { .. }
            | Self::GiveOrder { .. }
            | Self::Reject { .. }
            | Self::Withdraw { .. }
            | Self::Perform { .. }
            | Self::Rejudge { .. }
            | Self::Lease { .. }
            | Self::Redeem { .. }
            | Self::Heartbeat { .. }
            | Self::Complete { .. }
            | Self::Resolve { .. }
            | Self::Assign { .. }
            | Self::Defer { .. }
            | Self::Lapse => None,
        }
    }

    /// The id of what it would put in the action's place.
    pub fn successor(&self) -> Option<ActionId> {
        let Self::Amend { amended, .. } = self else { return None };
        Some(amended.id)
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal, $participle:literal;)*) => {
        /// The kind of a command, without what it carries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ActionCommandKind { $($variant),* }

        impl ActionCommandKind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub(super) const fn participle(self) -> &'static str {
                match self { $(Self::$variant => $participle,)* }
            }
        }

        impl ActionCommand {
    pub const fn kind(&self) -> ActionCommandKind {
                match self { $(Self::$variant { .. } => ActionCommandKind::$variant,)* }
            }
        }
    };
}

kinds! {
    Propose = "propose", "proposed";
    Approve = "approve", "approved";
    GiveOrder = "give-order", "approved with an order";
    Amend = "amend", "amended";
    Reject = "reject", "rejected";
    Withdraw = "withdraw", "withdrawn";
    Perform = "perform", "performed";
    Rejudge = "rejudge", "judged again";
    Lease = "lease", "leased";
    Redeem = "redeem", "started";
    Heartbeat = "heartbeat", "kept alive";
    Complete = "complete", "completed";
    Resolve = "resolve", "resolved";
    Assign = "assign", "assigned";
    Defer = "defer", "set aside";
    Lapse = "lapse", "let lapse";
}
