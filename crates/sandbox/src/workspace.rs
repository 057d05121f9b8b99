//! Where a command works: a host directory itself, or a layer above one that keeps every change apart.
//!
//! # What an upper looks like
//!
//! A layered directory is an overlay: reads fall through to `lower`, which is never written, and every change lands in
//! `upper`. Afterwards `upper` holds exactly what changed, and nothing else:
//!
//! | in the cage | in `upper` |
//! | --- | --- |
//! | a file was made or changed, even by one byte or its mode | the whole file, with its new content |
//! | a directory was made, or something below it changed | a directory of the same name |
//! | a file or directory of `lower` was removed | a *whiteout*: a character device with device number 0:0 |
//! | a directory of `lower` was removed and made again | a directory with the attribute `user.overlay.opaque` = `y`: nothing of `lower` below it shows |
//! | a symbolic link, pipe or socket was made | the same |
//!
//! - Whiteouts are hard links of one another: their link count says nothing.
//! - A directory of `lower` cannot be renamed as such (`EXDEV`; `mv` copies and removes), a file is copied: there are
//!   neither redirects nor files without their content (`redirect_dir=nofollow`, `metacopy=off`, `index=off`).
//! - Other attributes named `user.overlay.*` (`impure`, `origin`) are notes of the kernel to itself; attributes that
//!   the command sets under that prefix are stored as `user.overlay.overlay.*`. A whiteout may also be a regular file
//!   with the attribute `user.overlay.whiteout` in a directory whose `user.overlay.opaque` is `x`: this kernel feature
//!   is for lower layers that others prepared, nothing here makes them.
//! - Owners: everything in `upper` belongs to the owner `upper` itself has on the host.
//! - `upper` may be given to a later cage again, which then sees what the earlier one left. Two at a time are refused.
//! - What is mounted below `lower` on the host does not show, and for an ordinary caller keeps the cage from starting.
//! - Nothing is flushed to disk on behalf of the command, and its own flushes cost nothing: whoever takes files over
//!   flushes them. After a crash of the host the upper of an unfinished run is to be thrown away.
//! - The kernel keeps a directory `work/work` that nobody may enter; whoever removes `work` as an ordinary user changes
//!   its mode first.
//!
//! Reading an upper is not done here: it holds bytes of a hostile writer, and is read by code that expects that.

use std::path::{Path, PathBuf};

use crate::request::RequestError;

/// Where a command works. It appears as `/work`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// This host directory, written at once.
    Direct(PathBuf),
    /// A layer above a host directory.
    Layered(Layers),
}

impl Workspace {
    /// Where changes of earlier commands are, if they are kept apart.
    pub(crate) fn upper(&self) -> Option<&Path> {
        match self {
            Self::Direct(_) => None,
            Self::Layered(layers) => Some(&layers.upper),
        }
    }

    /// The host directory whose content is seen.
    #[must_use]
    pub fn host(&self) -> &Path {
        match self {
            Self::Direct(host) => host,
            Self::Layered(layers) => &layers.lower,
        }
    }
}

impl From<Layers> for Workspace {
    fn from(layers: Layers) -> Self {
        Self::Layered(layers)
    }
}

impl From<PathBuf> for Workspace {
    fn from(host: PathBuf) -> Self {
        Self::Direct(host)
    }
}

impl From<&PathBuf> for Workspace {
    fn from(host: &PathBuf) -> Self {
        Self::Direct(host.clone())
    }
}

impl From<&Path> for Workspace {
    fn from(host: &Path) -> Self {
        Self::Direct(host.to_owned())
    }
}

impl From<&str> for Workspace {
    fn from(host: &str) -> Self {
        Self::Direct(host.into())
    }
}

/// A directory in layers: what is there already, and where changes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    pub(crate) lower: PathBuf,
    pub(crate) upper: PathBuf,
    pub(crate) work: PathBuf,
}

impl Layers {
    /// `lower` is shown and never written. `upper` receives every change, `work` is room for the kernel: two private
    /// directories of the run, in one directory, of one owner, on a file system that keeps extended attributes of
    /// users (ext4, xfs, btrfs; tmpfs since Linux 6.6).
    pub fn new(lower: impl Into<PathBuf>, upper: impl Into<PathBuf>, work: impl Into<PathBuf>) -> Self {
        Self { lower: lower.into(), upper: upper.into(), work: work.into() }
    }

    /// The directory that is shown and never written.
    #[must_use]
    pub fn lower(&self) -> &Path {
        &self.lower
    }

    /// The directory that receives every change.
    #[must_use]
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    pub(crate) fn hosts(&self) -> [&PathBuf; 3] {
        [&self.lower, &self.upper, &self.work]
    }

    pub(crate) fn hosts_mut(&mut self) -> [&mut PathBuf; 3] {
        [&mut self.lower, &mut self.upper, &mut self.work]
    }

    /// The kernel wants upper and work in one mount, hence in one directory here; layers inside one another would
    /// show changes as if they had been there before.
    pub(crate) fn check(&self) -> Result<(), RequestError> {
        let Self { lower, upper, work } = self;
        if upper == work || upper.parent() != work.parent() || upper.file_name().is_none() {
            return Err(RequestError::NotSiblings { upper: upper.clone(), work: work.clone() });
        }
        match [upper, work].into_iter().find(|private| overlaps(lower, private)) {
            Some(private) => Err(RequestError::LayerInLayer { lower: lower.clone(), private: private.clone() }),
            None => Ok(()),
        }
    }
}

/// Layers that appear somewhere else than the workspace, for instance the common directory of a linked git worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub(crate) layers: Layers,
    pub(crate) at: PathBuf,
}

pub(crate) fn overlaps(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
