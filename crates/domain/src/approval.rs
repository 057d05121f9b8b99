//! APPROVE: an approval is a digest, not a yes.
//!
//! It covers the sealed action, the verdict with its policy version and reasons, and the version of the card on which the
//! server shows both. If any of them changes, the old approval is for something else. The agent's own words are not
//! covered, because they change nothing of what will be done.

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;
use crate::id::IdentityId;
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
    pub review: Digest,
    pub expires_at: Timestamp,
    /// Given by the person behind the agent, where one person works alone.
    pub single_operator: bool,
}

/// How long things may wait. Silence is never consent: whatever runs out is refused.
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
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            decide_within_ms: 24 * 3_600_000,
            dispatch_within_ms: 3_600_000,
            lease_ms: 30_000,
            longest_grant_ms: 8 * 3_600_000,
        }
    }
}
