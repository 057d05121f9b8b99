//! Snapshots of an upper, and the way back to one.
//!
//! A snapshot is a copy with a digest. Going back makes a copy of the copy beside the upper, checks it, and exchanges
//! the two in one step: an upper is never half of one thing and half of another.

use std::path::{Path, PathBuf};

use crate::copy::{Owner, copy_tree};
use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::upper::Upper;
use crate::limits::Limits;
use crate::remove::remove_tree;

const TRASH: &[u8] = b".placet-trash";
const FRESH: &[u8] = b".placet-fresh";

/// A saved upper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    path: PathBuf,
    digest: Digest,
}

impl Snapshot {
    /// A snapshot that was taken earlier, by where it is and what it was.
    pub fn new(path: impl Into<PathBuf>, digest: Digest) -> Self {
        Self { path: path.into(), digest }
    }

    /// The directory that holds the copy.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names everything in it: paths, content, modes, whiteouts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Removes the copy.
    pub fn remove(self) -> Result<(), LayerError> {
        let (parent, name) = place(&self.path)?;
        remove_tree(&parent, &name, TRASH).doing("remove", self.path.display())
    }

    pub(crate) fn open(&self) -> Result<Dir, LayerError> {
        Dir::open(&self.path).doing("open", self.path.display())
    }

    /// Reads it, if it still is what it was.
    pub(crate) fn read(&self, limits: Limits) -> Result<Upper, LayerError> {
        let upper = Upper::read(&self.open()?, limits)?;
        if upper.digest() == self.digest { Ok(upper) } else { Err(LayerError::Damaged(self.path.clone())) }
    }
}

/// Copies an upper to a path where nothing is yet.
pub(crate) fn take(upper: &Dir, into: &Path, limits: Limits) -> Result<Snapshot, LayerError> {
    let digest = Upper::read(upper, limits)?.digest();
    let (parent, name) = place(into)?;
    let owner = Owner::of(&parent.own_stat().doing("look at", into.display())?);
    fresh_copy(&parent, upper, owner, into)?;
    check_fresh(&parent, digest, limits, into)?;
    rustix::fs::syncfs(&parent).doing("flush", into.display())?;
    parent.move_to(FRESH, &parent, &name).doing("name", into.display())?;
    parent.sync().doing("flush", into.display())?;
    Ok(Snapshot::new(into, digest))
}

/// Puts a copy of the snapshot in the place of the upper.
pub(crate) fn roll_back(run: &Dir, upper_name: &[u8], snapshot: &Snapshot, limits: Limits) -> Result<(), LayerError> {
    let owner = Owner::of(&run.stat(upper_name).doing("look at", "the upper")?);
    fresh_copy(run, &snapshot.open()?, owner, &snapshot.path)?;
    check_fresh(run, snapshot.digest, limits, &snapshot.path)?;
    rustix::fs::syncfs(run).doing("flush", "the upper")?;
    exchange_fresh(run, upper_name)
}

/// Puts an empty directory in the place of the upper.
pub(crate) fn discard(run: &Dir, upper_name: &[u8]) -> Result<(), LayerError> {
    let stat = run.stat(upper_name).doing("look at", "the upper")?;
    fresh(run)?;
    run.set_mode_of(FRESH, stat.st_mode & 0o7777).doing("set the mode of", "the new upper")?;
    Owner::of(&stat).give(run, FRESH).doing("give to its owner", "the new upper")?;
    exchange_fresh(run, upper_name)
}

fn exchange_fresh(run: &Dir, upper_name: &[u8]) -> Result<(), LayerError> {
    run.exchange(FRESH, run, upper_name).doing("exchange", "the upper")?;
    remove_tree(run, FRESH, TRASH).doing("remove", "the upper that was")
}

/// An empty directory, whatever an interrupted call left in its place.
fn fresh(parent: &Dir) -> Result<Dir, LayerError> {
    remove_tree(parent, FRESH, TRASH).doing("remove", "what an interrupted call left")?;
    parent.make(FRESH).doing("make", "a new directory")
}

fn fresh_copy(parent: &Dir, from: &Dir, owner: Owner, shown: &Path) -> Result<(), LayerError> {
    let copy = fresh(parent)?;
    owner.give(parent, FRESH).doing("give to its owner", shown.display())?;
    copy_tree(from, &copy, owner)
}

/// What was copied is read again: the source may have been damaged, or written to meanwhile.
fn check_fresh(parent: &Dir, digest: Digest, limits: Limits, source: &Path) -> Result<(), LayerError> {
    let copy = parent.dir(FRESH).doing("open", source.display())?;
    if Upper::read(&copy, limits)?.digest() == digest {
        return Ok(());
    }
    remove_tree(parent, FRESH, TRASH).doing("remove", "a bad copy")?;
    Err(LayerError::Damaged(source.to_owned()))
}

/// The directory a path is in, and its name there.
pub(crate) fn place(path: &Path) -> Result<(Dir, Vec<u8>), LayerError> {
    use std::os::unix::ffi::OsStrExt;
    let missing = || std::io::Error::from(std::io::ErrorKind::InvalidInput);
    let name = path.file_name().ok_or_else(missing).doing("use the name of", path.display())?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Dir::open(parent).doing("open", parent.display())?, name.as_bytes().to_vec()))
}
