//! What the stranger's check found.

use std::fmt;

use crate::id::{ActionId, IdentityId};
use crate::refusal::PasskeyFlaw;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Approvals that a passkey signed, each checked.
    pub signed: u64,
    /// Changes of doors that a passkey signed, each checked.
    pub doors: u64,
    /// How often the host ended somebody's passkeys, without a signature: nothing is wrong with it, and a reader wants to know.
    pub ended_on_host: u64,
    pub findings: Vec<Finding>,
}

/// Something that a passkey should have signed and did not, that nobody might do, or that too few people approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {what} {wrong}")]
pub struct Finding {
    pub seq: u64,
    pub what: What,
    pub wrong: Wrong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Approval {
        action: ActionId,
        reviewer: IdentityId,
    },
    Door {
        of: IdentityId,
        change: &'static str,
    },
    /// Something else that happened to somebody.
    Person {
        of: IdentityId,
        kind: &'static str,
    },
    /// That an action may be executed.
    Permission {
        action: ActionId,
        kind: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It had to be signed, and nothing says that it was.
    Unsigned,
    /// It says that it was signed, and it was not, or otherwise.
    False(PasskeyFlaw),
    /// Of or by somebody who was never registered, or was revoked.
    Nobody,
    /// By somebody who may not do it.
    MayNot,
    /// Fewer people approved it than were asked, or it was over.
    Unapproved,
    /// It is about something else than was proposed.
    OtherBytes,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approval { action, reviewer } => write!(f, "the approval of {action} by {reviewer}"),
            Self::Door { of, change } => write!(f, "the change of a door of {of} ({change})"),
            Self::Person { of, kind } => write!(f, "`{kind}` of {of}"),
            Self::Permission { action, kind } => write!(f, "`{kind}` of {action}"),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("is not signed by a passkey, and had to be"),
            Self::False(flaw) => write!(f, "is not signed as it says: {flaw}"),
            Self::Nobody => f.write_str("is of or by somebody who was never registered, or was revoked"),
            Self::MayNot => f.write_str("is by somebody who may not do it"),
            Self::OtherBytes => f.write_str("is about other bytes than were proposed"),
            Self::Unapproved => f.write_str("comes before as many people approved it as had to"),
        }
    }
}
