//! The layers of a run: the upper is what it changed, the lower is what it saw.
//!
//! ```text
//!              ┌── preview ──► Changes ──► promote ──► the lower has exactly these changes
//!  upper ──────┤                  └─ digest: what an approval is for
//!              ├── snapshot ──► Snapshot ──► roll_back
//!              └── discard
//! ```
//!
//! Begin with [`Baseline::record`] before the run, or [`Baseline::record_briefly`] before a single command. [`Layered::open`] takes the
//! upper from the cage that wrote it, and
//! finishes or undoes a promotion that was interrupted.
//!
//! What is deliberately not done: merging. A path that somebody else changed since the run began is a conflict, and
//! changes with conflicts are not promoted at all. Owners, times and extended attributes are not promoted either.

mod baseline;
mod changes;
mod diff;
mod names;
mod node;
mod preview;
mod promote;
mod snapshot;
pub(crate) mod upper;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

pub use baseline::Baseline;
pub(crate) use baseline::Told;
pub use changes::{Change, ChangeKind, Changes, Conflict};
pub use diff::{MAX_DIFF_BYTES, Shown};
pub(crate) use node::MODE_BITS;
pub use node::{Node, Special};
pub use promote::Recovered;
pub use snapshot::Snapshot;
pub(crate) use snapshot::place;

use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::git::pause;
use crate::limits::Limits;
use crate::path::TreePath;
use upper::Upper;

/// How often a lock is looked at before it is said to be somebody's, and how long there is in between.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The layers of one run, held: no cage writes to them meanwhile.
#[derive(Debug)]
pub struct Layered {
    lower_path: PathBuf,
    lower: Dir,
    /// The directory that holds upper and work: private to the run.
    run: Dir,
    run_path: PathBuf,
    upper_name: Vec<u8>,
    limits: Limits,
    recovered: Recovered,
    _lock: Dir,
}

impl Layered {
    /// Takes hold of the same three directories a cage was given. A promotion of this run that was interrupted is
    /// finished or undone first.
    pub fn open(lower: &Path, upper: &Path, work: &Path) -> Result<Self, LayerError> {
        let (run, upper_name) = place(upper)?;
        let lock = Dir::open(work).doing("open", work.display())?;
        hold(&lock, work)?;
        run.dir(&upper_name).doing("open", upper.display())?;
        let mut layered = Self {
            lower_path: lower.to_owned(),
            lower: Dir::open(lower).doing("open", lower.display())?,
            run,
            run_path: upper.parent().unwrap_or(Path::new(".")).to_owned(),
            upper_name,
            limits: Limits::default(),
            recovered: Recovered::Nothing,
            _lock: lock,
        };
        layered.recovered = promote::recover(&layered)?;
        Ok(layered)
    }

    /// Limits instead of the usual ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What was done about an interrupted promotion when these layers were opened.
    #[must_use]
    pub fn recovered(&self) -> Recovered {
        self.recovered
    }

    /// What promoting the upper would do. Nothing is written.
    pub fn preview(&self, baseline: &Baseline) -> Result<Changes, LayerError> {
        self.compare(&self.read_upper()?, baseline)
    }

    /// What promoting would do after rolling back to this snapshot.
    pub fn preview_of(&self, snapshot: &Snapshot, baseline: &Baseline) -> Result<Changes, LayerError> {
        self.compare(&snapshot.read(self.limits)?, baseline)
    }

    /// One change of a preview, for a reader.
    pub fn diff(&self, changes: &Changes, path: &TreePath) -> Result<Shown, LayerError> {
        let change = changes.get(path).ok_or_else(|| LayerError::NotChanged(path.clone()))?;
        diff::show(change, &self.upper()?, &self.lower)
    }

    /// Copies the upper to `into`, where nothing must be yet, on a file system that keeps extended attributes.
    pub fn snapshot(&self, into: &Path) -> Result<Snapshot, LayerError> {
        snapshot::take(&self.upper()?, into, self.limits)
    }

    /// Makes the upper again what it was when the snapshot was taken. The snapshot stays.
    pub fn roll_back(&self, snapshot: &Snapshot) -> Result<(), LayerError> {
        snapshot::roll_back(&self.run, &self.upper_name, snapshot, self.limits)
    }

    /// Forgets everything the run changed.
    pub fn discard(&self) -> Result<(), LayerError> {
        snapshot::discard(&self.run, &self.upper_name)
    }

    /// Applies exactly the previewed changes to the lower, all of them or none. The upper stays; discard it, and record
    /// a new baseline, before the next run.
    pub fn promote(&self, baseline: &Baseline, previewed: &Changes) -> Result<(), LayerError> {
        promote::promote(self, baseline, previewed, &mut |_| {})
    }

    pub(crate) fn upper(&self) -> Result<Dir, LayerError> {
        self.run.dir(&self.upper_name).doing("open", "the upper")
    }

    pub(crate) fn lower_dir(&self) -> &Dir {
        &self.lower
    }

    pub(crate) fn lower_path(&self) -> &Path {
        &self.lower_path
    }

    fn read_upper(&self) -> Result<Upper, LayerError> {
        Upper::read(&self.upper()?, self.limits)
    }

    fn compare(&self, upper: &Upper, baseline: &Baseline) -> Result<Changes, LayerError> {
        preview::compare(upper, &self.lower, baseline, self.limits).map(|compared| compared.changes)
    }
}

/// Locks a directory until the descriptor is closed. A cage holds the lock of its work directory as long as it lives.
///
/// A child that another thread just forked has every descriptor until it becomes its program, and with them the lock of
/// whoever let go of it meanwhile. So one look is not enough to say that somebody is at work.
pub(crate) fn hold(dir: &Dir, path: &Path) -> Result<(), LayerError> {
    for _ in 0..LOOKS {
        match rustix::fs::flock(dir, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => pause(BETWEEN_LOOKS),
            other => return other.doing("lock", path.display()),
        }
    }
    Err(LayerError::Busy(path.to_owned()))
}
