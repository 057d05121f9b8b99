//! Branches and commits of a repository.

use super::commit::{self, CommitInfo};
use super::{Repository, RepositoryError};
use crate::git::{Branch, GitError, ObjectId};

impl Repository {
    /// The commit that a branch, a tag or the name of a commit stands for.
    pub fn resolve(&self, name: &str) -> Result<ObjectId, RepositoryError> {
        let unknown = || RepositoryError::Unknown(name.escape_debug().to_string());
        if name.is_empty() || name.starts_with('-') || name.contains(|each: char| each.is_control()) {
            return Err(unknown());
        }
        let commit = format!("{name}^{{commit}}");
        match self.git().run(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]) {
            Ok(printed) => object(&printed),
            Err(GitError::Failed { .. }) => Err(unknown()),
            Err(error) => Err(error.into()),
        }
    }

    /// Where a branch is, if it exists.
    pub fn tip(&self, branch: &Branch) -> Result<Option<ObjectId>, RepositoryError> {
        match self.resolve(&branch.full()) {
            Ok(tip) => Ok(Some(tip)),
            Err(RepositoryError::Unknown(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is such a branch. One that moved lately is a file with its name, which is faster than asking git; the
    /// others git keeps together.
    pub fn branch_exists(&self, branch: &Branch) -> Result<bool, RepositoryError> {
        let file = self.common_dir().join(branch.full());
        let is_file = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() < 200);
        if is_file && std::fs::read(&file).is_ok_and(|text| object(&text).is_ok()) {
            return Ok(true);
        }
        Ok(self.git().ask(["show-ref", "--verify", "--quiet", &branch.full()])?)
    }

    /// Whether everything on a branch is on another one too.
    pub fn is_merged(&self, branch: &Branch, into: &Branch) -> Result<bool, RepositoryError> {
        for each in [branch, into] {
            if !self.branch_exists(each)? {
                return Err(RepositoryError::NoBranch(each.clone()));
            }
        }
        Ok(self.git().ask(["merge-base", "--is-ancestor", &branch.full(), &into.full()])?)
    }

    /// Whether one commit is in the history of the other.
    pub fn is_ancestor(&self, ancestor: &ObjectId, of: &ObjectId) -> Result<bool, RepositoryError> {
        Ok(self.git().ask(["merge-base", "--is-ancestor", ancestor.as_str(), of.as_str()])?)
    }

    /// The newest commit that both continue, if there is one.
    pub fn merge_base(&self, one: &ObjectId, other: &ObjectId) -> Result<Option<ObjectId>, RepositoryError> {
        match self.git().run(["merge-base", one.as_str(), other.as_str()]) {
            Ok(printed) => object(&printed).map(Some),
            Err(GitError::Failed { stderr, .. }) if stderr.is_empty() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// How many commits `tip` has that `base` has not, and the other way round.
    pub fn ahead_behind(&self, tip: &ObjectId, base: &ObjectId) -> Result<(u64, u64), RepositoryError> {
        let range = format!("{tip}...{base}");
        let printed = text(&self.git().run(["rev-list", "--left-right", "--count", &range, "--"])?);
        let mut counts = printed.split_whitespace().map(|count| count.parse().unwrap_or_default());
        Ok((counts.next().unwrap_or_default(), counts.next().unwrap_or_default()))
    }

    /// Every commit that is in the history of `tip` and not in that of `base`, newest first.
    pub fn commits(&self, base: &ObjectId, tip: &ObjectId) -> Result<Vec<CommitInfo>, RepositoryError> {
        commit::commits(&self.git(), base, tip)
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

pub(crate) fn object(bytes: &[u8]) -> Result<ObjectId, RepositoryError> {
    Ok(text(bytes).parse()?)
}
