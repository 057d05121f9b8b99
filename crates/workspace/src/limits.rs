//! How much of what a run left is looked at. Whoever fills an upper decides how large it is; this decides how much
//! time and memory that costs.

use crate::dir::Dir;
use crate::error::{Doing, LayerError};

/// The most that is read from one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, directories and everything else.
    pub entries: u64,
    /// Directories inside one another. Each holds one descriptor while it is read.
    pub depth: usize,
    /// Content of all files together; holes count.
    pub bytes: u64,
    /// Paths, targets of links and attributes together. All of it is in memory at once.
    pub described_bytes: u64,
}

impl Default for Limits {
    /// Enough for a large repository with its dependencies, and a minute of reading at most.
    fn default() -> Self {
        Self { entries: 200_000, depth: 256, bytes: 8 << 30, described_bytes: 64 << 20 }
    }
}

/// What is left of some limits.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    entries: u64,
    bytes: u64,
    described_bytes: u64,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, entries: 0, bytes: 0, described_bytes: 0 }
    }

    pub(crate) fn entry(&mut self, depth: usize) -> Result<(), LayerError> {
        self.entries += 1;
        within("entries", self.entries, self.limits.entries)?;
        within("depth", depth as u64, self.limits.depth as u64)
    }

    /// The names in a directory, of which no more are kept than may be looked at.
    pub(crate) fn names(&self, dir: &Dir, shown: impl ToString) -> Result<Vec<Vec<u8>>, LayerError> {
        let left = usize::try_from(self.limits.entries - self.entries.min(self.limits.entries)).unwrap_or(usize::MAX);
        match dir.names_up_to(left).doing("list", shown)? {
            Some(names) => Ok(names),
            None => Err(LayerError::TooLarge { what: "entries", limit: self.limits.entries }),
        }
    }

    /// Asked before anything is read: a file may be larger than its disk.
    pub(crate) fn bytes(&mut self, size: u64) -> Result<(), LayerError> {
        self.bytes = self.bytes.saturating_add(size);
        within("bytes", self.bytes, self.limits.bytes)
    }

    /// Asked before it is kept: a name costs its owner nothing, and whoever reads it memory.
    pub(crate) fn described(&mut self, size: usize) -> Result<(), LayerError> {
        self.described_bytes = self.described_bytes.saturating_add(size as u64);
        within("bytes of names, targets and attributes", self.described_bytes, self.limits.described_bytes)
    }
}

fn within(what: &'static str, seen: u64, limit: u64) -> Result<(), LayerError> {
    if seen > limit { Err(LayerError::TooLarge { what, limit }) } else { Ok(()) }
}
