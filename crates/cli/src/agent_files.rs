//! Files of agents on this machine: what was named, as the plain files behind it, each with the path it will have in the agent's own
//! directory. Links are not followed inside folders; nothing here decides what an agent may be given.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CliError;

pub(crate) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::usage(format!("`{}` cannot be read: {error}", path.display()))
}

/// The plain files behind what was named, with the path each will have: a file its own name, a folder's files theirs below it.
pub(crate) fn found(named: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, CliError> {
    gathered(named, false)
}

/// Like `found`, but a folder keeps its name, as with `cp -r`: `--input notes/` becomes `notes/` in the run. A path that ends in `.` or
/// `..` has no name, so only its files are used.
pub(crate) fn found_in_folders(named: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, CliError> {
    gathered(named, true)
}

fn gathered(named: &[PathBuf], keeps_folder: bool) -> Result<Vec<(String, PathBuf)>, CliError> {
    let mut files = Vec::new();
    for path in named {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        match (metadata.is_dir(), path.file_name()) {
            (true, Some(name)) if keeps_folder && !names_content(path) => {
                gather(path, &format!("{}/", text(path, name)?), &mut files)?
            }
            (true, _) => gather(path, "", &mut files)?,
            (false, Some(name)) => files.push((text(path, name)?, path.clone())),
            (false, None) => return Err(unreadable(path, &"it has no name")),
        }
    }
    Ok(files)
}

/// True if the path names a folder's content: `notes/.`. Needed because `Path` drops a trailing dot.
fn names_content(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/.")
}

/// Links are left out: what they lead to was not named.
fn gather(dir: &Path, below: &str, files: &mut Vec<(String, PathBuf)>) -> Result<(), CliError> {
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|error| unreadable(dir, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    if is_repository(&entries) {
        let why = format!("`{}` is a repository, and its settings and hooks are not shared", dir.display());
        return Err(CliError::usage(why).hint(
            "share a bundle of it: `git bundle create repo.bundle HEAD main`, then --share repo.bundle; an action clones it",
        ));
    }
    for entry in entries {
        let path = format!("{below}{}", text(dir, &entry.file_name())?);
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
        if kind.is_dir() {
            gather(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}

/// A worktree with its repository, or a bare one, as git knows it.
fn is_repository(entries: &[fs::DirEntry]) -> bool {
    let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
    has(".git") || ["HEAD", "objects", "refs"].into_iter().all(has)
}

fn text(at: &Path, name: &std::ffi::OsStr) -> Result<String, CliError> {
    name.to_str().map(str::to_owned).ok_or_else(|| unreadable(at, &"a name in it is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_files_and_links_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("agent/lib")).unwrap();
        for (path, text) in [("agent/main.py", "m"), ("agent/lib/tools.py", "t"), ("notes.md", "n")] {
            fs::write(dir.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("agent/passwd")).unwrap();
        let paths = |named: &[&str]| {
            let named: Vec<_> = named.iter().map(|name| dir.path().join(name)).collect();
            found(&named).map(|files| files.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
        };
        assert_eq!(paths(&["agent", "notes.md"]).unwrap(), ["lib/tools.py", "main.py", "notes.md"]);
        assert!(paths(&["nothing"]).is_err());
        let kept = |named: &str| {
            let files = found_in_folders(&[dir.path().join(named)]).unwrap();
            files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(kept("agent/"), ["agent/lib/tools.py", "agent/main.py"], "an input keeps the name of its folder");
        assert_eq!(kept("agent/."), ["lib/tools.py", "main.py"], "its content alone");
        assert_eq!(kept("agent/.."), ["agent/lib/tools.py", "agent/main.py", "notes.md"]);
        assert_eq!(kept("notes.md"), ["notes.md"]);
    }

    #[test]
    fn a_repository_is_shared_as_a_bundle_and_never_with_its_hooks() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("code/.git/hooks")).unwrap();
        fs::write(dir.path().join("code/.git/hooks/pre-commit"), "#!/bin/sh").unwrap();
        for part in ["bare.git/objects", "bare.git/refs", "bare.git/hooks"] {
            fs::create_dir_all(dir.path().join("below").join(part)).unwrap();
        }
        fs::write(dir.path().join("below/bare.git/HEAD"), "ref: refs/heads/main").unwrap();
        for repository in ["code", "below/bare.git", "below"] {
            let refused = found(&[dir.path().join(repository)]).unwrap_err();
            assert!(format!("{refused:?}").contains("git bundle create"), "{repository}: {refused:?}");
        }
    }
}
