//! Why a worktree could not be made, read or removed, each with what to do about it.

use std::path::PathBuf;

use thiserror::Error;

use super::{Unsaved, WorktreeName};
use crate::difference::DifferenceError;
use crate::error::LayerError;
use crate::git::{Branch, GitError, ObjectId};
use crate::repository::RepositoryError;

/// Why a worktree could not be made, read or removed. What was begun was taken back.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// No name for a worktree.
    #[error(
        "`{0}` is no name for a worktree: use letters, digits, `.`, `_` and `-`, at most 100, and begin with a letter or digit"
    )]
    Name(String),
    /// Not below the directory that git ignores.
    #[error(
        "`{0}` is no place for a worktree: choose one below `.worktrees/`, without `.` and `..`, and no name there that begins with `.`"
    )]
    Place(PathBuf),
    /// The name is taken.
    #[error("there is a worktree `{0}` already: resume it, remove it, or choose another name")]
    Exists(WorktreeName),
    /// The place is taken.
    #[error("`{0}` exists already: move it aside, or choose another place")]
    PlaceTaken(PathBuf),
    /// The branch is taken.
    #[error("there is a branch `{0}` already: resume its worktree, delete it, or choose another name")]
    BranchExists(Branch),
    /// There is no such worktree.
    #[error("there is no worktree `{0}`: list those there are")]
    Unknown(WorktreeName),
    /// A worktree that was not made to its end, or lost a part.
    #[error("the worktree `{name}` is damaged: {damage}; repair it first")]
    Damaged {
        /// Which one.
        name: WorktreeName,
        /// What is wrong with it.
        damage: String,
    },
    /// Work that would be lost.
    #[error(
        "the worktree `{name}` holds work that is nowhere else: {unsaved}; save it, or say that exactly this may go"
    )]
    Unsaved {
        /// Which one.
        name: WorktreeName,
        /// What would be lost.
        unsaved: Unsaved,
    },
    /// What would be lost cannot be told.
    #[error(transparent)]
    Difference(#[from] Box<DifferenceError>),
    /// A base that worktrees stand on.
    #[error("the base `{0}` is in use: remove the worktrees that stand on it first")]
    BaseInUse(ObjectId),
    /// The record of a worktree cannot be understood.
    #[error("`{path}` is not what was written: {why}; remove the worktree with `git worktree remove`")]
    Record {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The repository could not be asked.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// Files could not be read or written.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

impl From<GitError> for WorktreeError {
    fn from(error: GitError) -> Self {
        Self::Repository(error.into())
    }
}
