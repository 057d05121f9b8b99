//! Plain worktrees: a checkout of their own, at their path.

use super::making::Making;
use super::record::Kind;
use super::{Plan, Worktree, WorktreeError};
use crate::repository::Repository;

/// Writing every file of a large tree takes long on a busy machine.
pub(super) const CHECKOUT_MS: u64 = 30 * 60 * 1000;

/// A checkout can be made again; waiting for the disk would cost more than it is worth.
pub(super) const UNFLUSHED: &str = "core.fsync=none";

impl Repository {
    /// Makes a plain worktree with its branch. If anything fails, nothing is left of it.
    ///
    /// No filter is run: pointers to large files stay pointers.
    pub fn add(&self, plan: &Plan) -> Result<Worktree, WorktreeError> {
        let mut making = Making::new(self, plan, Kind::Plain)?;
        let git_file = making.worktree().path().join(".git");
        making.admin(&git_file, None)?;
        making.branch()?;
        making.layers()?;
        let directory = making.directory()?;
        making.worktree().write_git_file(&directory)?;
        making.worktree().check_out()?;
        making.finish()
    }
}
