//! Worktrees: where one agent works on one branch.
//!
//! | kind | files | made in | an extra one takes |
//! | --- | --- | --- | --- |
//! | plain | a linked worktree of git's, at its path | the time git needs to write every file | the whole tree |
//! | layered | one immutable checkout per base commit, shared; changes in an upper of its own | milliseconds | what it changes |
//!
//! Both have a private directory in the repository (`.git/worktrees/<name>`) that git itself understands, with a record of
//! ours in it. Agents see files and repository through layers ([`CagePaths`]); what they write there is never read as
//! settings, and comes back only through [`crate::layer`] and [`crate::harvest`].

mod admin;
mod base;
mod error;
mod given;
mod hooks;
mod lay;
mod layered;
mod list;
mod making;
mod name;
mod note;
mod plain;
mod record;
mod remove;
mod room;
mod state;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::WorktreeError;
pub use given::{Given, Untouched};
pub use list::{Damage, Listed};
pub use name::WorktreeName;
pub(crate) use plain::CHECKOUT_MS;
pub use record::Kind;
pub use remove::{Losing, Unsaved};
pub use state::State;

use crate::difference::check_rules;
use crate::error::LayerError;
use crate::git::{Branch, Call, Git, ObjectId};
use crate::harvest::Harvest;
use crate::layer::{Baseline, Layered};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::remove::open_room;
use crate::repository::{Repository, RepositoryError};
use record::Record;

/// A worktree that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it is called; no other worktree of the repository is called so.
    pub name: WorktreeName,
    /// Where it appears: below `.worktrees/` of the main checkout.
    pub path: PathBuf,
    /// The branch that is made for it.
    pub branch: Branch,
    /// Where it begins.
    pub base: ObjectId,
}

/// A worktree of ours.
#[derive(Clone, Debug)]
pub struct Worktree {
    repository: Repository,
    record: Record,
}

/// What whoever launches a cage for a worktree needs: files and repository, each in layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CagePaths {
    /// The files, which are never written.
    pub lower: PathBuf,
    /// Receives every change of files.
    pub upper: PathBuf,
    /// Room for the kernel.
    pub work: PathBuf,
    /// The repository's common directory, which is never written. It must appear in the cage under this very path: the
    /// worktree's `.git` file names it.
    pub git_lower: PathBuf,
    /// Receives every change of the repository: commits wait here until they are harvested.
    pub git_upper: PathBuf,
    /// Room for the kernel.
    pub git_work: PathBuf,
    /// For the environment of every command, so that git in the cage trusts the index it is given.
    pub variables: Vec<(String, String)>,
}

impl Worktree {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &WorktreeName {
        &self.record.name
    }

    /// Whether its files are its own.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.record.kind
    }

    /// Where it appears. A layered one has nothing there on the host.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.repository.worktrees().join(&self.record.place)
    }

    /// The branch it is on.
    #[must_use]
    pub fn branch(&self) -> &Branch {
        &self.record.branch
    }

    /// Where it began.
    #[must_use]
    pub fn base(&self) -> &ObjectId {
        &self.record.base
    }

    /// When it was made, in milliseconds since 1970.
    #[must_use]
    pub fn made_at_ms(&self) -> u64 {
        self.record.made_at_ms
    }

    /// The repository it belongs to.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Its private directory in the repository.
    #[must_use]
    pub fn git_dir(&self) -> PathBuf {
        admin::path(&self.repository, &self.record.name)
    }

    /// Git for this worktree; for a plain one, with its files.
    pub fn git(&self) -> Result<Git, RepositoryError> {
        let git = match self.has_only_hook_settings() {
            true => self.repository.git_without_own_settings(&self.git_dir())?,
            false => self.repository.git_at(&self.git_dir())?,
        };
        Ok(match self.record.kind {
            Kind::Plain => git.work_tree(self.path()),
            Kind::Layered => git,
        })
    }

    /// Where its branch is now.
    pub fn tip(&self) -> Result<ObjectId, WorktreeError> {
        let tip = self.repository.tip(self.branch())?;
        tip.ok_or_else(|| RepositoryError::NoBranch(self.branch().clone()).into())
    }

    /// Opens what the kernel left closed when the last cage ended, so that a person can remove everything by hand.
    pub fn open_up(&self) -> Result<(), LayerError> {
        let cage = self.cage();
        [cage.work, cage.git_work].iter().try_for_each(|work| open_room(work))
    }

    /// What a cage for it is given.
    #[must_use]
    pub fn cage(&self) -> CagePaths {
        let layers = self.layers();
        let lower = match self.record.kind {
            Kind::Plain => self.path(),
            Kind::Layered => base::tree(&self.repository, self.base()),
        };
        CagePaths {
            lower,
            upper: layers.join("files/upper"),
            work: layers.join("files/work"),
            git_lower: self.repository.common_dir().to_owned(),
            git_upper: layers.join("git/upper"),
            git_work: layers.join("git/work"),
            variables: variables(),
        }
    }

    /// Records the files of a plain worktree before a command, for the promotion after it.
    pub fn baseline(&self) -> Result<Baseline, LayerError> {
        Baseline::record_briefly(&self.path(), &self.layers(), Limits::default())
    }

    /// True if a baseline of this worktree is still valid: the clock was not set back.
    pub fn relies_on(&self, baseline: &Baseline) -> Result<bool, LayerError> {
        baseline.is_reliable(&self.layers())
    }

    /// Takes hold of what its cages wrote to its files.
    pub fn files(&self) -> Result<Layered, LayerError> {
        let cage = self.cage();
        Layered::open(&cage.lower, &cage.upper, &cage.work)
    }

    /// Takes hold of what its cages wrote to the repository.
    pub fn commits(&self) -> Result<Layered, LayerError> {
        let cage = self.cage();
        Layered::open(&cage.git_lower, &cage.git_upper, &cage.git_work)
    }

    /// Takes the commits over that its cages made, from [`Worktree::commits`]; they continue where the branch is now.
    /// Afterwards the upper of the repository is to be discarded: it hides what others do.
    pub fn harvest<'a>(&self, commits: &'a Layered) -> Result<Harvest<'a>, WorktreeError> {
        let harvest = Harvest::new(commits, self.branch().clone(), self.tip()?);
        let harvest = harvest.repository(&self.repository).worktree(self.git_dir());
        Ok(match self.kind() {
            Kind::Plain => harvest.files(self.path()),
            Kind::Layered => harvest,
        })
    }

    /// After files of a plain worktree were promoted: its index learns what they look like, so that git need not read
    /// them again. What is staged stays as it is.
    pub fn refresh(&self) -> Result<(), WorktreeError> {
        if self.kind() == Kind::Plain {
            check_rules(&self.path()).map_err(Box::new)?;
            let git = self.git()?.timeout_ms(CHECKOUT_MS);
            git.answer(Call::new(["update-index", "-q", "--refresh", "--ignore-submodules"]))?;
        }
        Ok(())
    }

    /// Everything the cages of this worktree write to.
    fn layers(&self) -> PathBuf {
        admin::layers(&self.repository, &self.record.name)
    }
}

/// Whether a path is somebody's work. What the caller itself keeps in a worktree, below this directory, is not.
pub(crate) fn is_work(path: &TreePath) -> bool {
    path.names().next() != Some(b".agent")
}

/// In a cage files have other owners, and the numbers of files and the times of their entries are those of the overlay:
/// without these settings git would read every file again to see that nothing changed. With them the first `git status` of
/// a cage looks up every name in a mount that is new, and reads no content.
fn variables() -> Vec<(String, String)> {
    let settings = [("core.checkStat", "minimal"), ("core.trustctime", "false")];
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (number, (name, value)) in settings.into_iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), name.to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
    }
    variables
}

pub(crate) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}
