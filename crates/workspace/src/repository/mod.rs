//! A git repository of a person's, found and asked without running anything that it names.
//!
//! ```text
//!  <root>/                     the main checkout; never written to here
//!    .git/                     the common directory
//!    .worktrees/               ours, ignored by git
//!      …/                      worktrees, where the caller wants them
//!      .bases/<commit>/        one checkout per commit, shared by layered worktrees
//!      .layers/<name>/         uppers of a worktree
//! ```
//!
//! Large files: a pointer of Git LFS stays a pointer. Its content comes from a filter, which is a program, and none is
//! run; whoever needs the content lets the agent fetch it in its cage.
//!
//! What is deliberately not done: to work with linked worktrees of other makers, with bare repositories, with settings
//! that include others, or with branches kept in a `reftable`.

mod commit;
mod error;
mod find;
mod refs;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use commit::commits;
pub use commit::{CommitInfo, Person};
pub use error::RepositoryError;
pub(crate) use refs::text;

use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::Git;
use settings::Settings;

/// Where everything of ours lies in a main checkout.
pub(crate) const WORKTREES: &str = ".worktrees";

/// A repository and its main checkout.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    common: PathBuf,
    owner: Owner,
    settings: Settings,
    overrides: Vec<(String, String)>,
}

impl Repository {
    /// The repository whose main checkout contains this directory, or has one of our worktrees there.
    pub fn find(start: &Path) -> Result<Self, RepositoryError> {
        let root = find::root_of(start)?;
        let common = root.join(".git");
        for path in [&root, &common] {
            find::check_owner(path)?;
        }
        find::check_shape(&common)?;
        let owner = Owner::of(&Dir::open(&common).and_then(|dir| dir.own_stat()).doing("look at", common.display())?);
        let settings = all_settings(&common)?;
        check_format(&settings, &root)?;
        let overrides = settings.overrides()?;
        Ok(Self { root, common, owner, settings, overrides })
    }

    /// The main checkout.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory with branches, objects and settings: `.git` of the main checkout.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// Git for the repository, neutralised, with nothing of its settings left that starts a program.
    #[must_use]
    pub fn git(&self) -> Git {
        Git::new(&self.common).settings(&self.overrides)
    }

    /// Git for the private directory of a linked worktree, which may have settings of its own.
    pub(crate) fn git_at(&self, git_dir: &Path) -> Result<Git, RepositoryError> {
        let git = self.git_without_own_settings(git_dir)?;
        match own_settings(&self.settings, git_dir)? {
            Some(own) => Ok(git.settings(&own.overrides()?)),
            None => Ok(git),
        }
    }

    /// Like the usual command, for a private directory whose settings need no override.
    pub(crate) fn git_without_own_settings(&self, git_dir: &Path) -> Result<Git, RepositoryError> {
        find::check_private(git_dir)?;
        Ok(self.git().at(git_dir))
    }

    /// True if git reads settings of individual worktrees.
    pub(crate) fn reads_worktree_settings(&self) -> bool {
        self.settings.is_true("extensions.worktreeconfig")
    }

    /// Where everything of ours lies.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.root.join(WORKTREES)
    }

    /// Whether only parts of the tree are in the main checkout.
    pub(crate) fn is_sparse(&self) -> bool {
        self.settings.is_true("core.sparsecheckout")
    }

    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// The values of settings whose names begin so.
    pub(crate) fn settings_beginning(&self, with: &str) -> Vec<(String, String)> {
        self.settings.beginning(with).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Those of the repository, and those of its main checkout, if it has any of its own.
fn all_settings(common: &Path) -> Result<Settings, RepositoryError> {
    let settings = Settings::read(&Git::new(common), &common.join("config"))?;
    Ok(match own_settings(&settings, common)? {
        Some(own) => settings.and(own),
        None => settings,
    })
}

/// A worktree may have settings of its own, if those of the repository say so.
fn own_settings(settings: &Settings, git_dir: &Path) -> Result<Option<Settings>, RepositoryError> {
    let file = git_dir.join("config.worktree");
    if !settings.is_true("extensions.worktreeconfig") || !exists(&file) {
        return Ok(None);
    }
    if !fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
        return Err(RepositoryError::NotPlain(file));
    }
    Settings::read(&Git::new(git_dir), &file).map(Some)
}

pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What is known to work, and nothing else.
fn check_format(settings: &Settings, root: &Path) -> Result<(), RepositoryError> {
    if settings.is_true("core.bare") {
        return Err(RepositoryError::Bare(root.to_owned()));
    }
    let unsupported = |setting: &str, value: &str, hint| {
        let (setting, value) = (setting.to_owned(), value.escape_debug().to_string());
        Err(RepositoryError::Format { setting, value, hint })
    };
    if let Some(value) = settings.get("core.worktree") {
        return unsupported("core.worktree", value, "remove the setting, so that the files are beside `.git`");
    }
    for (name, value) in settings.beginning("extensions.") {
        let known = match name {
            "extensions.objectformat" => matches!(value, "sha1" | "sha256"),
            "extensions.refstorage" => value == "files",
            "extensions.worktreeconfig" | "extensions.preciousobjects" | "extensions.relativeworktrees" => true,
            "extensions.noop" => true,
            _ => false,
        };
        if !known {
            return unsupported(name, value, "make a clone in the usual format with `git clone`");
        }
    }
    Ok(())
}
