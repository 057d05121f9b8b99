//! How much of what a run left is looked at. Whoever fills an upper decides how large it is; this decides how much
//! time and memory that costs.

use crate::error::LayerError;

/// The most that is read from one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, directories and everything else.
    pub entries: u64,
    /// Directories inside one another. Each holds one descriptor while it is read.
    pub depth: usize,
    /// Content of all files together; holes count.
    pub bytes: u64,
}

impl Default for Limits {
    /// Enough for a large repository with its dependencies, and a minute of reading at most.
    fn default() -> Self {
        Self { entries: 200_000, depth: 256, bytes: 8 << 30 }
    }
}

/// What is left of some limits.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    entries: u64,
    bytes: u64,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, entries: 0, bytes: 0 }
    }

    pub(crate) fn entry(&mut self, depth: usize) -> Result<(), LayerError> {
        self.entries += 1;
        within("entries", self.entries, self.limits.entries)?;
        within("depth", depth as u64, self.limits.depth as u64)
    }

    /// Asked before anything is read: a file may be larger than its disk.
    pub(crate) fn bytes(&mut self, size: u64) -> Result<(), LayerError> {
        self.bytes = self.bytes.saturating_add(size);
        within("bytes", self.bytes, self.limits.bytes)
    }
}

fn within(what: &'static str, seen: u64, limit: u64) -> Result<(), LayerError> {
    if seen > limit { Err(LayerError::TooLarge { what, limit }) } else { Ok(()) }
}
