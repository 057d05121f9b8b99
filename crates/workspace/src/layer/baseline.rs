//! What a directory looked like when a run began, so that what somebody else did to it since is noticed later.
//!
//! Reading every file of a large repository before each run would cost too much. A file is known by what its file system
//! says of it, which changes with every write; one that was written in the last moments, when a second write may leave
//! no trace in the clock, is known by its content.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::changes::Conflict;
use crate::layer::names::Names;
use crate::layer::node::{MODE_BITS, Node};
use crate::layer::promote::is_unfinished;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

/// The coarsest clock of a usual file system counts in two seconds.
const RECENT_S: i64 = 2;

/// What was there, path by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    stamps: BTreeMap<TreePath, Stamp>,
    protected: BTreeSet<TreePath>,
    /// Replaces the stamps for a single command; invalid in another process or after a restart.
    #[serde(skip)]
    names: Option<Names>,
}

/// How one path is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stamp {
    /// A directory: its own content is other paths.
    Directory { mode: u32 },
    /// By what its file system says.
    Told(Told),
    /// By what is in it.
    Known(Node),
}

/// Whatever a write changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) raw_mode: u32,
    pub(crate) inode: u64,
    pub(crate) size: i64,
    modified: (i64, u64),
    /// Nobody can set this one.
    changed: (i64, u64),
}

impl Told {
    pub(crate) fn new(stat: &Stat) -> Self {
        Self {
            raw_mode: stat.st_mode,
            inode: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Change time of the entry: seconds and nanoseconds.
    pub(crate) const fn changed(&self) -> (i64, u64) {
        self.changed
    }

    /// Whether the clock of its file system is fine enough to tell any two writes apart.
    pub(crate) fn is_fine(&self) -> bool {
        self.changed.1 != 0
    }

    /// Whether it is the same after a move, which counts as a change of the entry but not of the content.
    pub(crate) fn same_content(&self, other: &Self) -> bool {
        let of = |told: &Self| (told.raw_mode, told.inode, told.size, told.modified);
        of(self) == of(other)
    }
}

impl Baseline {
    /// Records what is in a directory now, before a run begins.
    pub fn record(lower: &Path, limits: Limits) -> Result<Self, LayerError> {
        let root = Dir::open(lower).doing("open", lower.display())?;
        if is_unfinished(&root).doing("list", lower.display())? {
            return Err(LayerError::Unfinished(lower.to_owned()));
        }
        let recent_from = seconds_now() - RECENT_S;
        let mut recording = Recording { stamps: BTreeMap::new(), meter: Meter::new(limits), recent_from };
        recording.directory(&root, None, 1)?;
        Ok(Self { stamps: recording.stamps, ..Self::default() })
    }

    /// Like [`Baseline::record`], for one command that starts now. Lists only names if the file system allows it, which is several times as
    /// fast for a large tree. `clock` is a directory of the caller's own, on the file system of the lower.
    pub fn record_briefly(lower: &Path, clock: &Path, limits: Limits) -> Result<Self, LayerError> {
        match Names::list(lower, clock, limits)? {
            Some(names) if names.has_unfinished() => Err(LayerError::Unfinished(lower.to_owned())),
            Some(names) => Ok(Self { names: Some(names), ..Self::default() }),
            None => Self::record(lower, limits),
        }
    }

    /// True if the baseline is still valid: the clock of the file system was not set back.
    pub fn is_reliable(&self, clock: &Path) -> Result<bool, LayerError> {
        self.names.as_ref().map_or(Ok(true), |names| names.is_in_past(clock))
    }

    /// Names paths that no promotion may overwrite or remove, with everything below them, for instance those that no
    /// commit could bring back.
    #[must_use]
    pub fn protect(mut self, paths: impl IntoIterator<Item = TreePath>) -> Self {
        self.protected.extend(paths);
        self
    }

    /// Lists changes made in the directory since the baseline was recorded, sorted by path. Includes the content of directories that
    /// appeared or vanished. A brief baseline has no stamps to compare with.
    pub fn drift(&self, lower: &Path, limits: Limits) -> Result<Vec<(TreePath, Conflict)>, LayerError> {
        debug_assert!(self.names.is_none(), "a brief baseline is for one promotion");
        let root = Dir::open(lower).doing("open", lower.display())?;
        let mut drifting = Drifting { baseline: self, meter: Meter::new(limits), seen: 0, found: BTreeMap::new() };
        drifting.directory(&root, None, 1)?;
        drifting.vanished(&root)?;
        Ok(drifting.found.into_iter().collect())
    }

    pub(crate) fn protects(&self, path: &TreePath) -> bool {
        std::iter::successors(Some(path.clone()), TreePath::parent).any(|path| self.protected.contains(&path))
    }

    pub(crate) fn had(&self, path: &TreePath) -> bool {
        self.names.as_ref().map_or_else(|| self.stamps.contains_key(path), |names| names.had(path))
    }

    /// Whether what is there now is what was there then.
    pub(crate) fn is_still(&self, path: &TreePath, node: &Node, told: &Told) -> bool {
        if let Some(names) = &self.names {
            return names.is_still(path, node, told);
        }
        match self.stamps.get(path) {
            Some(Stamp::Directory { mode }) => *node == Node::Directory { mode: *mode },
            Some(Stamp::Told(then)) => told == then,
            Some(Stamp::Known(then)) => node == then,
            None => false,
        }
    }
}

struct Recording {
    stamps: BTreeMap<TreePath, Stamp>,
    meter: Meter,
    recent_from: i64,
}

impl Recording {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, depth: usize) -> Result<(), LayerError> {
        let shown = at.map_or_else(|| "the lower directory".to_owned(), ToString::to_string);
        for name in dir.names().doing("list", shown)? {
            self.meter.entry(depth)?;
            let path = TreePath::below(at, &name)?;
            let stat = dir.stat(&name).doing("look at", &path)?;
            let stamp = self.stamp(dir, &path, &stat)?;
            let is_directory = matches!(stamp, Stamp::Directory { .. });
            self.stamps.insert(path.clone(), stamp);
            if is_directory && let Some(inner) = open(dir, &name, &path)? {
                self.directory(&inner, Some(&path), depth + 1)?;
            }
        }
        Ok(())
    }

    fn stamp(&mut self, dir: &Dir, path: &TreePath, stat: &Stat) -> Result<Stamp, LayerError> {
        let told = Told::new(stat);
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return Ok(Stamp::Directory { mode: stat.st_mode & MODE_BITS });
        }
        if told.changed.0 < self.recent_from {
            return Ok(Stamp::Told(told));
        }
        match Node::read(dir, stat, path, &mut self.meter) {
            Err(LayerError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => Ok(Stamp::Told(told)),
            read => read.map(Stamp::Known),
        }
    }
}

/// Compares a directory with what it was.
struct Drifting<'a> {
    baseline: &'a Baseline,
    meter: Meter,
    /// How many paths of the baseline are still there.
    seen: usize,
    found: BTreeMap<TreePath, Conflict>,
}

impl Drifting<'_> {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, depth: usize) -> Result<(), LayerError> {
        let shown = at.map_or_else(|| "the lower directory".to_owned(), ToString::to_string);
        for name in dir.names().doing("list", shown)? {
            self.meter.entry(depth)?;
            let path = TreePath::below(at, &name)?;
            let stat = dir.stat(&name).doing("look at", &path)?;
            self.one(dir, &path, &stat)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
                && let Some(inner) = open(dir, &name, &path)?
            {
                self.directory(&inner, Some(&path), depth + 1)?;
            }
        }
        Ok(())
    }

    fn one(&mut self, dir: &Dir, path: &TreePath, stat: &Stat) -> Result<(), LayerError> {
        let told = Told::new(stat);
        let still = match self.baseline.stamps.get(path) {
            None => {
                self.found.insert(path.clone(), Conflict::Appeared);
                return Ok(());
            }
            Some(Stamp::Told(then)) => told == *then,
            // Only what was young when the run began has to be read.
            Some(Stamp::Directory { .. } | Stamp::Known(_)) => {
                let node = Node::read(dir, stat, path, &mut self.meter)?;
                self.baseline.is_still(path, &node, &told)
            }
        };
        self.seen += 1;
        if !still {
            self.found.insert(path.clone(), Conflict::Drifted);
        }
        Ok(())
    }

    /// Looked for only if some are missing.
    fn vanished(&mut self, root: &Dir) -> Result<(), LayerError> {
        if self.seen == self.baseline.stamps.len() {
            return Ok(());
        }
        for path in self.baseline.stamps.keys() {
            if root.look(path).doing("look at", path)?.is_none() {
                self.found.insert(path.clone(), Conflict::Vanished);
            }
        }
        Ok(())
    }
}

/// A mount is no part of the directory: a cage does not show what is in it. And what the caller may not list, no run of
/// theirs can either.
fn open(dir: &Dir, name: &[u8], path: &TreePath) -> Result<Option<Dir>, LayerError> {
    match dir.dir(name) {
        Err(Errno::XDEV | Errno::ACCESS) => Ok(None),
        opened => opened.map(Some).doing("open", path),
    }
}

fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
    i64::try_from(since).unwrap_or(i64::MAX)
}
