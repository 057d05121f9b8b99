//! Plain worktrees: a checkout of their own, at their path.

use std::num::NonZero;

use super::making::{MakeBranch, Making};
use super::record::Kind;
use super::{Plan, Worktree, WorktreeError};
use crate::git::{Git, GitError, ObjectId};
use crate::repository::Repository;

/// Writing every file of a large tree takes long on a busy machine.
pub(crate) const CHECKOUT_MS: u64 = 30 * 60 * 1000;

/// A checkout can be made again; waiting for the disk would cost more than it is worth.
const UNFLUSHED: &str = "core.fsync=none";

/// A bound for machines with many processors; only two were measured.
const MOST_WORKERS: usize = 8;

/// With fewer, those who write and the one who hands them their work are in each other's way.
const LEAST_PROCESSORS: usize = 4;

/// Writes every file of a commit, and the index that fits them. No filter is run, no submodule filled.
///
/// Somebody waits for it, so it takes every processor where there are some. Where there are two, both wrote 100,000 files
/// no faster than one did, in memory and on disk.
pub(super) fn write_files(git: Git, commit: &ObjectId) -> Result<(), GitError> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let workers = format!("checkout.workers={}", workers(processors));
    let settings = ["-c", UNFLUSHED, "-c", &workers];
    let what = ["read-tree", "--reset", "-u", "--no-recurse-submodules", commit.as_str()];
    git.timeout_ms(CHECKOUT_MS).run(settings.into_iter().chain(what)).map(drop)
}

fn workers(processors: usize) -> usize {
    if processors < LEAST_PROCESSORS { 1 } else { processors.min(MOST_WORKERS) }
}

impl Repository {
    /// Makes a plain worktree with its branch. If anything fails, nothing is left of it.
    ///
    /// No filter is run: pointers to large files stay pointers.
    pub fn add(&self, plan: &Plan) -> Result<Worktree, WorktreeError> {
        self.add_plain(plan, Making::branch)
    }

    /// Makes a worktree again of which nothing is left but its branch, or not even that. Commits on the branch stay, and
    /// so the files are those of the branch: a layered worktree whose branch went on comes back as a plain one.
    pub fn restore(&self, plan: &Plan, kind: Kind) -> Result<Worktree, WorktreeError> {
        let went_on = self.tip(&plan.branch)?.is_some_and(|tip| tip != plan.base);
        match kind {
            Kind::Layered if !went_on => self.add_above(plan, Making::branch_or_kept),
            Kind::Layered | Kind::Plain => self.add_plain(plan, Making::branch_or_kept),
        }
    }

    fn add_plain(&self, plan: &Plan, branch: MakeBranch) -> Result<Worktree, WorktreeError> {
        let mut making = Making::new(self, plan, Kind::Plain)?;
        let git_file = making.worktree().path().join(".git");
        making.admin(&git_file, None)?;
        branch(&mut making)?;
        making.layers()?;
        let directory = making.directory()?;
        making.worktree().write_git_file(&directory)?;
        making.worktree().check_out()?;
        making.finish()
    }
}
