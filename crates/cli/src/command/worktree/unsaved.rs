//! What would be lost if a worktree were removed. It never goes with it unless somebody says so.

use placet_workspace::Worktree;
use placet_workspace::worktree::{Losing, Unsaved};
use placet_worktree::own;

use super::failed;
use crate::error::{CliError, Code};

/// Work in a worktree that is nowhere else, and leave to lose exactly what is there now.
pub(super) struct Kept {
    pub(super) work: Unsaved,
    pub(super) losing: Losing,
}

impl Kept {
    /// What the runtime itself put there is no work of anybody.
    pub(super) fn in_worktree(worktree: &Worktree) -> Result<Self, CliError> {
        let mut work = worktree.unsaved().map_err(failed)?;
        let losing = Losing::Exactly(work.clone());
        work.files.retain(|path| !own::is_known(path.as_bytes()));
        Ok(Self { work, losing })
    }
}

/// What may be lost: nothing that matters, or exactly what is there now.
pub(super) fn losing(worktree: &Worktree, discard: bool) -> Result<Losing, CliError> {
    let Kept { work, losing } = Kept::in_worktree(worktree)?;
    if work.is_empty() || discard {
        return Ok(losing);
    }
    let message = format!("work that was not committed would be lost: {work}");
    let hint = "commit it with `placet exec`, or give it up with --discard";
    Err(CliError::new(Code::Conflict, message).hint(hint))
}
