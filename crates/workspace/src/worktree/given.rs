//! What was put into a worktree for its agent: caches of the host, files that the team's own commands made. It is no work
//! of the agent's for as long as it is as it was given.
//!
//! | given | is as it was if |
//! | --- | --- |
//! | the host's own file, by another name | it is the very same file: number and time of birth, which nobody can set |
//! | a copy, or something made here | nothing wrote to it since, or it has the same mode and content |
//! | a symbolic link | it leads to the same place |
//!
//! A cage never writes to the host's own file: the worktree is the lower of its layers, and what is promoted takes the
//! place of a file and is another one. In a layered worktree an upper is written in place, so nothing there is the
//! host's own; copies share their content where the file system can.
//!
//! The record lies beside the worktree's layers, where no cage sees it. One that cannot be read vouches for nothing.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags};
use serde::{Deserialize, Serialize};

use super::{Kind, Worktree, WorktreeError, admin};
use crate::difference::{Differences, Origin};
use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::layer::{Node, Told};
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

const FILE: &str = "given.json";

/// As many entries as one tree may have, with the longest of names.
const MOST_RECORD_BYTES: u64 = 256 << 20;

/// What was put into a worktree, path by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    entries: BTreeMap<TreePath, Known>,
}

/// How one of them is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Known {
    /// The host's own file.
    Same(Identity),
    /// By content; what the file system says of it spares reading it.
    Content { told: Told, node: Node },
}

/// Which file it is, whatever it is called. Numbers are used again, births are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: (u32, u32),
    inode: u64,
    /// Not every file system keeps it.
    born: Option<(i64, u32)>,
}

impl Identity {
    pub(super) fn of(dir: &Dir, name: &[u8]) -> rustix::io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        let is_born = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        let born = is_born.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
        Ok(Self { device: (found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino, born })
    }
}

impl Given {
    /// Whether nothing was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many files and links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Remembers what is at a path now.
    pub fn learn(&mut self, worktree: &Worktree, path: &TreePath) -> Result<(), LayerError> {
        let parent = worktree.held()?.parent_of(path).doing("open", path)?;
        self.learn_in(&parent, path)
    }

    pub(super) fn learn_in(&mut self, parent: &Dir, path: &TreePath) -> Result<(), LayerError> {
        let stat = parent.stat(path.name()).doing("look at", path)?;
        let node = Node::read(parent, &stat, path, &mut Meter::new(Limits::default()))?;
        self.put(path, Known::Content { told: Told::new(&stat), node });
        Ok(())
    }

    pub(super) fn put(&mut self, path: &TreePath, known: Known) {
        self.entries.insert(path.clone(), known);
    }

    /// Keeps the record.
    pub fn save(&self, worktree: &Worktree) -> Result<(), WorktreeError> {
        let layers = worktree.layers();
        let dir = Dir::open(&layers).doing("open", layers.display())?;
        let bytes = serde_json::to_vec(self).map_err(std::io::Error::other).doing("write", FILE)?;
        let _ = dir.unlink(FILE.as_bytes());
        admin::write(&dir, FILE, &bytes, worktree.repository.owner())
    }
}

impl Worktree {
    /// What was put into it; nothing, if that was never recorded.
    #[must_use]
    pub fn given(&self) -> Given {
        self.read_given().unwrap_or_default()
    }

    fn read_given(&self) -> Option<Given> {
        let (file, _) = Dir::open(&self.layers()).ok()?.file(FILE.as_bytes()).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST_RECORD_BYTES).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// What was put into it, to ask whether it is still as it was.
    pub fn untouched(&self) -> Result<Untouched, LayerError> {
        Ok(Untouched { given: self.given(), root: self.held()? })
    }

    /// Differences without what the worktree was given, where that is as it was and in no commit.
    pub fn without_given(&self, differences: Differences) -> Result<Differences, LayerError> {
        let untouched = self.untouched()?;
        Ok(differences.without(|difference| {
            matches!(difference.origin, Origin::Untracked | Origin::Ignored) && untouched.holds(&difference.path)
        }))
    }

    /// Where its own files are on the host.
    pub(super) fn held(&self) -> Result<Dir, LayerError> {
        let root = match self.kind() {
            Kind::Plain => self.path(),
            Kind::Layered => self.cage().upper,
        };
        open(&root)
    }
}

pub(super) fn open(path: &Path) -> Result<Dir, LayerError> {
    Dir::open(path).doing("open", path.display())
}

/// What was given, beside what is there.
#[derive(Debug)]
pub struct Untouched {
    given: Given,
    root: Dir,
}

impl Untouched {
    /// Whether this was given, and is as it was. What cannot be told is not.
    #[must_use]
    pub fn holds(&self, path: &TreePath) -> bool {
        self.given.entries.get(path).is_some_and(|known| self.is_still(path, known).unwrap_or(false))
    }

    fn is_still(&self, path: &TreePath, known: &Known) -> Result<bool, LayerError> {
        let parent = absent(self.root.parent_of(path)).doing("open", path)?;
        let Some(parent) = parent else { return Ok(false) };
        match known {
            Known::Same(then) => Ok(Identity::of(&parent, path.name()).doing("look at", path)? == *then),
            Known::Content { told, node } => {
                let stat = parent.stat(path.name()).doing("look at", path)?;
                if Told::new(&stat) == *told && told.is_fine() {
                    return Ok(true);
                }
                Ok(Node::read(&parent, &stat, path, &mut Meter::new(Limits::default()))? == *node)
            }
        }
    }
}
