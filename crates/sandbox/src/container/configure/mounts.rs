//! The file system of a container: scratch places with their sizes, the workspace, what was asked for read-only, and
//! what of `/proc` and `/sys` is not shown.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::unsupported;
use crate::container::facts::EngineKind;
use crate::error::SandboxError;
use crate::plan::{WORKSPACE, never_mounted};
use crate::profile::{MountKind, Profile, Programs};
use crate::request::{HostUser, Request};
use crate::rules::Access;
use crate::workspace::Workspace;

/// Engines make these writable without a limit where the root is read-only, unless they are given something else.
const EMPTY_DIRECTORY_BYTES: u64 = 64 << 10;

/// A cage has no `/sys` at all.
const SYSTEM: &str = "/sys";

const SHARED_MEMORY: &str = "/dev/shm";

pub(super) struct Mounts {
    pub(super) scratch: BTreeMap<String, String>,
    pub(super) shared_memory_bytes: u64,
    pub(super) binds: Vec<Bind>,
    pub(super) masked: Vec<String>,
    pub(super) frozen: Vec<String>,
}

/// A file or directory of the host.
pub(super) struct Bind {
    host: String,
    at: String,
    writable: bool,
}

impl Mounts {
    pub(super) fn of(
        profile: &Profile,
        request: &Request,
        kind: EngineKind,
        user: HostUser,
    ) -> Result<Self, SandboxError> {
        let mut masked = places(profile, |kind| matches!(kind, MountKind::Masked));
        masked.push(SYSTEM.into());
        Ok(Self {
            scratch: scratch(profile, kind, user),
            shared_memory_bytes: size_of(profile, SHARED_MEMORY).map_or(0, |(size_bytes, _)| size_bytes),
            binds: binds(profile, request, kind)?,
            masked,
            frozen: places(profile, |kind| matches!(kind, MountKind::Frozen)),
        })
    }
}

fn places(profile: &Profile, wanted: impl Fn(&MountKind) -> bool) -> Vec<String> {
    profile.mounts.iter().filter(|mount| wanted(&mount.what)).map(|mount| mount.at.to_string()).collect()
}

fn size_of(profile: &Profile, at: &str) -> Option<(u64, Programs)> {
    let place = profile.mounts.iter().find(|mount| mount.at == at)?;
    match &place.what {
        MountKind::Scratch { size_bytes, programs } => Some((*size_bytes, *programs)),
        MountKind::Link(target) => size_of(profile, target),
        MountKind::Host
        | MountKind::HostAt(_)
        | MountKind::Device
        | MountKind::File(_)
        | MountKind::Directory
        | MountKind::Proc
        | MountKind::Frozen
        | MountKind::Masked => None,
    }
}

/// Scratch places; links to them, which an image does not have, become scratch places themselves; empty directories.
fn scratch(profile: &Profile, kind: EngineKind, user: HostUser) -> BTreeMap<String, String> {
    let outside_devices = profile.mounts.iter().filter(|mount| !mount.at.starts_with("/dev/"));
    let options = outside_devices.filter_map(|mount| {
        let options = match (&mount.what, size_of(profile, &mount.at)) {
            (_, Some((size_bytes, programs))) => writable(size_bytes, programs, kind, user),
            (MountKind::Directory, None) => {
                format!("rw,nosuid,nodev,noexec,size={EMPTY_DIRECTORY_BYTES},mode=0755{}", uncopied(kind))
            }
            (_, None) => return None,
        };
        Some((mount.at.to_string(), options))
    });
    options.collect()
}

fn writable(size_bytes: u64, programs: Programs, kind: EngineKind, user: HostUser) -> String {
    let programs = match programs {
        Programs::Allowed => "exec",
        Programs::Refused => "noexec",
    };
    let owner = match kind {
        EngineKind::Docker => format!(",uid={},gid={}", user.uid, user.gid),
        // The user of the container, by Podman's own word for it.
        EngineKind::Podman => ",U".to_owned(),
    };
    format!("rw,nosuid,nodev,{programs},size={size_bytes},mode=0700{owner}{}", uncopied(kind))
}

/// Podman fills such places with what the image has there, unless it is told not to.
fn uncopied(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::Docker => "",
        EngineKind::Podman => ",notmpcopyup",
    }
}

fn binds(profile: &Profile, request: &Request, kind: EngineKind) -> Result<Vec<Bind>, SandboxError> {
    if !request.layers.is_empty() {
        return Err(unsupported("layers".into(), "use the cage of namespaces"));
    }
    let workspace = request.workspace.as_ref().map(|workspace| workspace_bind(workspace, profile, request, kind));
    let read_only = request.read_only.iter().map(|mount| bind(&mount.host, &mount.cage, Access::ReadOnly, kind));
    let of_profile = profile.mounts.iter().filter_map(|mount| {
        let MountKind::HostAt(host) = &mount.what else { return None };
        Some(bind(Path::new(host.as_ref()), Path::new(mount.at.as_ref()), Access::ReadOnly, kind))
    });
    workspace.into_iter().chain(of_profile).chain(read_only).collect()
}

fn workspace_bind(
    workspace: &Workspace,
    profile: &Profile,
    request: &Request,
    kind: EngineKind,
) -> Result<Bind, SandboxError> {
    let host = match workspace {
        Workspace::Direct(host) => host,
        Workspace::Layered(_) => {
            return Err(unsupported("layers".into(), "give it a direct workspace, or use the cage of namespaces"));
        }
    };
    if !request.rules.paths.is_empty() || !request.rules.names.is_empty() {
        let what = "rules for paths in its workspace";
        return Err(unsupported(what.into(), "make the whole workspace read-only, or use the cage of namespaces"));
    }
    if (kind, profile.programs) == (EngineKind::Docker, Programs::Refused) {
        let what = format!("a workspace from which no program starts, as the profile `{}` wants", profile.name);
        return Err(unsupported(what, "use Podman, the cage of namespaces, or a profile that allows programs"));
    }
    bind(host, Path::new(WORKSPACE), request.rules.elsewhere, kind)
}

fn bind(host: &Path, at: &Path, access: Access, kind: EngineKind) -> Result<Bind, SandboxError> {
    let refuse = |why: &str| SandboxError::Source { path: host.to_owned(), why: why.into() };
    if let Some(reason) = never_mounted(host) {
        return Err(refuse(reason));
    }
    let (source, target) = (host.display().to_string(), at.display().to_string());
    if kind == EngineKind::Podman && (source.contains(':') || target.contains(':')) {
        return Err(refuse("a path with a colon means something else to this engine; rename it"));
    }
    match access {
        Access::Writable => Ok(Bind { host: source, at: target, writable: true }),
        Access::ReadOnly => Ok(Bind { host: source, at: target, writable: false }),
        Access::Hidden => Err(refuse("a hidden workspace is none")),
    }
}

impl Bind {
    /// Without what is mounted below it on the host: engines do not make that read-only.
    pub(super) fn for_docker(&self) -> Value {
        json!({
            "Type": "bind", "Source": self.host, "Target": self.at, "ReadOnly": !self.writable,
            "BindOptions": {"Propagation": "rprivate", "NonRecursive": true},
        })
    }

    /// The same, in the older form, which is the only one with all of these flags.
    pub(super) fn for_podman(&self, programs: Programs) -> Value {
        let access = if self.writable { "rw" } else { "ro" };
        let workspace = self.at == WORKSPACE;
        let programs = if workspace && programs == Programs::Refused { ",noexec" } else { "" };
        format!("{}:{}:{access},nosuid,nodev{programs},rprivate,bind", self.host, self.at).into()
    }
}
