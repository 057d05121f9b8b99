//! Why a repository cannot be worked with, each with what to do about it.

use std::path::PathBuf;

use thiserror::Error;

use crate::error::LayerError;
use crate::git::{BadName, Branch, GitError};

/// Why a repository cannot be worked with. Nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// There is none.
    #[error("`{0}` is in no git repository: go to one, or make one with `git init`")]
    NotFound(PathBuf),
    /// It has no files.
    #[error("`{0}` is a bare repository, which has no files: go to a clone of it")]
    Bare(PathBuf),
    /// A worktree that somebody else linked, or a submodule.
    #[error("`{0}` is a linked worktree or a submodule: go to the main checkout of its repository")]
    Linked(PathBuf),
    /// Somebody else's.
    #[error("`{path}` belongs to user {owner} and not to user {user}: work as its owner, or on a clone of your own")]
    Owner {
        /// What belongs to somebody else.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// A format that is not read.
    #[error("the repository uses `{setting} = {value}`, which is not supported: {hint}")]
    Format {
        /// Which setting says so.
        setting: String,
        /// What it says.
        value: String,
        /// What helps.
        hint: &'static str,
    },
    /// Settings from elsewhere.
    #[error("the repository's settings include others (`{0}`): move those that are needed into `.git/config`")]
    Includes(String),
    /// Settings that no person wrote.
    #[error("the repository's settings name more than {limit} programs: remove them from `.git/config`")]
    Settings {
        /// How many are read.
        limit: usize,
    },
    /// Something else where git expects a plain file or directory.
    #[error("`{0}` is not what git makes: a plain file or directory is needed there")]
    NotPlain(PathBuf),
    /// No such branch or commit.
    #[error("`{0}` names no commit here: name a branch, a tag or a commit of this repository")]
    Unknown(String),
    /// A branch without which nothing can be compared.
    #[error("there is no branch `{0}`")]
    NoBranch(Branch),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Git could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Files could not be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
}
