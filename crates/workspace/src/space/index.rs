//! What the live tree was known to be when it was last read as a whole, and how to see that a file is still that one.
//!
//! Reading a gigabyte to find five hundred changes would take longer than going back. A file is known by what its file
//! system says of it: inode, size, mode and times, of which nobody can set the time of the last change of an inode. That
//! counts only if the clock of the file system has moved on since, so whoever writes an index waits for that, some
//! milliseconds, and notes nothing about a file whose clock is too coarse.
//!
//! An index is never needed: without one, everything is read. After a restart of the machine it does not count, because
//! what a cage writes is not flushed.

use std::borrow::Cow;
use std::fs;
use std::time::Duration;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::error::SpaceError;
use super::tree::Tree;
use crate::digest::Digest;
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

/// Eight numbers of eight bytes.
const STAMP_BYTES: usize = 64;

/// What changes with every write to a file, or to what is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Whether the file has other names.
    pub(super) fn has_twins(&self) -> bool {
        self.names > 1
    }

    fn written(&self) -> [u8; STAMP_BYTES] {
        let (modified, changed) = (self.modified, self.changed);
        let (size, mode) = (self.size.cast_unsigned(), u64::from(self.mode));
        let times = [modified.0.cast_unsigned(), modified.1, changed.0.cast_unsigned(), changed.1];
        let fields = [self.inode, size, mode, self.names, times[0], times[1], times[2], times[3]];
        let mut bytes = [0; STAMP_BYTES];
        for (place, field) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields) {
            *place = field.to_le_bytes();
        }
        bytes
    }

    /// No file has the number 0: that stands for no stamp.
    fn read(bytes: &[u8; STAMP_BYTES]) -> Option<Self> {
        let field =
            |position: usize| bytes.as_chunks::<8>().0.get(position).map_or(0, |field| u64::from_le_bytes(*field));
        let stamp = Self {
            inode: field(0),
            size: field(1).cast_signed(),
            mode: u32::try_from(field(2)).unwrap_or_default(),
            names: field(3),
            modified: (field(4).cast_signed(), field(5)),
            changed: (field(6).cast_signed(), field(7)),
        };
        (stamp.inode != 0).then_some(stamp)
    }

    /// Whether its file system counts in fractions of a second, and has counted on since.
    fn is_past(&self, now: (i64, u64)) -> bool {
        self.changed.1 != 0 && self.changed < now
    }
}

/// A stamp for each entry of a snapshot's list that can be known again. The list itself is the snapshot's.
#[derive(Debug)]
pub(super) struct Index {
    /// Which snapshot the upper was, and what its list was then.
    pub(super) number: u64,
    pub(super) workspace: Digest,
    pub(super) stamps: Vec<Option<Stamp>>,
}

/// A list with its stamps.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) tree: Cow<'a, Tree>,
    pub(super) stamps: Vec<Option<Stamp>>,
}

/// The first line of an index; stamps follow, each of the same length.
#[derive(Serialize, Deserialize)]
struct Head {
    boot: String,
    number: u64,
    workspace: Digest,
}

impl Index {
    /// Waits until every later write has a later time, and leaves out what can't be known again by then.
    pub(super) fn settled(
        (number, workspace): (u64, Digest),
        mut stamps: Vec<Option<Stamp>>,
        root: &Dir,
    ) -> Result<Self, SpaceError> {
        let latest = stamps.iter().flatten().map(|stamp| stamp.changed).max().unwrap_or_default();
        let now = wait_past(root, latest).doing("ask for the time in", "the space")?;
        for stamp in &mut stamps {
            *stamp = stamp.take_if(|stamp| stamp.is_past(now));
        }
        Ok(Self { number, workspace, stamps })
    }

    /// Reads what [`Index::to_bytes`] wrote, if it counts.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let line = bytes.iter().position(|&byte| byte == b'\n')?;
        let head: Head = serde_json::from_slice(&bytes[..line]).ok()?;
        let (stamps, rest) = bytes[line + 1..].as_chunks::<STAMP_BYTES>();
        let counts = !head.boot.is_empty() && head.boot == boot() && rest.is_empty();
        let Head { number, workspace, .. } = head;
        counts.then(|| Self { number, workspace, stamps: stamps.iter().map(Stamp::read).collect() })
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SpaceError> {
        let head = Head { boot: boot(), number: self.number, workspace: self.workspace };
        let mut bytes = serde_json::to_vec(&head).map_err(SpaceError::unwritable)?;
        bytes.push(b'\n');
        bytes.extend(self.stamps.iter().flat_map(|stamp| stamp.as_ref().map_or([0; STAMP_BYTES], Stamp::written)));
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
