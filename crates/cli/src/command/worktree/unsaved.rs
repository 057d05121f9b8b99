//! What would be lost if a worktree were removed. It never goes with it unless somebody says so.

use placet_workspace::Worktree;
use placet_workspace::worktree::Losing;

use super::failed;
use crate::error::{CliError, Code};

/// What may be lost: nothing, or exactly what is there now.
pub(super) fn losing(worktree: &Worktree, discard: bool) -> Result<Losing, CliError> {
    let unsaved = worktree.unsaved().map_err(failed)?;
    match (unsaved.is_empty(), discard) {
        (true, _) => Ok(Losing::Nothing),
        (false, true) => Ok(Losing::Exactly(unsaved)),
        (false, false) => {
            let message = format!("work that was not committed would be lost: {unsaved}");
            let hint = "commit it with `placet exec`, or give it up with --discard";
            Err(CliError::new(Code::Conflict, message).hint(hint))
        }
    }
}
