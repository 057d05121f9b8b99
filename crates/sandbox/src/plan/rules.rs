//! Rules become mounts: which paths are covered by what, in which order.
//!
//! A mount protects a path only as long as nobody can move what is above it, so every writable directory above a
//! covered path is pinned by a mount of its own. A path that is absent is given a place to mount on by a skeleton of
//! empty directories, the lowest layer of the workspace: nothing is ever made on the host. All mount points are those
//! of the overlay, which belongs to the cage: removing or replacing files on the host takes no mount away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::host::{EntryKind, HostFacts};
use crate::rules::{Access, MAX_RULES, Rules};

/// What is mounted over one path of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// Itself, so that it can be neither removed nor renamed.
    Pin,
    /// Itself, read-only.
    Freeze,
    /// Itself, writable below something read-only.
    Open,
    /// Nothing.
    Blank,
}

/// The mounts of a workspace.
#[derive(Debug, Default)]
pub(super) struct Covers {
    /// Paths relative to the workspace; parents come before what is in them.
    pub(super) mounts: BTreeMap<PathBuf, Cover>,
    /// Directories of the lowest layer, parents first.
    pub(super) skeleton: BTreeSet<PathBuf>,
}

/// What the rules mean for this workspace on this host.
pub(super) fn covers(rules: &Rules, workspace: &Path, facts: &HostFacts) -> Result<Covers, SandboxError> {
    let view = View { rules: effective(rules, facts), elsewhere: rules.elsewhere, workspace, facts };
    let mut covers = Covers::default();
    for (path, access) in &view.rules {
        view.cover(path, *access, &mut covers)?;
    }
    match covers.mounts.len() {
        seen @ MAX_RULES.. => {
            Err(view.refuse(Path::new(""), &format!("its rules need {seen} mounts; name directories")))
        }
        _ => Ok(covers),
    }
}

/// Covers that protect the repositories and sockets of a direct workspace. Each mount point is a name on the host: removing
/// that name on the host also removes its cover. Absent names have no cover.
pub(super) fn protection(
    protected: &BTreeMap<PathBuf, Access>,
    workspace: &Path,
    facts: &HostFacts,
) -> Result<BTreeMap<PathBuf, Cover>, SandboxError> {
    let view = View { rules: protected.clone(), elsewhere: Access::Writable, workspace, facts };
    let mut covers = Covers::default();
    for (path, access) in protected {
        view.cover(path, *access, &mut covers)?;
    }
    Ok(covers.mounts)
}

/// The rules that change something: what is named, what was found, without what is so already.
fn effective(rules: &Rules, facts: &HostFacts) -> BTreeMap<PathBuf, Access> {
    let mut all = rules.paths.clone();
    for (path, access) in &facts.found {
        let rule = all.entry(path.clone()).or_insert(*access);
        *rule = (*rule).max(*access);
    }
    let changes = |path: &PathBuf, access: &Access| {
        let above = path.ancestors().skip(1).find_map(|above| all.get(above)).copied().unwrap_or(rules.elsewhere);
        above != Access::Hidden && above != *access
    };
    all.iter().filter(|(path, access)| changes(path, access)).map(|(path, access)| (path.clone(), *access)).collect()
}

struct View<'a> {
    rules: BTreeMap<PathBuf, Access>,
    elsewhere: Access,
    workspace: &'a Path,
    facts: &'a HostFacts,
}

impl View<'_> {
    fn cover(&self, path: &Path, access: Access, covers: &mut Covers) -> Result<(), SandboxError> {
        for above in above(path) {
            match self.kind(&above) {
                Some(EntryKind::Link { .. }) => {
                    return Err(self.refuse(path, "a rule must not lead through a symbolic link; name the real path"));
                }
                Some(EntryKind::File | EntryKind::Device) => return self.cover_below_a_file(&above, access, covers),
                Some(EntryKind::Directory) | None => self.pin(&above, covers),
            }
        }
        let cover = match (access, self.kind(path)) {
            (Access::Writable, Some(EntryKind::Link { .. })) => {
                return Err(self.refuse(path, "a symbolic link cannot be made writable; name what it leads to"));
            }
            (Access::Writable, _) => Cover::Open,
            (Access::ReadOnly, Some(_)) => Cover::Freeze,
            (Access::ReadOnly, None) | (Access::Hidden, _) => Cover::Blank,
        };
        if self.kind(path).is_none() {
            covers.skeleton.extend(above(path).into_iter().chain([path.to_owned()]));
        }
        covers.mounts.insert(path.to_owned(), cover);
        Ok(())
    }

    /// As long as the file stays, nothing can be below it.
    fn cover_below_a_file(&self, file: &Path, access: Access, covers: &mut Covers) -> Result<(), SandboxError> {
        match access {
            Access::Writable => Err(self.refuse(file, "it is a file, so nothing below it can be made writable")),
            Access::ReadOnly | Access::Hidden => {
                self.pin(file, covers);
                Ok(())
            }
        }
    }

    /// What is read-only cannot be moved anyway, and what has a rule has a mount.
    fn pin(&self, path: &Path, covers: &mut Covers) {
        if self.access(path) == Access::Writable {
            covers.mounts.entry(path.to_owned()).or_insert(Cover::Pin);
        }
    }

    fn access(&self, path: &Path) -> Access {
        path.ancestors().find_map(|above| self.rules.get(above)).copied().unwrap_or(self.elsewhere)
    }

    fn kind(&self, path: &Path) -> Option<&EntryKind> {
        self.facts.entries.get(&self.workspace.join(path)).map(|entry| &entry.kind)
    }

    fn refuse(&self, path: &Path, why: &str) -> SandboxError {
        SandboxError::Source { path: self.workspace.join(path), why: why.to_owned() }
    }
}

/// The directories above a path, outermost first.
fn above(path: &Path) -> Vec<PathBuf> {
    let mut above: Vec<_> =
        path.ancestors().skip(1).filter(|above| *above != Path::new("")).map(Path::to_owned).collect();
    above.reverse();
    above
}
