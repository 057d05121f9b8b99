//! APPROVE: an approval is a digest, not a yes.
//!
//! It covers the sealed action, the verdict with its policy version and reasons, and the version of the card on which the
//! server shows both. If any of them changes, the old approval is for something else. The agent's own words are not
//! covered, because they change nothing of what will be done.

mod asking;
mod class;

use serde::{Deserialize, Serialize};

pub use asking::{Asking, SenselessWindow};
pub use class::{BadWidth, Ground, Width, class, deed};

use crate::canonical;
use crate::digest::Digest;
use crate::id::IdentityId;
use crate::identity::Lineage;
use crate::passkey::Signing;
use crate::policy::Verdict;
use crate::time::Timestamp;

/// Raised whenever the card shows the same action differently: reviewers then approve anew what they now see.
const CARD_VERSION: u32 = 1;

/// What a reviewer is asked to approve.
pub fn review_digest(verdict: &Verdict) -> Digest {
    let seen = serde_json::json!({ "card": CARD_VERSION, "action": verdict.action(), "verdict": verdict });
    Digest::of(&canonical::to_bytes(&seen))
}

/// One person's recorded yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    pub reviewer: IdentityId,
    /// Ancestors of the reviewer. A relative of the reviewer does not count as a second person.
    #[serde(default, skip_serializing_if = "Lineage::is_empty")]
    pub lineage: Lineage,
    pub review: Digest,
    pub expires_at: Timestamp,
    /// Given by the person behind the agent, where one person works alone.
    pub single_operator: bool,
    /// The order of its run by which it was given, without anybody looking at this very action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// How a passkey of the reviewer signed it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Box<Signing>>,
}

/// More than this is no exception any more: write a rule.
pub const MOST_TIMES: u32 = 1_000;

/// How far a standing order goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub width: Width,
    pub lasts_ms: u64,
    /// How many actions it is for at most, beside the one it is given on.
    pub times: u32,
}

/// How long things may wait, and how many. Silence is never consent: whatever runs out is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Terms {
    /// For a person to decide.
    pub decide_within_ms: u64,
    /// For an approved action to be taken up by a worker.
    pub dispatch_within_ms: u64,
    /// For a worker to show that it is alive.
    pub lease_ms: u64,
    /// For a host that a person opens while a run is under way; 0 where nobody may.
    pub longest_grant_ms: u64,
    /// For an order to stand; 0 where nobody may give one.
    pub longest_order_ms: u64,
    /// How much is asked of people, and how fast they decide before they are asked to look twice.
    pub asking: Asking,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            decide_within_ms: 24 * 3_600_000,
            dispatch_within_ms: 3_600_000,
            lease_ms: 30_000,
            longest_grant_ms: 8 * 3_600_000,
            longest_order_ms: 8 * 3_600_000,
            asking: Asking::default(),
        }
    }
}
