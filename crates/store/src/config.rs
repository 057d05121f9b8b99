//! What a store needs to know before it opens.

use std::path::PathBuf;

use placet_ledger::SigningKey;

use crate::blob::EvidenceKey;
use crate::clock::Clock;

/// Where a store lies and with which keys it works.
#[derive(Debug)]
pub struct Config {
    /// The folder that holds everything; made, for its owner only, where it is missing.
    pub dir: PathBuf,
    /// Signs tree heads. Its name is the origin of the ledger: the two are one, so they cannot disagree.
    pub ledger_key: SigningKey,
    /// Encrypts evidence at rest. Without one, evidence is stored as it is.
    pub evidence_key: Option<EvidenceKey>,
    pub clock: Clock,
    /// The database refuses to grow beyond this, so that it leaves room for others on the same disk.
    pub most_database_bytes: Option<u64>,
}

impl Config {
    /// A store with the machine's clock, no encryption and no bound but the disk.
    pub fn new(dir: impl Into<PathBuf>, ledger_key: SigningKey) -> Self {
        Self { dir: dir.into(), ledger_key, evidence_key: None, clock: Clock::System, most_database_bytes: None }
    }
}
