//! What the plan needs to know about the host. Looked up once per launch, so that the plan itself can stay pure.

mod found;
mod mount_points;
mod repositories;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::group::{Controller, GroupDirectory};
use crate::profile::{MountKind, Profile};
use crate::request::{HostUser, Repositories, Request};
use crate::rules::Access;
use crate::step::Identity;
use crate::sys;
use crate::workspace::Workspace;

pub use repositories::{HostRisks, host_risks, repositories};

/// Facts of the host.
#[derive(Clone, Debug)]
pub struct HostFacts {
    /// Who the caller is.
    pub caller: HostUser,
    /// Who a cage is when the caller is root and the request does not say.
    pub cage: HostUser,
    /// The version of Landlock; 0 where there is none.
    pub landlock_abi: u32,
    /// Whether system calls can be refused.
    pub seccomp: bool,
    /// The control groups that were made for the cage.
    pub groups: Vec<GroupDirectory>,
    /// What is found at the paths that profile and request mention. Missing paths are missing here too.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// Paths of the workspace, relative to it, that its rules cover besides those they name.
    pub found: BTreeMap<PathBuf, Access>,
    /// Paths of a direct workspace, relative to it, that a command could use against the host.
    pub protected: BTreeMap<PathBuf, Access>,
    /// Mount points of the host that the caller can see.
    pub mount_points: BTreeSet<PathBuf>,
}

/// What is found at a host path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// Which file it is.
    pub identity: Identity,
    /// Whose it is.
    pub owner: HostUser,
}

/// The kinds of file that can be brought into a cage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A character device.
    Device,
    /// A symbolic link.
    Link {
        /// Where it points, as written.
        target: PathBuf,
    },
}

impl HostFacts {
    /// Looks at every path that profile and request mention. For a cage that has neither helper nor groups yet; the
    /// caller's number stands in for that of the helper.
    pub(crate) fn gather(profile: &Profile, request: &Request) -> Result<Self, SandboxError> {
        let mut entries = BTreeMap::new();
        let of_profile = profile.mounts.iter().filter_map(|mount| match &mount.what {
            MountKind::Host | MountKind::Device => Some(Path::new(mount.at.as_ref())),
            MountKind::HostAt(host) => Some(Path::new(host.as_ref())),
            MountKind::Scratch { .. }
            | MountKind::File(_)
            | MountKind::Link(_)
            | MountKind::Directory
            | MountKind::Proc
            | MountKind::Frozen
            | MountKind::Masked => None,
        });
        for path in of_profile.chain(request.host_paths().map(PathBuf::as_path)) {
            if let Some(entry) = Entry::at(path) {
                entries.insert(path.to_owned(), entry);
            }
        }
        let found = match &request.workspace {
            Some(workspace) => found::found(workspace, &request.rules, &mut entries)?,
            None => BTreeMap::new(),
        };
        let protected = match &request.workspace {
            Some(Workspace::Direct(host)) if request.repositories == Repositories::Protected => {
                repositories::protected(host, &mut entries)?
            }
            Some(Workspace::Direct(_) | Workspace::Layered(_)) | None => BTreeMap::new(),
        };
        let mount_points = mount_points::read();
        let (landlock_abi, seccomp) = (sys::landlock_abi(), sys::seccomp_filters_available());
        let (cage, groups) = (HostUser::of_helper(std::process::id()), Vec::new());
        Ok(Self { caller: caller(), cage, landlock_abi, seccomp, groups, entries, found, protected, mount_points })
    }

    /// The same, for a cage in these control groups.
    pub(crate) fn with_groups(mut self, groups: &[GroupDirectory]) -> Self {
        self.groups = groups.to_vec();
        self
    }

    /// The same, for a cage behind a helper that is still to come.
    pub(crate) fn for_any_helper(mut self) -> Self {
        self.cage = HostUser::OF_HELPER;
        self
    }

    /// Who the cage of a request is on the host.
    pub(crate) fn cage_of(&self, request: &Request) -> HostUser {
        if self.caller_is_root() { request.host_user.unwrap_or(self.cage) } else { self.caller }
    }

    pub(crate) fn caller_is_root(&self) -> bool {
        self.caller.uid == 0
    }

    pub(crate) fn has(&self, controller: Controller) -> bool {
        self.groups.iter().any(|group| group.controllers.contains(&controller))
    }
}

impl Entry {
    fn at(path: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(path).ok()?;
        let kind = match meta.file_type() {
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_char_device() => EntryKind::Device,
            kind if kind.is_symlink() => EntryKind::Link { target: fs::read_link(path).ok()? },
            _ => return None,
        };
        Some(Self {
            kind,
            identity: Identity { device: meta.dev(), inode: meta.ino() },
            owner: HostUser { uid: meta.uid(), gid: meta.gid() },
        })
    }
}

pub(crate) fn caller() -> HostUser {
    HostUser { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
}

/// The request with every host path free of links: what the caller named is fixed here, once.
pub(crate) fn resolved(mut request: Request) -> Result<Request, SandboxError> {
    for path in request.host_paths_mut() {
        *path = canonical(path)?;
    }
    Ok(request)
}

/// The same for the host paths that the profile names itself.
pub(crate) fn resolved_profile(profile: &Profile) -> Result<Cow<'_, Profile>, SandboxError> {
    if profile.own_places().next().is_none() {
        return Ok(Cow::Borrowed(profile));
    }
    let mut profile = profile.clone();
    for mount in &mut profile.mounts {
        if let MountKind::HostAt(host) = &mut mount.what {
            let path = canonical(Path::new(host.as_ref()))?;
            *host = path.to_string_lossy().into_owned().into();
        }
    }
    Ok(Cow::Owned(profile))
}

fn canonical(path: &Path) -> Result<PathBuf, SandboxError> {
    fs::canonicalize(path).map_err(|error| SandboxError::Source { path: path.to_owned(), why: error.to_string() })
}
