//! What checking a store finds.

use placet_ledger::Fault;

/// What going through the whole ledger found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrub {
    pub entries: u64,
    pub heads: u64,
    /// Everything that is wrong, located as exactly as the hashes allow.
    pub faults: Vec<Fault>,
}

impl Scrub {
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// What bytes were removed from the disk, after the ledger said so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    pub contents: u64,
    /// On the disk, encrypted or not.
    pub size_bytes: u64,
}

/// What going through all evidence found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceCheck {
    /// Contents that are there and are what they were.
    pub intact: u64,
    /// How often contents were removed, each time with an entry that says so.
    pub removed: u64,
    /// Contents that are not what they were, or are gone without an entry that says so.
    pub faults: Vec<String>,
}

impl EvidenceCheck {
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// A projection that does not say what the ledger says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored {what} `{id}` is not what the ledger says: {} instead of {}", shown(.stored), shown(.computed))]
pub struct Difference {
    /// `project`, `scope`, `identity`, `run`, `action` or `evidence`.
    pub what: &'static str,
    pub id: String,
    /// The row as it is stored.
    pub stored: Option<String>,
    /// The row as it follows from the ledger.
    pub computed: Option<String>,
}

fn shown(row: &Option<String>) -> &str {
    row.as_deref().unwrap_or("nothing")
}
