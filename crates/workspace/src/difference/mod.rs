//! Everything that differs from a base: what a worktree changed, wherever it is kept.
//!
//! | origin | what | read with |
//! | --- | --- | --- |
//! | committed | every commit since the base, one by one: what was added and removed again is in history | `git diff-tree` |
//! | staged, unstaged | tracked files | `git status`; for layered worktrees, the upper |
//! | untracked, ignored | everything else in the tree | own walk; `git check-ignore` tells them apart |
//!
//! Nothing hides: not bits in the index that tell git to look away, not rules that ignore, not repositories inside, not
//! pipes or sockets, which git does not show at all. Names are bytes. Links are read, never followed.
//!
//! What is deliberately not done: to judge. Whoever reads the list decides what may differ.

mod committed;
mod index;
mod layered;
mod lines;
mod link;
mod patch;
mod plain;
mod raw;
mod status;
mod tip;
mod walk;

use serde::Serialize;
use thiserror::Error;

pub use lines::{AddedLine, AddedLines, MOST_LINE_BYTES};
pub(crate) use link::lead_by_text;
pub use link::{Leads, Link};

pub(crate) use committed::committed;
pub(crate) use index::expected_bytes;
pub(crate) use plain::check_rules;

use crate::error::LayerError;
use crate::git::{GitError, ObjectId};
use crate::layer::Special;
use crate::path::{BadPath, TreePath};
use crate::repository::{CommitInfo, RepositoryError};
use crate::worktree::{Kind, Worktree, WorktreeError};

/// Where something that differs is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In a commit.
    Committed,
    /// In the index.
    Staged,
    /// In a file that git tracks.
    Unstaged,
    /// In a file that git does not track.
    Untracked,
    /// In a file that a rule tells git to ignore.
    Ignored,
}

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Nothing was there.
    Added,
    /// Other content, and perhaps another mode.
    Modified,
    /// The same content, but executable or no longer so.
    ModeChanged,
    /// Something of another kind: a link where a file was.
    TypeChanged,
    /// Nothing is there any more.
    Deleted,
    /// It had another name, and the same content; both names count. Moved and edited is deleted and added.
    Renamed,
    /// It is like another one, which is still there.
    Copied,
    /// A merge that was not finished.
    Unmerged,
}

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A plain file.
    File,
    /// A plain file that may be executed.
    Program,
    /// A symbolic link.
    Link,
    /// A commit of another repository, which belongs here.
    Submodule,
    /// A repository inside the worktree, with settings of its own.
    Repository,
    /// Something that git does not keep.
    Special(Special),
}

impl Entry {
    /// From the mode that git gives.
    pub(crate) fn from_mode(mode: &[u8]) -> Option<Self> {
        match mode {
            b"000000" => None,
            b"120000" => Some(Self::Link),
            b"160000" => Some(Self::Submodule),
            [.., b'7', b'5' | b'7', b'5' | b'7' | b'0'] => Some(Self::Program),
            _ => Some(Self::File),
        }
    }
}

/// One thing that differs from the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where.
    pub path: TreePath,
    /// The other name of something that was renamed or copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<TreePath>,
    /// Where it is kept.
    pub origin: Origin,
    /// How it differs.
    pub kind: DifferenceKind,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Entry>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Entry>,
    /// Where it leads, if it is a link now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// How many names the file has on disk; more than one means that it is also somewhere else.
    pub names: u64,
    /// The commit it is in. A committed difference without one is between the base and the tip: the branch does not
    /// continue its base, or merged what is not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<ObjectId>,
}

impl Difference {
    pub(crate) fn new(path: TreePath, origin: Origin, kind: DifferenceKind) -> Self {
        let (old_path, old, new, link, commit) = (None, None, None, None, None);
        Self { path, old_path, origin, kind, old, new, link, names: 1, commit }
    }
}

/// Everything that differs from a base, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences {
    pub(crate) base: ObjectId,
    pub(crate) tip: ObjectId,
    pub(crate) list: Vec<Difference>,
    pub(crate) commits: Vec<CommitInfo>,
}

impl Differences {
    /// What was compared with.
    #[must_use]
    pub fn base(&self) -> &ObjectId {
        &self.base
    }

    /// Where the branch was.
    #[must_use]
    pub fn tip(&self) -> &ObjectId {
        &self.tip
    }

    /// The same without those that the caller knows about.
    #[must_use]
    pub(crate) fn without(mut self, known: impl Fn(&Difference) -> bool) -> Self {
        self.list.retain(|difference| !known(difference));
        self
    }

    /// Each difference, in the order of paths within each origin.
    pub fn iter(&self) -> std::slice::Iter<'_, Difference> {
        self.list.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The commits since the base, newest first.
    #[must_use]
    pub fn commits(&self) -> &[CommitInfo] {
        &self.commits
    }
}

impl<'a> IntoIterator for &'a Differences {
    type Item = &'a Difference;
    type IntoIter = std::slice::Iter<'a, Difference>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Why the differences cannot be told.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DifferenceError {
    /// Git would wait for it for ever.
    #[error("`{path}` is {what}, where git reads rules: remove it")]
    Blocked {
        /// Where.
        path: TreePath,
        /// What it is.
        what: Special,
    },
    /// A name that cannot be named.
    #[error(transparent)]
    Path(#[from] BadPath),
    /// Git printed something that was not expected.
    #[error("git's answer cannot be understood at `{0}`")]
    Answer(String),
    /// The repository could not be asked.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The worktree is not whole.
    #[error(transparent)]
    Worktree(#[from] Box<WorktreeError>),
    /// Files could not be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

impl From<GitError> for DifferenceError {
    fn from(error: GitError) -> Self {
        Self::Repository(error.into())
    }
}

impl From<WorktreeError> for DifferenceError {
    fn from(error: WorktreeError) -> Self {
        Self::Worktree(Box::new(error))
    }
}

impl Worktree {
    /// Everything that differs from this base. No cage of the worktree may be at work meanwhile.
    ///
    /// Of a plain worktree the files on the host are compared; what an upper above them holds is not in it before it is
    /// promoted. Commits count once they are harvested.
    pub fn differences(&self, base: &ObjectId) -> Result<Differences, DifferenceError> {
        let (past, working) = match self.kind() {
            Kind::Plain => at_once(|| self.past(base, self.tip()?), || plain::working(self))?,
            Kind::Layered => {
                let tip = self.tip()?;
                at_once(|| self.past(base, tip.clone()), || layered::working(self, &tip))?
            }
        };
        let mut differences = past?;
        differences.list.extend(working?);
        self.lead(&mut differences.list)?;
        Ok(differences)
    }

    /// What is in commits alone.
    fn past(&self, base: &ObjectId, tip: ObjectId) -> Result<Differences, DifferenceError> {
        let (list, commits) = committed(&self.repository().git(), base, &tip)?;
        Ok(Differences { base: base.clone(), tip, list, commits })
    }
}

/// Two things at the same time.
fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> Result<(A, B), DifferenceError> {
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join(), other)
    });
    let ended = |_| RepositoryError::Git(GitError::Start(std::io::Error::other("a thread ended early")));
    Ok((one.map_err(ended)?, other))
}
