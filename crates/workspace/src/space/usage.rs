//! How much a run has on disk, from what the file system says: nothing is read.

use std::collections::HashSet;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use super::Space;
use super::closed::Closed;
use super::error::SpaceError;
use super::restore::Part;
use super::root::{Root, SHOWN};
use crate::dir::Dir;
use crate::error::Doing;
use crate::limits::Meter;
use crate::path::TreePath;

/// File systems count in these, whatever the size of their blocks.
const SECTOR_BYTES: u64 = 512;

/// What a run occupies; holes and further names of a file cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What it changed in its workspace.
    pub workspace_bytes: u64,
    /// The agent's own directory.
    pub memory_bytes: u64,
    /// Files, directories and everything else in both.
    pub entries: u64,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.workspace_bytes + self.memory_bytes
    }
}

pub(super) fn measure(space: &Space) -> Result<Usage, SpaceError> {
    let mut measuring = Measuring { meter: Meter::new(space.limits), seen: HashSet::new(), entries: 0, bytes: 0 };
    let [workspace, memory] = [Root::open(space, Part::Workspace)?, Root::open(space, Part::Memory)?];
    measuring.directory(&workspace, None, 1)?;
    let workspace_bytes = std::mem::take(&mut measuring.bytes);
    measuring.directory(&memory, None, 1)?;
    Ok(Usage { workspace_bytes, memory_bytes: measuring.bytes, entries: measuring.entries })
}

struct Measuring {
    meter: Meter,
    /// Files with several names that were counted.
    seen: HashSet<u64>,
    entries: u64,
    bytes: u64,
}

impl Measuring {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, depth: usize) -> Result<(), SpaceError> {
        let shown = at.map_or_else(|| SHOWN.to_owned(), ToString::to_string);
        for name in self.meter.names(dir, shown)? {
            self.meter.entry(depth)?;
            let path = TreePath::below(at, &name)?;
            let stat = dir.stat(&name).doing("look at", &path)?;
            self.count(&stat);
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                let _closed = Closed::open_up(dir, &name, &stat).doing("open up", &path)?;
                self.directory(&dir.dir(&name).doing("open", &path)?, Some(&path), depth + 1)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, stat: &Stat) {
        self.entries += 1;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_directory || stat.st_nlink < 2 || self.seen.insert(stat.st_ino) {
            self.bytes += u64::try_from(stat.st_blocks).unwrap_or_default() * SECTOR_BYTES;
        }
    }
}
