//! How a worktree stands: where its branch is, and what it holds that is in no commit.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Kind, Worktree, is_work};
use crate::difference::{DifferenceError, Origin};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::{Branch, ObjectId};
use crate::repository::RepositoryError;

/// How a worktree stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Where its branch is.
    pub tip: ObjectId,
    /// Commits that it has and the branch it is compared with has not.
    pub ahead: u64,
    /// Commits that the branch it is compared with has and it has not.
    pub behind: u64,
    /// Differences in the index.
    pub staged: usize,
    /// Differences in files that git tracks.
    pub unstaged: usize,
    /// Files that git does not track.
    pub untracked: usize,
    /// Files that git is told to ignore.
    pub ignored: usize,
    /// When anything last changed, in seconds since 1970: a commit or a file that is in none.
    pub changed_at_s: i64,
}

impl State {
    /// Whether something is in no commit, ignored files aside.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.staged + self.unstaged + self.untracked > 0
    }
}

impl Worktree {
    /// How it stands beside another branch, usually the one it began from.
    pub fn state(&self, beside: &Branch) -> Result<State, DifferenceError> {
        let tip = self.tip()?;
        let other = self.repository.tip(beside)?.ok_or_else(|| RepositoryError::NoBranch(beside.clone()))?;
        let (ahead, behind) = self.repository.ahead_behind(&tip, &other)?;
        // From the tip on: what is in no commit.
        let differences = self.without_given(self.differences(&tip)?)?;
        let count = |origin| differences.iter().filter(|each| each.origin == origin && is_work(&each.path)).count();
        Ok(State {
            ahead,
            behind,
            staged: count(Origin::Staged),
            unstaged: count(Origin::Unstaged),
            untracked: count(Origin::Untracked),
            ignored: count(Origin::Ignored),
            changed_at_s: self.changed_at_s(&tip, differences.iter().map(|each| &each.path))?,
            tip,
        })
    }

    fn changed_at_s<'a>(
        &self,
        tip: &ObjectId,
        paths: impl Iterator<Item = &'a crate::path::TreePath>,
    ) -> Result<i64, DifferenceError> {
        let printed = self.repository.git().run(["rev-list", "--max-count=1", "--timestamp", tip.as_str(), "--"])?;
        let printed = crate::repository::text(&printed);
        let committed = printed.split(' ').next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
        let root = match self.kind() {
            Kind::Plain => self.path(),
            Kind::Layered => self.cage().upper,
        };
        let root = Dir::open(&root).doing("open", root.display())?;
        let changed = paths.filter_map(|path| root.look(path).ok().flatten()).map(|stat| stat.st_mtime);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // A time of the agent's choice is no later than now.
        let latest = changed.max().unwrap_or_default().min(i64::try_from(now).unwrap_or(i64::MAX));
        Ok(latest.max(committed))
    }
}
