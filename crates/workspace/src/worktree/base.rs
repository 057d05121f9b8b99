//! Base checkouts: the files of one commit, written once and shared by every layered worktree that stands on it.
//!
//! ```text
//!  .worktrees/.bases/<commit>.lock       held while the base is made, used or removed
//!  .worktrees/.bases/<commit>/tree/      the files
//!                             index      what git knows about them
//!                             complete   written last, after everything reached the disk
//! ```
//!
//! Nothing writes to a base: cages show it as the lower of an overlay. The modes of the files are those of the commit,
//! because an agent sees them through the overlay and has to be able to change what it sees.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::admin::{make_in, write};
use super::making::worktrees;
use super::plain::write_files;
use super::record::Kind;
use super::{WorktreeError, is_directory};
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::git::{ObjectId, pause};
use crate::layer::place;
use crate::remove::remove_tree;
use crate::repository::{Repository, exists};

const BASES: &str = ".bases";
const COMPLETE: &str = "complete";

fn all(repository: &Repository) -> PathBuf {
    repository.worktrees().join(BASES)
}

/// The files of a base.
pub(super) fn tree(repository: &Repository, commit: &ObjectId) -> PathBuf {
    all(repository).join(commit.as_str()).join("tree")
}

/// What git knows about the files of a base.
pub(super) fn index(repository: &Repository, commit: &ObjectId) -> PathBuf {
    all(repository).join(commit.as_str()).join("index")
}

pub(super) fn is_complete(repository: &Repository, commit: &ObjectId) -> bool {
    exists(&all(repository).join(commit.as_str()).join(COMPLETE)) && is_directory(&tree(repository, commit))
}

/// A base that stays as long as this value.
#[derive(Debug)]
pub(super) struct Held {
    _lock: File,
}

/// The base of a commit, made if it has to be.
pub(super) fn hold(repository: &Repository, commit: &ObjectId) -> Result<Held, WorktreeError> {
    let worktrees = worktrees(repository)?;
    let (bases, _) = make_in(&worktrees, BASES, repository.owner())?;
    loop {
        let shared = lock(repository, commit, FlockOperation::LockShared)?;
        if is_complete(repository, commit) {
            return Ok(Held { _lock: shared });
        }
        drop(shared);
        let _exclusive = lock(repository, commit, FlockOperation::LockExclusive)?;
        if !is_complete(repository, commit) {
            make(repository, &bases, commit)?;
        }
    }
}

/// A lock on the file that has this name now: somebody may have removed it while it was waited for.
fn lock(repository: &Repository, commit: &ObjectId, how: FlockOperation) -> Result<File, WorktreeError> {
    let path = all(repository).join(format!("{commit}.lock"));
    loop {
        let options =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o644).custom_flags(NOFOLLOW).clone();
        let file = options.open(&path).doing("open", path.display())?;
        give(repository, &path)?;
        while let Err(error) = rustix::fs::flock(&file, how) {
            if error != Errno::INTR {
                return Err(error).doing("lock", path.display())?;
            }
        }
        let held = file.metadata().doing("look at", path.display())?.ino();
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.ino() == held) {
            return Ok(file);
        }
    }
}

fn give(repository: &Repository, path: &Path) -> Result<(), WorktreeError> {
    let (parent, name) = place(path)?;
    Ok(repository.owner().give(&parent, &name).doing("give to its owner", path.display())?)
}

const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

fn make(repository: &Repository, bases: &Dir, commit: &ObjectId) -> Result<(), WorktreeError> {
    discard(bases, commit)?;
    let (dir, _) = make_in(bases, commit.as_str(), repository.owner())?;
    make_in(&dir, "tree", repository.owner())?;
    let made = fill(repository, &dir, commit);
    if made.is_err() {
        // The first error counts.
        let _ = discard(bases, commit);
    }
    made
}

fn fill(repository: &Repository, dir: &Dir, commit: &ObjectId) -> Result<(), WorktreeError> {
    let git = repository.git().work_tree(tree(repository, commit)).index(index(repository, commit));
    write_files(git, commit)?;
    wait_for_the_next_second();
    rustix::fs::syncfs(dir).doing("flush", "a base")?;
    write(dir, COMPLETE, b"", repository.owner())?;
    Ok(dir.sync().doing("flush", "a base")?)
}

/// Git trusts an index about files that are older than it, and counts in seconds. Copies of the index are made after this.
fn wait_for_the_next_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    pause(Duration::from_millis(1_010).saturating_sub(Duration::from_nanos(u64::from(now.subsec_nanos()))));
}

fn discard(bases: &Dir, commit: &ObjectId) -> Result<(), WorktreeError> {
    let trash = format!(".gone-{commit}");
    Ok(remove_tree(bases, commit.as_str().as_bytes(), trash.as_bytes()).doing("remove the base", commit.as_str())?)
}

impl Repository {
    /// Base checkouts that no worktree stands on.
    pub fn unused_bases(&self) -> Result<Vec<ObjectId>, WorktreeError> {
        let used = self.used_bases()?;
        let Some(bases) = absent(Dir::open(&all(self))).doing("open", all(self).display())? else {
            return Ok(Vec::new());
        };
        let names = bases.names().doing("list", all(self).display())?;
        let commits = names.iter().filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok());
        Ok(commits.filter(|commit| !used.contains(commit)).collect())
    }

    /// Removes a base checkout that no worktree stands on.
    pub fn remove_base(&self, commit: &ObjectId) -> Result<(), WorktreeError> {
        let bases = Dir::open(&all(self)).doing("open", all(self).display())?;
        let _exclusive = lock(self, commit, FlockOperation::LockExclusive)?;
        if self.used_bases()?.contains(commit) {
            return Err(WorktreeError::BaseInUse(commit.clone()));
        }
        discard(&bases, commit)?;
        remove_lock(&all(self).join(format!("{commit}.lock")))
    }

    fn used_bases(&self) -> Result<Vec<ObjectId>, WorktreeError> {
        let listed = self.list()?.into_iter().filter_map(|listed| listed.worktree);
        Ok(listed.filter(|each| each.kind() == Kind::Layered).map(|each| each.base().clone()).collect())
    }
}

fn remove_lock(path: &Path) -> Result<(), WorktreeError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => Ok(other.doing("remove", path.display())?),
    }
}
