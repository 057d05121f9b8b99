//! Making a worktree step by step, and taking back every step if a later one fails.
//!
//! What is taken back is exactly what was made: a directory or a branch that was there before stays.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;

use super::admin::{self, make_in};
use super::record::{FILE, Kind, Record, check_place};
use super::{Plan, Worktree, WorktreeError};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::GitError;
use crate::remove::remove_tree;
use crate::repository::{Repository, WORKTREES, exists};

/// Keeps everything of ours out of every commit.
const IGNORE_ALL: &[u8] = b"*\n";

/// Something that was made, and goes if the rest fails.
enum Made {
    Admin,
    Branch,
    Layers,
    /// Below `.worktrees/`.
    Directory(PathBuf),
}

/// How a worktree on its way comes by its branch.
pub(super) type MakeBranch = fn(&mut Making) -> Result<(), WorktreeError>;

/// A worktree on its way.
pub(super) struct Making {
    worktree: Worktree,
    made: Vec<Made>,
}

impl Making {
    /// Nothing is made yet.
    pub(super) fn new(repository: &Repository, plan: &Plan, kind: Kind) -> Result<Self, WorktreeError> {
        let place = place(repository, &plan.path)?;
        let record = Record {
            name: plan.name.clone(),
            kind,
            place,
            branch: plan.branch.clone(),
            base: plan.base.clone(),
            made_at_ms: now_ms(),
        };
        Ok(Self { worktree: Worktree { repository: repository.clone(), record }, made: Vec::new() })
    }

    /// For parts that a worktree lost.
    pub(super) fn again(worktree: &Worktree) -> Self {
        Self { worktree: worktree.clone(), made: Vec::new() }
    }

    /// What was made stays.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }

    pub(super) fn worktree(&self) -> &Worktree {
        &self.worktree
    }

    /// The private directory: from here on a crash leaves something that [`Repository::list`] shows.
    pub(super) fn admin(&mut self, git_file: &Path, index: Option<&Path>) -> Result<(), WorktreeError> {
        if exists(&self.worktree.path()) {
            return Err(WorktreeError::PlaceTaken(self.worktree.path()));
        }
        let Worktree { repository, record } = &self.worktree;
        admin::Admin { repository, record, git_file, index }.create()?;
        self.made.push(Made::Admin);
        Ok(())
    }

    /// The branch must be new, or be where the worktree begins: then it is taken up again, and stays if anything fails.
    pub(super) fn branch(&mut self) -> Result<(), WorktreeError> {
        let Worktree { repository, record } = &self.worktree;
        let (full, nothing) = (record.branch.full(), "0".repeat(record.base.as_str().len()));
        let reason = format!("placet: worktree {}", record.name);
        let arguments = ["update-ref", "--no-deref", "-m", &reason, &full, record.base.as_str(), &nothing];
        match repository.git().run_patiently(&arguments) {
            Err(GitError::Failed { stderr, .. }) if stderr.contains("already exists") => {
                if repository.tip(&record.branch)?.as_ref() == Some(&record.base) {
                    return Ok(());
                }
                return Err(WorktreeError::BranchExists(record.branch.clone()));
            }
            made => made?,
        };
        self.made.push(Made::Branch);
        Ok(())
    }

    /// The branch may be there already; then it stays where it is, and is not taken back.
    pub(super) fn branch_or_kept(&mut self) -> Result<(), WorktreeError> {
        match self.branch() {
            Err(WorktreeError::BranchExists(_)) => Ok(()),
            made => made,
        }
    }

    /// Where cages will write.
    pub(super) fn layers(&mut self) -> Result<(), WorktreeError> {
        let repository = self.worktree.repository.clone();
        let all = worktrees(&repository)?;
        let (layers, _) = make_in(&all, ".layers", repository.owner())?;
        let name = self.worktree.record.name.as_str();
        let (own, new) = make_in(&layers, name, repository.owner())?;
        if !new {
            return Err(WorktreeError::PlaceTaken(self.worktree.layers()));
        }
        self.made.push(Made::Layers);
        let json = self.worktree.record.to_bytes().map_err(std::io::Error::other).doing("write", FILE)?;
        admin::write(&own, FILE, &json, repository.owner())?;
        for run in ["files", "git"] {
            let (run, _) = make_in(&own, run, repository.owner())?;
            make_in(&run, "upper", repository.owner())?;
            make_in(&run, "work", repository.owner())?;
        }
        Ok(())
    }

    /// The directory at its path, with those above it. Somebody may remove an empty one above meanwhile.
    pub(super) fn directory(&mut self) -> Result<Dir, WorktreeError> {
        let place = self.worktree.record.place.clone();
        for _ in 0..10 {
            match self.try_directory(&place)? {
                Some(directory) => return Ok(directory),
                None => self.made.retain(|made| !matches!(made, Made::Directory(_))),
            }
        }
        Err(WorktreeError::PlaceTaken(self.worktree.path()))
    }

    fn try_directory(&mut self, place: &Path) -> Result<Option<Dir>, WorktreeError> {
        let (mut dir, mut at) = (worktrees(&self.worktree.repository)?, PathBuf::new());
        let mut names = place.iter().filter_map(|name| name.to_str()).peekable();
        while let Some(name) = names.next() {
            at.push(name);
            let (next, new) = match make_in(&dir, name, self.worktree.repository.owner()) {
                Err(WorktreeError::Layer(crate::LayerError::Io { source, .. }))
                    if source.raw_os_error() == Some(Errno::NOENT.raw_os_error()) =>
                {
                    return Ok(None);
                }
                made => made?,
            };
            if new {
                self.made.push(Made::Directory(at.clone()));
            } else if names.peek().is_none() {
                return Err(WorktreeError::PlaceTaken(self.worktree.path()));
            }
            dir = next;
        }
        Ok(Some(dir))
    }

    /// It is whole, and stays.
    pub(super) fn finish(mut self) -> Result<Worktree, WorktreeError> {
        self.worktree.expect_size();
        admin::finish(&self.worktree.repository, &self.worktree.record.name)?;
        self.made.clear();
        Ok(self.worktree.clone())
    }
}

impl Drop for Making {
    /// In the reverse order. What cannot be taken back now is shown as damage later; the first error counts.
    fn drop(&mut self) {
        for made in std::mem::take(&mut self.made).into_iter().rev() {
            let _ = match made {
                Made::Admin => admin::remove(&self.worktree.repository, &self.worktree.record.name),
                Made::Branch => delete_branch(&self.worktree),
                Made::Layers => remove_layers(&self.worktree),
                Made::Directory(at) => remove_place(&self.worktree, &at),
            };
        }
    }
}

/// The branch goes if it is still where the worktree began.
pub(super) fn delete_branch(worktree: &Worktree) -> Result<(), WorktreeError> {
    // Asked first: git calls a branch that went on a lock that failed, and those are waited for.
    if worktree.repository.tip(worktree.branch())?.as_ref() != Some(worktree.base()) {
        return Ok(());
    }
    let (full, base) = (worktree.branch().full(), worktree.base().as_str());
    // A branch that was taken up again may be the only one with its commits.
    let holders =
        ["for-each-ref", "--count=2", "--format=%(refname)", "--contains", base, "refs/heads", "refs/remotes"];
    if worktree
        .repository
        .git()
        .run(holders)
        .map_err(crate::RepositoryError::from)?
        .split(|byte| *byte == b'\n')
        .count()
        < 3
    {
        return Ok(());
    }
    worktree.repository.git().run_patiently(&["update-ref", "--no-deref", "-d", &full, base])?;
    Ok(())
}

pub(super) fn remove_layers(worktree: &Worktree) -> Result<(), WorktreeError> {
    let all = worktrees(&worktree.repository)?;
    let shown = worktree.layers();
    let Some(layers) = crate::dir::absent(all.dir(b".layers")).doing("open", shown.display())? else { return Ok(()) };
    let (name, trash) = (worktree.name().as_str(), format!(".gone-{}", worktree.name()));
    remove_tree(&layers, name.as_bytes(), trash.as_bytes()).doing("remove", shown.display())?;
    let _ = all.remove_empty(b".layers");
    Ok(())
}

/// The worktree's own directory goes with everything in it, one above it only if it is empty.
pub(super) fn remove_place(worktree: &Worktree, at: &Path) -> Result<(), WorktreeError> {
    let all = worktrees(&worktree.repository)?;
    let shown = worktree.repository.worktrees().join(at);
    let parent = match at.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => {
            crate::dir::absent(all.dir(parent.as_os_str().as_encoded_bytes())).doing("open", shown.display())?
        }
        None => Some(all),
    };
    let (Some(parent), Some(name)) = (parent, at.file_name()) else { return Ok(()) };
    if at != worktree.record.place {
        let _ = parent.remove_empty(name.as_encoded_bytes());
        return Ok(());
    }
    let trash = format!(".gone-{}", worktree.name());
    Ok(remove_tree(&parent, name.as_encoded_bytes(), trash.as_bytes()).doing("remove", shown.display())?)
}

/// `.worktrees`, made if it has to be, ignored by git as a whole.
pub(super) fn worktrees(repository: &Repository) -> Result<Dir, WorktreeError> {
    let root = Dir::open(repository.root()).doing("open", repository.root().display())?;
    let (all, _) = make_in(&root, WORKTREES, repository.owner())?;
    match admin::write(&all, ".gitignore", IGNORE_ALL, repository.owner()) {
        Err(WorktreeError::Layer(crate::LayerError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::AlreadyExists => {}
        written => written?,
    }
    Ok(all)
}

/// Where the worktree is below `.worktrees/`.
fn place(repository: &Repository, path: &Path) -> Result<PathBuf, WorktreeError> {
    let below = match path.strip_prefix(repository.worktrees()) {
        Ok(below) => below,
        Err(_) => path.strip_prefix(WORKTREES).map_err(|_| WorktreeError::Place(path.to_owned()))?,
    };
    check_place(below)?;
    Ok(below.to_owned())
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
