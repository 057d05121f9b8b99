//! Taking a branch over into another one: worked out first, then done as a whole, or not at all.
//!
//! | what | how |
//! | --- | --- |
//! | which work | the commit that the caller saw, if the branch is still there |
//! | the result | one merge commit, made from objects alone; conflicts are an answer, and nothing changes |
//! | the moment | the branch is locked where it was seen; between working out and doing, nobody moves it |
//! | files | a main checkout that has the branch checked out follows, if nothing in it would be lost |
//! | never | a hook, a filter, a merge driver, a remote, another worktree's checkout |
//!
//! Without filters, large files of Git LFS arrive in a main checkout as the pointers that the commits hold.

mod again;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::{fs, io};

use thiserror::Error;

use crate::git::{BadName, Branch, Call, Git, GitError, Held, ObjectId};
use crate::path::TreePath;
use crate::repository::{Repository, RepositoryError, text};
use crate::worktree::CHECKOUT_MS;

/// Work that is to be taken over.
#[derive(Clone, Debug)]
pub struct Merge<'a> {
    /// The branch it is on.
    pub branch: &'a Branch,
    /// Where the caller saw it.
    pub expected_tip: &'a ObjectId,
    /// The branch that takes it over.
    pub into: &'a Branch,
    /// What the merge commit says.
    pub message: &'a str,
    /// Who takes it over: a name and where to reach them.
    pub by: (&'a str, &'a str),
}

/// Why nothing was taken over. Nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Both sides changed the same thing.
    #[error("{} conflict: {}", counted(.0), shown(.0))]
    Conflicts(Vec<TreePath>),
    /// A branch is not where it was seen.
    #[error("`{branch}` is not at {expected} any more: look at it again, and take over what you saw")]
    Moved {
        /// The branch.
        branch: Branch,
        /// Where it was seen.
        expected: ObjectId,
    },
    /// The two have nothing in common.
    #[error("`{0}` and `{1}` have no commit in common")]
    Unrelated(Branch, Branch),
    /// The main checkout has the branch, and changes of somebody's in it.
    #[error("`{into}` is checked out in the main checkout, where {} changed: commit or stash it first", shown(.paths))]
    NotClean {
        /// The branch that takes over.
        into: Branch,
        /// What changed.
        paths: Vec<TreePath>,
    },
    /// Files of the main checkout are in the way.
    #[error("`{into}` is checked out in the main checkout, whose files are in the way: {why}")]
    InTheWay {
        /// The branch that takes over.
        into: Branch,
        /// What git said.
        why: String,
    },
    /// Only parts of the tree are in the main checkout.
    #[error("`{0}` is checked out in parts (`core.sparseCheckout`): check out another branch there first")]
    Sparse(Branch),
    /// The commit of a merge that is to be taken up again is not there, or is of another merge.
    #[error("{commit} is no merge of `{branch}` that can be taken up again")]
    Another {
        /// What was recorded.
        commit: ObjectId,
        /// The branch that was to be taken over.
        branch: Branch,
    },
    /// Another checkout has the branch, and would not follow.
    #[error("`{into}` is checked out at `{at}`: check out another branch there first")]
    Elsewhere {
        /// The branch that takes over.
        into: Branch,
        /// Where it is checked out.
        at: String,
    },
    /// The repository could not be asked.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

impl From<GitError> for MergeError {
    fn from(error: GitError) -> Self {
        Self::Repository(error.into())
    }
}

impl From<BadName> for MergeError {
    fn from(error: BadName) -> Self {
        Self::Repository(error.into())
    }
}

/// A merge that can be done: its commit exists, and the branch that gets it is locked where it was.
#[derive(Debug)]
pub struct Merging {
    into: Branch,
    before: ObjectId,
    commit: ObjectId,
    held: Option<Held>,
    checkout: Option<Checkout>,
}

/// The main checkout, if it has the branch and has to follow.
#[derive(Debug)]
struct Checkout {
    git: Git,
    root: PathBuf,
    how: Following,
}

/// How its files become those of the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Following {
    /// From those of the branch as it was.
    Step,
    /// From whatever is there: somebody was interrupted, and nothing of a person's is in between.
    Jump,
}

impl Checkout {
    /// Whether something stands where a new file goes; what cannot be seen does.
    fn has(&self, path: &TreePath) -> bool {
        let found = fs::symlink_metadata(self.root.join(OsStr::from_bytes(path.as_bytes())));
        !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

impl Repository {
    /// Works a merge out. Until [`Merging::finish`] is called, branches and files are as they were.
    pub fn merge(&self, merge: &Merge<'_>) -> Result<Merging, MergeError> {
        let Merge { branch, expected_tip, into, .. } = merge;
        if self.tip(branch)?.as_ref() != Some(*expected_tip) {
            return Err(MergeError::Moved { branch: (*branch).clone(), expected: (*expected_tip).clone() });
        }
        let before = self.tip(into)?.ok_or_else(|| RepositoryError::NoBranch((*into).clone()))?;
        if self.is_ancestor(expected_tip, &before)? {
            let commit = before.clone();
            return Ok(Merging { into: (*into).clone(), before, commit, held: None, checkout: None });
        }
        if self.merge_base(expected_tip, &before)?.is_none() {
            return Err(MergeError::Unrelated((*branch).clone(), (*into).clone()));
        }
        let commit = self.merge_commit(merge, &before)?;
        let checkout = self.follower(into)?;
        if let Some(checkout) = &checkout {
            ready_to_follow(checkout, into, (&before, &commit))?;
        }
        self.locked(into, before, commit, checkout)
    }

    /// A merge whose commit and files are ready: from here on nobody else moves the branch.
    fn locked(
        &self,
        into: &Branch,
        before: ObjectId,
        commit: ObjectId,
        checkout: Option<Checkout>,
    ) -> Result<Merging, MergeError> {
        let held = self.git().hold(into, &before, &commit, "placet: merge").map_err(|error| match error {
            GitError::Failed { .. } => MergeError::Moved { branch: into.clone(), expected: before.clone() },
            other @ (GitError::Start(_) | GitError::TimedOut { .. } | GitError::TooMuch { .. }) => other.into(),
        })?;
        Ok(Merging { into: into.clone(), before, commit, held: Some(held), checkout })
    }

    /// The commit, from objects alone.
    fn merge_commit(&self, merge: &Merge<'_>, before: &ObjectId) -> Result<ObjectId, MergeError> {
        let tip = merge.expected_tip.as_str();
        let asked = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", before.as_str(), tip];
        let (is_clean, printed) = self.git().explained(Call::new(asked))?;
        let mut parts = parts(&printed);
        let tree: ObjectId = text(parts.next().unwrap_or_default()).parse()?;
        if !is_clean {
            return Err(MergeError::Conflicts(paths(parts)));
        }
        let (name, email) = merge.by;
        let mut git = self.git();
        for (role, value) in [("NAME", name), ("EMAIL", email)] {
            git = git.variable(&format!("GIT_AUTHOR_{role}"), value).variable(&format!("GIT_COMMITTER_{role}"), value);
        }
        let made = ["commit-tree", "-F", "-", "-p", before.as_str(), "-p", tip, tree.as_str()];
        Ok(text(&git.call(Call::new(made).input(merge.message))?).parse()?)
    }

    /// The main checkout, if that has the branch; nobody else may have it.
    fn follower(&self, into: &Branch) -> Result<Option<Checkout>, MergeError> {
        let printed = self.git().run(["worktree", "list", "--porcelain", "-z"])?;
        let wanted = format!("branch {}", into.full());
        let mut is_main = false;
        for (number, lines) in records(&printed).into_iter().enumerate() {
            if !lines.contains(&wanted.as_bytes()) {
                continue;
            }
            if number > 0 {
                let at = lines.first().map(|line| line.strip_prefix(b"worktree ").unwrap_or(line)).unwrap_or_default();
                let at = String::from_utf8_lossy(at).escape_debug().to_string();
                return Err(MergeError::Elsewhere { into: into.clone(), at });
            }
            is_main = true;
        }
        if is_main && self.is_sparse() {
            return Err(MergeError::Sparse(into.clone()));
        }
        let git = self.git().work_tree(self.root()).timeout_ms(CHECKOUT_MS);
        Ok(is_main.then(|| Checkout { git, root: self.root().to_owned(), how: Following::Step }))
    }
}

impl Merging {
    /// The commit that the branch gets; where it is already, if it has everything.
    #[must_use]
    pub fn commit(&self) -> &ObjectId {
        &self.commit
    }

    /// Whether the branch had everything before.
    #[must_use]
    pub fn is_nothing_new(&self) -> bool {
        self.held.is_none()
    }

    /// Does it: the files of the main checkout first, if they have to follow, and then the branch.
    pub fn finish(mut self) -> Result<ObjectId, MergeError> {
        let Some(held) = self.held.take() else { return Ok(self.commit) };
        if let Some(Checkout { git, how, .. }) = &self.checkout {
            let (before, commit) = (self.before.as_str(), self.commit.as_str());
            let arguments = match how {
                Following::Step => vec!["read-tree", "-m", "-u", "--no-recurse-submodules", before, commit],
                Following::Jump => vec!["read-tree", "--reset", "-u", "--no-recurse-submodules", commit],
            };
            git.run(arguments).map_err(|error| in_the_way(&self.into, error))?;
        }
        held.release()?;
        Ok(self.commit)
    }
}

/// Nothing of a person's would be lost or overwritten, ignored files included.
fn ready_to_follow(checkout: &Checkout, into: &Branch, change: (&ObjectId, &ObjectId)) -> Result<(), MergeError> {
    let git = &checkout.git;
    // A file that only looks changed looks right afterwards.
    git.answer(Call::new(["update-index", "-q", "--refresh", "--ignore-submodules"]))?;
    let changed = git.run(["diff-index", "--name-only", "-z", "--ignore-submodules", "HEAD", "--"])?;
    if !changed.is_empty() {
        return Err(MergeError::NotClean { into: into.clone(), paths: paths(parts(&changed)) });
    }
    let (before, commit) = (change.0.as_str(), change.1.as_str());
    // Git itself would take ignored files for worthless.
    let added = git.run(["diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", "--name-only", before, commit])?;
    let there: Vec<TreePath> = paths(parts(&added)).into_iter().filter(|path| checkout.has(path)).collect();
    if !there.is_empty() {
        return Err(MergeError::InTheWay { into: into.clone(), why: shown(&there) });
    }
    let tried = ["read-tree", "-n", "-m", "-u", "--no-recurse-submodules", before, commit];
    git.run(tried).map(drop).map_err(|error| in_the_way(into, error))
}

fn in_the_way(into: &Branch, error: GitError) -> MergeError {
    match error {
        GitError::Failed { stderr, .. } => MergeError::InTheWay { into: into.clone(), why: stderr },
        other @ (GitError::Start(_) | GitError::TimedOut { .. } | GitError::TooMuch { .. }) => other.into(),
    }
}

/// The checkouts that git lists, each in lines; the first is the main one.
fn records(printed: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut records = vec![Vec::new()];
    for line in printed.split(|&byte| byte == 0) {
        match (line.is_empty(), records.last_mut()) {
            (true, _) => records.push(Vec::new()),
            (false, Some(last)) => last.push(line),
            (false, None) => {}
        }
    }
    records.retain(|lines| !lines.is_empty());
    records
}

fn parts(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}

fn paths<'a>(names: impl Iterator<Item = &'a [u8]>) -> Vec<TreePath> {
    let mut paths: Vec<TreePath> = names.filter_map(|name| TreePath::new(name).ok()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// What a person reads at once.
const MOST_SHOWN: usize = 20;

fn counted(paths: &[TreePath]) -> String {
    match paths.len() {
        1 => "1 file is in".to_owned(),
        several => format!("{several} files are in"),
    }
}

fn shown(paths: &[TreePath]) -> String {
    let named: Vec<String> = paths.iter().take(MOST_SHOWN).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(MOST_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}
