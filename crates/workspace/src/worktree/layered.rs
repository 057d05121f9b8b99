//! Layered worktrees: the checkout of their base, shared, and an upper of their own.
//!
//! The index is a copy of the base's own: what git knows about the files of the base is true in every cage that shows them,
//! so that nothing is read again.

use super::making::{MakeBranch, Making};
use super::record::Kind;
use super::{Plan, Worktree, WorktreeError, base};
use crate::dir::Dir;
use crate::error::Doing;
use crate::repository::Repository;

impl Repository {
    /// Makes a layered worktree with its branch. The first one on a commit writes its files, every other one shares them.
    /// If anything fails, nothing is left but the base.
    pub fn add_layered(&self, plan: &Plan) -> Result<Worktree, WorktreeError> {
        self.add_above(plan, Making::branch)
    }

    pub(super) fn add_above(&self, plan: &Plan, branch: MakeBranch) -> Result<Worktree, WorktreeError> {
        let mut making = Making::new(self, plan, Kind::Layered)?;
        let _base = base::hold(self, &plan.base)?;
        let upper = making.worktree().cage().upper;
        making.admin(&upper.join(".git"), Some(&base::index(self, &plan.base)))?;
        branch(&mut making)?;
        making.layers()?;
        let upper = Dir::open(&upper).doing("open", upper.display())?;
        making.worktree().write_git_file(&upper)?;
        making.directory()?;
        making.finish()
    }
}
