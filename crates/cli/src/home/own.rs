//! Checks that a home that was found, and not named, belongs to the caller. A repository can contain one: its profiles would show the host
//! to cages, and its settings would choose the server that data is sent to.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use placet_workspace::{Repository, RepositoryError, tracks};

use super::NAME;
use crate::error::{CliError, Code, chain};

const NAME_IT: &str = "if you know that it is yours, name it with --home DIR or PLACET_HOME";

/// Refuses a home of another user and one that is part of a repository. Checks once per process, because a command looks for the home
/// several times.
pub(super) fn check_own(dir: &Path) -> Result<(), CliError> {
    static CHECKED: OnceLock<PathBuf> = OnceLock::new();
    if CHECKED.get().is_some_and(|checked| checked == dir) {
        return Ok(());
    }
    check_owner(dir)?;
    check_repository(dir)?;
    let _ = CHECKED.set(dir.to_owned());
    Ok(())
}

fn check_owner(dir: &Path) -> Result<(), CliError> {
    if fs::metadata(dir)?.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let message = format!("`{}` belongs to somebody else and is not used", dir.display());
    Err(CliError::new(Code::Refused, message).hint(NAME_IT))
}

fn check_repository(dir: &Path) -> Result<(), CliError> {
    let beside = fs::canonicalize(dir.parent().unwrap_or(dir))?;
    let is_shipped = match Repository::find(&beside) {
        // Asks the main checkout, because agents write what lies below its worktrees, a `.git` included.
        Ok(repository) => {
            let below = beside.strip_prefix(repository.root()).unwrap_or(Path::new(""));
            tracks(repository.root(), &below.join(NAME))
        }
        Err(RepositoryError::NotFound(_)) => Ok(false),
        // A linked worktree, a submodule or a format that is not worked with: git itself can read it.
        Err(_) => tracks(&beside, Path::new(NAME)),
    };
    match is_shipped {
        Ok(false) => Ok(()),
        Ok(true) => {
            let message =
                format!("`{}` is part of the repository, which brought it along; it is not used", dir.display());
            Err(CliError::new(Code::Refused, message).hint(format!("remove it from the repository; {NAME_IT}")))
        }
        // Refuses if git cannot answer: an unchecked home is not trusted.
        Err(error) => {
            let message =
                format!("whether `{}` is part of a repository cannot be told: {}", dir.display(), chain(&error));
            Err(CliError::new(Code::Refused, message).hint(NAME_IT))
        }
    }
}
