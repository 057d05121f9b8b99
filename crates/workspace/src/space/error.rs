//! What can go wrong with the space of a run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::LayerError;
use crate::path::TreePath;

/// Why something was not done with a space. Unless it says otherwise, nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// Something is there already.
    #[error("`{0}` is there already: a space is made where nothing is")]
    Exists(PathBuf),
    /// Not the directory of a run.
    #[error("`{path}` is no space of a run: {why}")]
    NoSpace {
        /// Where.
        path: PathBuf,
        /// What is missing or cannot be understood.
        why: String,
    },
    /// The base and the space lie inside one another.
    #[error("the base `{base}` and the space `{root}` lie inside one another: a cage could change what it only reads")]
    Overlapping {
        /// The folder that is only read.
        base: PathBuf,
        /// The directory of the space.
        root: PathBuf,
    },
    /// The number is used.
    #[error("there is a snapshot {0} already: snapshots never change, take one with another number")]
    SnapshotExists(u64),
    /// The number is not used.
    #[error("there is no snapshot {0}")]
    NoSnapshot(u64),
    /// A snapshot is not what it was when it was taken.
    #[error("snapshot {number} is damaged: {what}; nothing was changed, use another snapshot")]
    Damaged {
        /// Which.
        number: u64,
        /// What differs from what was recorded.
        what: String,
    },
    /// Content that was kept encrypted, and the key for it is not here.
    #[error(
        "`{path}` cannot be brought back: {why}; nothing was changed, start the worker with the key of its snapshots"
    )]
    Locked {
        /// Which file.
        path: TreePath,
        /// What is missing or does not fit.
        why: String,
    },
    /// A copy that was just made cannot be brought back.
    #[error(
        "the copy of `{0}` did not come back as it was: the snapshot was not taken, check the disk and take it again"
    )]
    NotRestorable(TreePath),
    /// What is in place after a rollback is not what the snapshot has.
    #[error(
        "`{0}` is not as the snapshot has it after the rollback: something wrote to the space meanwhile; \
         end it and roll back again"
    )]
    Disturbed(String),
    /// An earlier rollback could not be finished.
    #[error("an earlier rollback was interrupted and could not be finished: roll back again, to any snapshot")]
    Unfinished,
    /// Something that is no directory, or a directory where a file should be.
    #[error("`{0}` cannot be laid down: something else is in its place or above it")]
    InTheWay(TreePath),
    /// An output is no longer what was listed.
    #[error("`{0}` is no longer the output that was listed: list the outputs again")]
    OutputChanged(TreePath),
    /// Something of it is left.
    #[error(
        "`{0}` is still there after it was destroyed: something wrote to it meanwhile; end it and destroy it again"
    )]
    Left(PathBuf),
    /// A list could not be put into words.
    #[error("a list of what is in the space could not be written")]
    Unwritable(#[source] io::Error),
    /// A tree could not be read or changed.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

impl SpaceError {
    pub(super) fn unwritable(error: impl Into<io::Error>) -> Self {
        Self::Unwritable(error.into())
    }
}

impl From<crate::path::BadPath> for SpaceError {
    fn from(bad: crate::path::BadPath) -> Self {
        Self::Layer(bad.into())
    }
}
