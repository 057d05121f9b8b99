//! The steps behind a layered directory, and who its files belong to.

use std::path::{Path, PathBuf};

use super::{READ_ONLY, Tree, WORKSPACE};
use crate::error::SandboxError;
use crate::host::{Entry, EntryKind, HostFacts};
use crate::profile::{MountKind, Profile, WorkspaceOwnership};
use crate::request::{HostUser, RequestError};
use crate::step::{Detach, DetachUpper, Identity, Ownership, Step};
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
    pub(super) fn workspace(&mut self, workspace: &Workspace, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let at = PathBuf::from(WORKSPACE);
        match workspace {
            Workspace::Direct(host) => {
                let ownership = owners.direct(directory(host, owners.facts)?.owner);
                self.host_source(host, &at, self.work_flags, ownership, owners.facts)?;
                self.writable.push(at);
                Ok(())
            }
            Workspace::Layered(layers) => self.layers(layers, at, owners),
        }
    }

    pub(super) fn layer(&mut self, layer: &Layer, profile: &Profile, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let in_the_way = profile.mounts.iter().any(|mount| match mount.what {
            // These are plain directories of the cage, in which further ones can be made.
            MountKind::Scratch { .. } | MountKind::Directory => Path::new(mount.at.as_ref()).starts_with(&layer.at),
            MountKind::Host
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
        self.layers(&layer.layers, layer.at.clone(), owners)
    }

    fn layers(&mut self, layers: &Layers, at: PathBuf, owners: &Owners<'_>) -> Result<(), SandboxError> {
        let lower = directory(&layers.lower, owners.facts)?;
        let (upper, work) = (directory(&layers.upper, owners.facts)?, directory(&layers.work, owners.facts)?);
        if upper.owner != work.owner {
            return Err(refuse(&layers.work, "it belongs to somebody else than the upper beside it"));
        }
        self.detach.push(Step::Detach(Detach {
            host: layers.lower.clone(),
            identity: lower.identity,
            at: at.clone(),
            flags: READ_ONLY.to_vec(),
            ownership: owners.layered(lower.owner),
        }));
        self.detach.push(Step::DetachUpper(DetachUpper {
            parent: layers.upper.parent().unwrap_or(Path::new("/")).to_owned(),
            upper: named(&layers.upper, upper.identity),
            work: named(&layers.work, work.identity),
            at: at.clone(),
            ownership: owners.layered(upper.owner),
        }));
        self.directory(&at);
        self.writable.push(at.clone());
        self.build.push(Step::MountLayers { at, flags: self.work_flags.to_vec() });
        Ok(())
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
