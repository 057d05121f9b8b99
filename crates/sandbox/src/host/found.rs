//! What the rules of a workspace meet on this host: other spellings of their paths, and the names they hide.
//!
//! Only names and kinds are looked at, no link is followed. What changes on the host afterwards is met again when the
//! mounts are made: they refuse links, and what is covered stays covered.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind};
use crate::error::SandboxError;
use crate::rules::{Access, MAX_RULES, Rules};
use crate::workspace::Workspace;

/// As many as a large monorepo has; a walk through them takes about a second.
const MAX_WALKED: usize = 1_000_000;

/// The paths the rules cover beyond those they name; and the entries of all of them, for the plan.
pub(super) fn found(
    workspace: &Workspace,
    rules: &Rules,
    entries: &mut BTreeMap<PathBuf, Entry>,
) -> Result<BTreeMap<PathBuf, Access>, SandboxError> {
    let (upper, workspace) = (workspace.upper(), workspace.host());
    let mut found = BTreeMap::new();
    for (path, access) in rules.paths.iter().filter(|(_, access)| **access != Access::Writable) {
        found.extend(spellings(workspace, path).into_iter().map(|spelling| (spelling, *access)));
    }
    if !rules.names.is_empty() {
        Walk { workspace, rules, walked: 0, found: &mut found }.below(Path::new(""))?;
    }
    found.retain(|path, _| !rules.paths.contains_key(path));
    if found.len() > MAX_RULES {
        return Err(refuse(workspace, format!("its rules cover {} files; the limit is {MAX_RULES}", found.len())));
    }
    for path in rules.paths.keys().chain(found.keys()).flat_map(|path| path.ancestors()) {
        let host = workspace.join(path);
        let entry = Entry::at(&host).or_else(|| in_upper(upper?, path));
        if let Some(entry) = entry.filter(|_| path != Path::new("")) {
            entries.insert(host, entry);
        }
    }
    Ok(found)
}

/// What an earlier command, or whoever prepared the layers, put where the lower has nothing. A device there is the
/// kernel's note that nothing is.
fn in_upper(upper: &Path, path: &Path) -> Option<Entry> {
    Entry::at(&upper.join(path)).filter(|entry| entry.kind != EntryKind::Device)
}

/// The ways a path is really spelled, ignoring case: what is checked out on a host that ignores it must not differ.
fn spellings(workspace: &Path, path: &Path) -> Vec<PathBuf> {
    path.components().fold(vec![PathBuf::new()], |above, wanted| {
        let wanted = wanted.as_os_str().to_string_lossy().to_lowercase();
        above.iter().flat_map(|above| children(workspace, above)).filter(|child| is_named(child, &wanted)).collect()
    })
}

fn is_named(path: &Path, lowercase: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase() == lowercase)
}

/// A directory that cannot be read has no children the command could reach either.
fn children(workspace: &Path, relative: &Path) -> Vec<PathBuf> {
    let directory = workspace.join(relative);
    let plain = fs::symlink_metadata(&directory).is_ok_and(|meta| meta.is_dir());
    let entries = plain.then(|| fs::read_dir(&directory).ok()).flatten().into_iter().flatten().flatten();
    entries.map(|entry| relative.join(entry.file_name())).collect()
}

struct Walk<'a> {
    workspace: &'a Path,
    rules: &'a Rules,
    walked: usize,
    found: &'a mut BTreeMap<PathBuf, Access>,
}

impl Walk<'_> {
    fn below(&mut self, directory: &Path) -> Result<(), SandboxError> {
        let Ok(entries) = fs::read_dir(self.workspace.join(directory)) else { return Ok(()) };
        for entry in entries.flatten() {
            self.walked += 1;
            if self.walked > MAX_WALKED {
                let why = format!("it has more than {MAX_WALKED} files to look for hidden names; hide paths instead");
                return Err(refuse(self.workspace, why));
            }
            let path = directory.join(entry.file_name());
            if self.rules.hides_name(&entry.file_name().to_string_lossy()) {
                self.found.insert(path, Access::Hidden);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.below(&path)?;
            }
        }
        Ok(())
    }
}

fn refuse(workspace: &Path, why: String) -> SandboxError {
    SandboxError::Source { path: workspace.to_owned(), why }
}
