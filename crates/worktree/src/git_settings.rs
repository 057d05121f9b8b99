//! What an agent sees of the repository's settings: those that say how files are kept, and nothing that opens a door.
//!
//! A repository's `config` often holds credentials: in the addresses of remotes, in headers that a build machine leaves
//! behind, in settings of helpers. The copy for the cage lies in the upper of the repository's layers, where it covers
//! the real file; what else may hold such things is covered by nothing at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use placet_workspace::{CagePaths, Repository, RepositoryError};
use rustix::fs::{CWD, FileType, Mode};

/// Sections that say how files and branches are kept. Every other one stays outside.
const SEEN: &[&str] = &["core", "extensions", "branch", "i18n"];

/// Also settings, or the settings of repositories inside this one.
const COVERED: &[&str] = &["config.worktree", "credentials", "modules"];

#[derive(Debug, thiserror::Error)]
pub enum GitSettingsError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("the repository's settings cannot be prepared for a cage")]
    Io(#[from] io::Error),
}

/// Covers the repository's settings in the layers of a cage that is about to start.
pub(crate) fn cover(repository: &Repository, paths: &CagePaths) -> Result<(), GitSettingsError> {
    let text = seen(repository, &paths.git_lower.join("config"))?;
    let config = paths.git_upper.join("config");
    clear(&config)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&config)?;
    file.write_all(text.as_bytes())?;
    for name in COVERED.iter().filter(|name| paths.git_lower.join(name).symlink_metadata().is_ok()) {
        let covered = paths.git_upper.join(name);
        clear(&covered)?;
        // What the kernel takes for "nothing is here, whatever lies below".
        rustix::fs::mknodat(CWD, &covered, FileType::CharacterDevice, Mode::empty(), 0).map_err(io::Error::from)?;
    }
    Ok(())
}

/// What an earlier command left there goes; a link is not followed.
fn clear(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn seen(repository: &Repository, config: &Path) -> Result<String, RepositoryError> {
    let list = ["config", "--no-includes", "--list", "-z", "--file"].map(Into::into);
    let printed = repository.git().run(list.into_iter().chain([config.as_os_str().to_owned()]))?;
    let printed = String::from_utf8_lossy(&printed);
    Ok(printed.split_terminator('\0').filter_map(|entry| entry.split_once('\n')).filter_map(written).collect())
}

/// One setting as git reads it, if it is one that is seen.
fn written((name, value): (&str, &str)) -> Option<String> {
    let (section, rest) = name.split_once('.')?;
    if !SEEN.contains(&section) {
        return None;
    }
    let header = match rest.rsplit_once('.') {
        Some((inner, _)) => format!("[{section} {}]", quoted(inner)),
        None => format!("[{section}]"),
    };
    let key = rest.rsplit('.').next()?;
    Some(format!("{header}\n\t{key} = {}\n", quoted(value)))
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_how_files_are_kept_is_seen() {
        assert_eq!(written(("core.autocrlf", "input")).as_deref(), Some("[core]\n\tautocrlf = \"input\"\n"));
        let branch = written(("branch.a \"b\".merge", "refs/heads/main"));
        assert_eq!(branch.as_deref(), Some("[branch \"a \\\"b\\\"\"]\n\tmerge = \"refs/heads/main\"\n"));
        for secret in ["remote.origin.url", "http.https://x/.extraheader", "credential.helper", "url.x.insteadof"] {
            assert_eq!(written((secret, "x")), None, "{secret}");
        }
    }
}
