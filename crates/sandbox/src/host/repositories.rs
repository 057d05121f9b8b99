//! Finds the paths of a direct workspace that a command could use against the host: repositories of version control,
//! whose settings and hooks run programs when a user works with them, sockets on which host processes listen, and homes
//! of Placet, which hold keys and tokens.
//!
//! The walk reads only names and file types and follows no links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Entry;
use crate::error::SandboxError;
use crate::rules::{Access, MAX_RULES};

/// Names of version control metadata, in lower case, each with the reason to protect it.
const METADATA: &[(&str, &str)] = &[
    (".git", "git runs programs that settings and hooks in it name; a file of this name leads to such a directory"),
    (".hg", "Mercurial runs hooks that its `hgrc` names"),
    (".jj", "Jujutsu runs programs that its settings name"),
];

/// Name of a home of Placet, in lower case.
const HOME: &str = ".placet";

/// Maximum number of entries to walk: the size of a large monorepo, which takes about a second.
const MAX_WALKED: usize = 1_000_000;

/// Paths in a directory that a command could use against the host, relative to the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRisks {
    /// Repositories of version control.
    pub repositories: BTreeSet<PathBuf>,
    /// Sockets.
    pub sockets: BTreeSet<PathBuf>,
    /// Entries named like a home of Placet, in any case.
    pub homes: BTreeSet<PathBuf>,
    /// Paths that could not be looked into.
    pub unreadable: BTreeSet<PathBuf>,
}

/// Lists the repositories, sockets and homes of Placet below a directory.
pub fn host_risks(directory: &Path) -> Result<HostRisks, SandboxError> {
    walk(directory)
}

/// Lists every repository of version control below a directory, by relative path: entries named `.git`, `.hg` or `.jj` of
/// any file type, and git directories with other names.
///
/// A cage protects the repositories that exist when it is entered. To find those that a command made, compare the lists
/// before and after it.
pub fn repositories(workspace: &Path) -> Result<BTreeSet<PathBuf>, SandboxError> {
    Ok(walk(workspace)?.repositories)
}

/// Returns the paths of a workspace that a cage covers, and adds their current entries to `entries`.
pub(super) fn protected(
    workspace: &Path,
    entries: &mut BTreeMap<PathBuf, Entry>,
) -> Result<BTreeMap<PathBuf, Access>, SandboxError> {
    if let Some(inside) = workspace.ancestors().find(|above| is_metadata(above) || is_git_directory(above)) {
        let why = format!("it is part of the repository `{}`, whose settings and hooks run programs", inside.display());
        return Err(refuse(workspace, why));
    }
    let found = walk(workspace)?;
    // What has no entry, such as a path longer than the kernel takes, cannot be covered.
    let is_open = |path: &&PathBuf| path.as_os_str().is_empty() || Entry::at(&workspace.join(path)).is_none();
    if let Some(path) = found.unreadable.iter().find(is_open) {
        let place = if path.as_os_str().is_empty() { "it".to_owned() } else { format!("`{}` in it", path.display()) };
        return Err(refuse(workspace, format!("{place} could not be searched for repositories")));
    }
    let read_only = found.repositories.into_iter().chain(found.unreadable);
    let hidden = found.sockets.into_iter().chain(found.homes);
    let protected: BTreeMap<_, _> =
        read_only.map(|path| (path, Access::ReadOnly)).chain(hidden.map(|path| (path, Access::Hidden))).collect();
    if protected.len() > MAX_RULES {
        let why = format!("it has {} repositories and other paths to protect, more than {MAX_RULES}", protected.len());
        return Err(refuse(workspace, why));
    }
    for path in protected.keys().flat_map(|path| path.ancestors()).filter(|path| *path != Path::new("")) {
        let host = workspace.join(path);
        if let Some(entry) = Entry::at(&host) {
            entries.insert(host, entry);
        }
    }
    Ok(protected)
}

fn walk(workspace: &Path) -> Result<HostRisks, SandboxError> {
    let mut walk = Walk { workspace, walked: 0, found: HostRisks::default() };
    walk.below(Path::new(""))?;
    Ok(walk.found)
}

struct Walk<'a> {
    workspace: &'a Path,
    walked: usize,
    found: HostRisks,
}

impl Walk<'_> {
    /// Walks a directory. Collects paths that the caller cannot read: what a command puts there is not seen.
    fn below(&mut self, directory: &Path) -> Result<(), SandboxError> {
        let entries = match fs::read_dir(self.workspace.join(directory)) {
            Ok(entries) => entries,
            Err(error) => {
                self.not_read(directory, &error);
                return Ok(());
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.not_read(directory, &error);
                    continue;
                }
            };
            self.walked += 1;
            if self.walked > MAX_WALKED {
                let why = format!("it has more than {MAX_WALKED} files to look for repositories");
                return Err(refuse(self.workspace, why));
            }
            let (path, kind) = (directory.join(entry.file_name()), entry.file_type());
            let is_directory = kind.as_ref().is_ok_and(fs::FileType::is_dir);
            if let Err(error) = &kind {
                self.not_read(&path, error);
            }
            if is_home(&path) {
                self.found.homes.insert(path);
            } else if is_metadata(&path) || (is_directory && is_git_directory(&self.workspace.join(&path))) {
                self.found.repositories.insert(path);
            } else if is_directory {
                self.below(&path)?;
            } else if kind.is_ok_and(|kind| kind.is_socket()) {
                self.found.sockets.insert(path);
            }
        }
        Ok(())
    }

    /// Records a path that could not be read. One that is gone, or that never was a directory, holds nothing.
    fn not_read(&mut self, path: &Path, error: &io::Error) {
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            self.found.unreadable.insert(path.to_owned());
        }
    }
}

fn is_metadata(path: &Path) -> bool {
    let name = lower_case_name(path);
    METADATA.iter().any(|(known, _)| *known == name)
}

fn is_home(path: &Path) -> bool {
    lower_case_name(path) == HOME
}

fn lower_case_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Recognises a git directory as git does: a bare repository, or the private directory of a git worktree.
fn is_git_directory(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    has("HEAD") && ((has("objects") && has("refs")) || has("commondir"))
}

fn refuse(workspace: &Path, why: String) -> SandboxError {
    SandboxError::Unprotected { path: workspace.to_owned(), why }
}
