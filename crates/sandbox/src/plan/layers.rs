//! The steps behind a layered directory, and who its files belong to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::rules::{Cover, Covers, covers, protection};
use super::{READ_ONLY, Tree, WORKSPACE};
use crate::error::SandboxError;
use crate::host::{Entry, EntryKind, HostFacts};
use crate::profile::{MountKind, Profile, WorkspaceOwnership};
use crate::request::{HostUser, RequestError};
use crate::rules::{Access, Rules};
use crate::step::{Detach, DetachUpper, Identity, MountFlag, Ownership, Step};
use crate::workspace::{Layer, Layers, Workspace, overlaps};

/// Whose files become whose.
pub(super) struct Owners<'a> {
    pub(super) facts: &'a HostFacts,
    pub(super) cage: HostUser,
    pub(super) profile: WorkspaceOwnership,
}

impl Owners<'_> {
    /// For a directory the cage writes itself.
    fn direct(&self, disk: HostUser) -> Ownership {
        let cage = self.cage;
        match self.profile {
            _ if !self.facts.caller_is_root() || disk == cage => Ownership::Kept,
            WorkspaceOwnership::Mapped => Ownership::Mapped { disk, cage },
            WorkspaceOwnership::Chowned => Ownership::Given { cage },
        }
    }

    /// For a layer: what lies below is never changed, not even its owner.
    fn layered(&self, disk: HostUser) -> Ownership {
        let cage = self.cage;
        match self.facts.caller_is_root() && disk != cage {
            true => Ownership::MappedOnly { disk, cage },
            false => Ownership::Kept,
        }
    }
}

impl Tree {
    pub(super) fn workspace(
        &mut self,
        workspace: &Workspace,
        rules: &Rules,
        owners: &Owners<'_>,
    ) -> Result<(), SandboxError> {
        let at = PathBuf::from(WORKSPACE);
        match workspace {
            Workspace::Direct(host) if rules.restrict() => self.direct_by_rules(host, at, rules, owners),
            Workspace::Direct(host) => {
                let ownership = owners.direct(directory(host, owners.facts)?.owner);
                self.host_source(host, &at, self.work_flags, ownership, owners.facts)?;
                self.writable.push(at.clone());
                self.protect(&owners.facts.protected, host, &at, owners.facts)
            }
            Workspace::Layered(layers) => self.layered_by_rules(layers, at, rules, owners),
        }
    }

    /// Nothing is writable but what the host's own directories are bound to, above a read-only view.
    fn direct_by_rules(
        &mut self,
        host: &Path,
        at: PathBuf,
        rules: &Rules,
        owners: &Owners<'_>,
    ) -> Result<(), SandboxError> {
        let covers = covers(rules, host, owners.facts)?;
        self.lower(host, &at, owners)?;
        self.layers_at(at.clone(), self.flags(Access::ReadOnly), &covers);
        for (path, cover) in &covers.mounts {
            let above_is_writable =
                path.ancestors().skip(1).any(|above| covers.mounts.get(above) == Some(&Cover::Open));
            match cover {
                Cover::Pin | Cover::Freeze | Cover::Blank if above_is_writable => {
                    return Err(RequestError::RulesNeedLayers.into());
                }
                Cover::Open => self.open_direct(&host.join(path), at.join(path), owners)?,
                Cover::Pin | Cover::Freeze => {
                    self.build.push(Step::Rebind { at: at.join(path), flags: self.flags(Access::ReadOnly) })
                }
                Cover::Blank => self.build.push(Step::Blank { at: at.join(path) }),
            }
        }
        let open = |path: &PathBuf| path.ancestors().any(|above| covers.mounts.get(above) == Some(&Cover::Open));
        let protected = owners.facts.protected.iter().filter(|(path, _)| open(path));
        self.protect(&protected.map(|(path, access)| (path.clone(), *access)).collect(), host, &at, owners.facts)
    }

    /// Makes the repositories of a direct workspace read-only and hides its sockets.
    fn protect(
        &mut self,
        protected: &BTreeMap<PathBuf, Access>,
        host: &Path,
        at: &Path,
        facts: &HostFacts,
    ) -> Result<(), SandboxError> {
        for (path, cover) in protection(protected, host, facts)? {
            let at = at.join(path);
            self.build.push(match cover {
                Cover::Pin | Cover::Open => Step::Rebind { at, flags: self.flags(Access::Writable) },
                Cover::Freeze => Step::Rebind { at, flags: self.flags(Access::ReadOnly) },
                Cover::Blank => Step::Blank { at },
            });
        }
        Ok(())
    }

    fn open_direct(&mut self, host: &Path, at: PathBuf, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let entry = owners.facts.entries.get(host);
        let entry = entry.ok_or_else(|| refuse(host, "it is to be writable and does not exist; make it first"))?;
        self.detach.push(Step::Detach(Detach {
            host: host.to_owned(),
            identity: entry.identity,
            at: at.clone(),
            flags: self.flags(Access::Writable),
            ownership: owners.direct(entry.owner),
        }));
        self.writable.push(at.clone());
        self.build.push(Step::Attach { at });
        Ok(())
    }

    fn layered_by_rules(
        &mut self,
        layers: &Layers,
        at: PathBuf,
        rules: &Rules,
        owners: &Owners<'_>,
    ) -> Result<(), SandboxError> {
        let covers = covers(rules, &layers.lower, owners.facts)?;
        self.lower(&layers.lower, &at, owners)?;
        self.upper(layers, &at, owners)?;
        self.layers_at(at.clone(), self.flags(rules.elsewhere), &covers);
        for (path, cover) in &covers.mounts {
            let at = at.join(path);
            self.build.push(match cover {
                Cover::Pin | Cover::Open => Step::Rebind { at: at.clone(), flags: self.flags(Access::Writable) },
                Cover::Freeze => Step::Rebind { at: at.clone(), flags: self.flags(Access::ReadOnly) },
                Cover::Blank => Step::Blank { at: at.clone() },
            });
            if *cover == Cover::Open {
                self.writable.push(at);
            }
        }
        Ok(())
    }

    pub(super) fn layer(&mut self, layer: &Layer, profile: &Profile, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let in_the_way = profile.mounts.iter().any(|mount| match mount.what {
            // These are plain directories of the cage, in which further ones can be made.
            MountKind::Scratch { .. } | MountKind::Directory => Path::new(mount.at.as_ref()).starts_with(&layer.at),
            MountKind::Host
            | MountKind::HostAt(_)
            | MountKind::Device
            | MountKind::File(_)
            | MountKind::Link(_)
            | MountKind::Proc
            | MountKind::Frozen
            | MountKind::Masked => overlaps(Path::new(mount.at.as_ref()), &layer.at),
        });
        if in_the_way {
            return Err(RequestError::LayerPath(layer.at.clone()).into());
        }
        self.lower(&layer.layers.lower, &layer.at, owners)?;
        self.upper(&layer.layers, &layer.at, owners)?;
        self.layers_at(layer.at.clone(), self.flags(Access::Writable), &Covers::default());
        Ok(())
    }

    fn lower(&mut self, host: &Path, at: &Path, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let entry = directory(host, owners.facts)?;
        self.detach.push(Step::Detach(Detach {
            host: host.to_owned(),
            identity: entry.identity,
            at: at.to_owned(),
            flags: READ_ONLY.to_vec(),
            ownership: owners.layered(entry.owner),
        }));
        Ok(())
    }

    fn upper(&mut self, layers: &Layers, at: &Path, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let (upper, work) = (directory(&layers.upper, owners.facts)?, directory(&layers.work, owners.facts)?);
        if upper.owner != work.owner {
            return Err(refuse(&layers.work, "it belongs to somebody else than the upper beside it"));
        }
        self.detach.push(Step::DetachUpper(DetachUpper {
            parent: layers.upper.parent().unwrap_or(Path::new("/")).to_owned(),
            upper: named(&layers.upper, upper.identity),
            work: named(&layers.work, work.identity),
            at: at.to_owned(),
            ownership: owners.layered(upper.owner),
        }));
        Ok(())
    }

    fn layers_at(&mut self, at: PathBuf, flags: Vec<MountFlag>, covers: &Covers) {
        self.directory(&at);
        if !flags.contains(&MountFlag::ReadOnly) {
            self.writable.push(at.clone());
        }
        let skeleton = covers.skeleton.iter().cloned().collect();
        self.build.push(Step::MountLayers { at, flags, skeleton });
    }

    /// What holds for a place the command works in, besides.
    fn flags(&self, access: Access) -> Vec<MountFlag> {
        let read_only = match access {
            Access::Writable => None,
            Access::ReadOnly | Access::Hidden => Some(MountFlag::ReadOnly),
        };
        read_only.into_iter().chain(self.work_flags.iter().copied()).collect()
    }
}

fn named(path: &Path, identity: Identity) -> (PathBuf, Identity) {
    (path.file_name().map(PathBuf::from).unwrap_or_default(), identity)
}

fn directory<'a>(host: &Path, facts: &'a HostFacts) -> Result<&'a Entry, SandboxError> {
    if let Some(reason) = super::never_mounted(host) {
        return Err(refuse(host, reason));
    }
    match facts.entries.get(host) {
        Some(entry) if entry.kind == EntryKind::Directory => Ok(entry),
        Some(_) | None => Err(refuse(host, "it is no directory")),
    }
}

fn refuse(host: &Path, why: &str) -> SandboxError {
    SandboxError::Source { path: host.to_owned(), why: why.to_owned() }
}
