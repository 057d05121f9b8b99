//! What the live tree was known to be when it was last read as a whole, and how to see that a file is still that one.
//!
//! Reading a gigabyte to find five hundred changes would take longer than going back. A file is known by what its file
//! system says of it: inode, size, mode and times, of which nobody can set the time of the last change of an inode. That
//! counts only if the clock of the file system has moved on since, so whoever writes an index waits for that, some
//! milliseconds, and notes nothing about a file whose clock is too coarse.
//!
//! An index is never needed: without one, everything is read. After a restart of the machine it does not count, because
//! what a cage writes is not flushed.

use std::fs;
use std::time::Duration;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::error::SpaceError;
use super::tree::Tree;
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::git::pause;

/// A probe of the clock that file systems stamp with.
const CLOCK: &[u8] = b".clock";

/// The slowest tick of a kernel takes ten milliseconds.
const TICK: Duration = Duration::from_millis(2);
const TICKS: usize = 30;

/// Which run of the machine this is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// What changes with every write to a file, or to what is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    size: i64,
    mode: u32,
    names: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Stamp {
    pub(super) fn new(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: stat.st_size,
            mode: stat.st_mode,
            names: stat.st_nlink,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether its file system counts in fractions of a second, and has counted on since.
    fn is_past(&self, now: (i64, u64)) -> bool {
        self.changed.1 != 0 && self.changed < now
    }
}

/// A tree as it was last read, with a stamp for each entry that can be known again.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) tree: Tree,
    pub(super) stamps: Vec<Option<Stamp>>,
}

/// As it is written: stamps by the position of their entry.
#[derive(Serialize, Deserialize)]
struct Written {
    boot: String,
    stamps: Vec<Option<Stamp>>,
}

impl Index {
    /// Waits until every later write has a later time, and leaves out what can't be known again by then.
    pub(super) fn settled(tree: Tree, mut stamps: Vec<Option<Stamp>>, root: &Dir) -> Result<Self, SpaceError> {
        let latest = stamps.iter().flatten().map(|stamp| stamp.changed).max().unwrap_or_default();
        let now = wait_past(root, latest).doing("ask for the time in", "the space")?;
        for stamp in &mut stamps {
            *stamp = stamp.take_if(|stamp| stamp.is_past(now));
        }
        Ok(Self { tree, stamps })
    }

    /// Reads what [`Index::to_bytes`] wrote, if it counts.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let line = bytes.iter().position(|&byte| byte == b'\n')?;
        let written: Written = serde_json::from_slice(&bytes[..line]).ok()?;
        let tree = Tree::from_lines(&bytes[line + 1..]).ok()?;
        let counts = !written.boot.is_empty() && written.boot == boot() && written.stamps.len() == tree.entries.len();
        counts.then_some(Self { tree, stamps: written.stamps })
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SpaceError> {
        let written = Written { boot: boot(), stamps: self.stamps.clone() };
        let mut bytes = serde_json::to_vec(&written).map_err(SpaceError::unwritable)?;
        bytes.push(b'\n');
        bytes.extend(self.tree.to_lines()?);
        Ok(bytes)
    }
}

/// Empty where the kernel does not say: then an index never counts.
pub(super) fn boot() -> String {
    fs::read_to_string(BOOT).map(|boot| boot.trim().to_owned()).unwrap_or_default()
}

/// The time of the file system, once it is later than this, or after the longest tick.
fn wait_past(root: &Dir, latest: (i64, u64)) -> rustix::io::Result<(i64, u64)> {
    let mut now = (0, 0);
    for _ in 0..TICKS {
        absent(root.unlink(CLOCK))?;
        drop(root.create(CLOCK)?);
        let stat = root.stat(CLOCK)?;
        now = (stat.st_ctime, stat.st_ctime_nsec);
        if now > latest {
            break;
        }
        pause(TICK);
    }
    absent(root.unlink(CLOCK))?;
    Ok(now)
}
