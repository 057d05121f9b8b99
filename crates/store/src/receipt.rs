//! What goes into the store with a command, and what comes out when it was carried out.

use std::ops::Range;

use placet_domain::approval::Terms;
use placet_domain::command::IdempotencyKey;
use placet_domain::decide::Loaded;
use placet_domain::deciding::Decision;
use placet_domain::digest::Digest;
use placet_domain::identity::Identity;
use placet_domain::record::Record;
use placet_domain::time::Timestamp;

/// What is stored beside a command's records because the ledger holds only its digest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// The agent's own words for an action it proposes; their digest must be the one in the command.
    pub advice: Option<String>,
    /// What a new password is compared with; its digest must be the one in the command.
    pub verifier: Option<String>,
    /// What becomes of a refusal that is worth an entry.
    pub refusal: Noting,
}

/// Whether a refused attempt is recorded. Nobody may flood the ledger by being refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Noting {
    #[default]
    Recorded,
    /// Enough of them were.
    Unrecorded,
}

/// A worker's wish for something to do.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    pub(crate) worker: Identity,
    pub(crate) terms: Terms,
    /// The version of the policy in force: what another one judged waits until it is judged again.
    pub(crate) policy: Digest,
    pub(crate) idempotency: Option<IdempotencyKey>,
}

/// What was recorded. Whoever holds one knows that it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The numbers of the ledger entries that were written.
    pub seqs: Range<u64>,
    /// What they say.
    pub records: Vec<Record>,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// What is known after it.
    pub loaded: Loaded,
    /// The questions to people that ended with it; none where an answer is repeated.
    pub ended: Vec<Decision>,
    /// Whether this repeats the answer to an earlier request with the same idempotency key.
    pub replayed: bool,
}
