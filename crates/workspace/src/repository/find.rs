//! Finds the repository a directory belongs to, without asking git and without believing anything a run can write.
//!
//! Worktrees lie below `.worktrees/` of the main checkout. Whatever is in them, a `.git` of any kind included, belongs to
//! whoever works there; so a directory below `.worktrees/` belongs to the repository around it, and nothing inside is
//! asked.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{RepositoryError, WORKTREES};
use crate::error::Doing;

/// Where the main checkout is.
pub(super) fn root_of(start: &Path) -> Result<PathBuf, RepositoryError> {
    let start = fs::canonicalize(start).doing("find", start.display())?;
    match around_worktrees(&start) {
        Some(root) => Ok(root),
        None => innermost(&start),
    }
}

/// The outermost directory that has both a repository and this path below its worktrees.
fn around_worktrees(start: &Path) -> Option<PathBuf> {
    let roots = start.ancestors().filter(|path| path.file_name().is_some_and(|name| name == WORKTREES));
    let roots =
        roots.filter_map(Path::parent).filter(|root| look(&root.join(".git")).is_some_and(|meta| meta.is_dir()));
    roots.last().map(Path::to_owned)
}

fn innermost(start: &Path) -> Result<PathBuf, RepositoryError> {
    for directory in start.ancestors() {
        match look(&directory.join(".git")) {
            Some(meta) if meta.is_dir() => return Ok(directory.to_owned()),
            Some(meta) if meta.is_file() => return Err(RepositoryError::Linked(directory.to_owned())),
            Some(_) => return Err(RepositoryError::NotPlain(directory.join(".git"))),
            None if is_bare(directory) => return Err(RepositoryError::Bare(directory.to_owned())),
            None => {}
        }
    }
    Err(RepositoryError::NotFound(start.to_owned()))
}

fn is_bare(directory: &Path) -> bool {
    let is_directory = |name: &str| look(&directory.join(name)).is_some_and(|meta| meta.is_dir());
    is_directory("objects") && is_directory("refs") && look(&directory.join("HEAD")).is_some()
}

fn look(path: &Path) -> Option<Metadata> {
    fs::symlink_metadata(path).ok()
}

/// The caller owns it, or is root, who works on it as its owner.
pub(super) fn check_owner(path: &Path) -> Result<(), RepositoryError> {
    let owner = fs::symlink_metadata(path).doing("look at", path.display())?.uid();
    let user = rustix::process::geteuid();
    if user.is_root() || user.as_raw() == owner {
        return Ok(());
    }
    Err(RepositoryError::Owner { path: path.to_owned(), owner, user: user.as_raw() })
}

/// The same for the private directory of a worktree.
pub(super) fn check_private(git_dir: &Path) -> Result<(), RepositoryError> {
    let names = ["HEAD", "index", "commondir", "gitdir", "config.worktree", "info/sparse-checkout", "locked"];
    let odd =
        names.map(|name| git_dir.join(name)).into_iter().find(|path| look(path).is_some_and(|meta| !meta.is_file()));
    odd.map_or(Ok(()), |path| Err(RepositoryError::NotPlain(path)))
}

/// What git opens before it can be told anything is there, and is what git makes: a pipe would hold it up for ever.
pub(super) fn check_shape(common: &Path) -> Result<(), RepositoryError> {
    let plain = |name: &str, fits: fn(&Metadata) -> bool| match look(&common.join(name)) {
        Some(meta) if fits(&meta) => Ok(()),
        Some(_) | None => Err(RepositoryError::NotPlain(common.join(name))),
    };
    for name in ["HEAD", "config"] {
        plain(name, |meta| meta.is_file() && meta.len() <= 1 << 20)?;
    }
    for name in ["objects", "refs", "refs/heads"] {
        plain(name, Metadata::is_dir)?;
    }
    let optional = ["packed-refs", "index", "shallow", "config.worktree", "info/exclude", "info/attributes"];
    let more =
        ["info/grafts", "info/sparse-checkout", "objects/info/alternates", "objects/info/commit-graph", "commondir"];
    for name in optional.into_iter().chain(more) {
        if look(&common.join(name)).is_some() {
            plain(name, Metadata::is_file)?;
        }
    }
    Ok(())
}
