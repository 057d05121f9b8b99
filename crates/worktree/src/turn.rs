//! TURN: one command at a time works in a worktree, from its first look to the last thing it takes over.
//!
//! What is checked is then what is closed, and what is removed is what was looked at. Whoever comes second is told so at
//! once, and does not wait. A turn ends with its process, however that ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

use placet_workspace::{Worktree, WorktreeName};

#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error("another command works in `{0}` now; try again when it has ended")]
    Taken(WorktreeName),
    #[error("`{at}` cannot be locked")]
    Io { at: PathBuf, source: io::Error },
}

/// Held until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Turn {
    _private: File,
}

impl Turn {
    /// The private directory of the worktree in the repository is what is locked: no agent can write or lock it.
    pub fn take(worktree: &Worktree) -> Result<Self, TurnError> {
        let at = worktree.git_dir();
        let failed = |source| TurnError::Io { at: at.clone(), source };
        let private = File::open(&at).map_err(failed)?;
        match private.try_lock() {
            Ok(()) => Ok(Self { _private: private }),
            Err(TryLockError::WouldBlock) => Err(TurnError::Taken(worktree.name().clone())),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}
