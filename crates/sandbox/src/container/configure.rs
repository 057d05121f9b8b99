//! Profile, request and facts of an engine in; the configuration of a container out. Pure, like the plan of a cage.
//!
//! What a profile takes from the host (programs, libraries, small files) comes from the image here; what it takes away
//! is taken away in the engine's terms. What an engine cannot do is refused: there is no container with a wall less.

mod mounts;
mod user;

use serde_json::{Value, json};

use super::error::EngineError;
use super::facts::{EngineFacts, EngineKind};
use super::seccomp::engine_profile;
use crate::error::SandboxError;
use crate::plan::{WORKSPACE, environment, permit};
use crate::profile::{Demand, LeastTier, Limits, Profile};
use crate::request::{HostUser, Request};
use mounts::Mounts;

/// By this label containers of cages are found again. Its value says whose they are.
pub const LABEL: &str = "placet.cage";

/// Clearly before anything else of the host, as in the plan of a cage.
const OOM_POINTS: i32 = 500;

/// Counted by user, and several containers may be one user of the host: a second wall behind the limit of processes.
const PROCESSES_OF_USER: u64 = 4_096;

/// The engine's init process counts as one of the container.
const OWN_PROCESSES: u64 = 1;

/// A container, before it exists.
#[derive(Clone, Debug)]
pub struct ContainerConfig {
    json: Value,
    seccomp: Value,
    user: HostUser,
    kind: EngineKind,
}

impl ContainerConfig {
    /// The container of a request, with this image as its root.
    pub fn new(profile: &Profile, request: &Request, image: &str, facts: &EngineFacts) -> Result<Self, SandboxError> {
        request.check()?;
        demand(profile, request, facts)?;
        permit(profile, request)?;
        let identity = user::of(request, facts)?;
        let mounts = Mounts::of(profile, request, facts.kind, identity.inside)?;
        let mut host = host_config(&request.limits.unwrap_or(profile.limits), profile, &mounts, facts);
        if let Some(mode) = identity.namespace {
            host["UsernsMode"] = mode.into();
        }
        let json = json!({
            "Image": image,
            "Entrypoint": request.argv,
            "Cmd": [],
            "Env": environment(profile, request),
            "User": format!("{}:{}", identity.inside.uid, identity.inside.gid),
            "WorkingDir": request.workspace.as_ref().map_or("/tmp", |_| WORKSPACE),
            "Hostname": profile.hostname,
            "AttachStdin": true, "AttachStdout": true, "AttachStderr": true,
            "OpenStdin": true, "StdinOnce": true, "Tty": false,
            "Healthcheck": {"Test": ["NONE"]},
            "StopSignal": "SIGKILL", "StopTimeout": 0,
            "NetworkDisabled": true,
            "HostConfig": host,
        });
        Ok(Self { json, seccomp: engine_profile(&profile.syscalls), user: identity.inside, kind: facts.kind })
    }

    /// As it is sent to the engine, without its name, its label and its filter of system calls.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The filter of system calls, in the engines' format.
    #[must_use]
    pub fn seccomp(&self) -> &Value {
        &self.seccomp
    }

    /// Who the command is, in the container; with an engine that runs as root, on the host too.
    pub(super) fn user(&self) -> HostUser {
        self.user
    }

    /// Whole. Podman reads the filter from a file, Docker wants it in the request.
    pub(super) fn complete(&self, name: &str, filter_file: &str) -> Value {
        let mut json = self.json.clone();
        json["Labels"] = json!({LABEL: name});
        let filter = match self.kind {
            EngineKind::Docker => format!("seccomp={}", self.seccomp),
            EngineKind::Podman => format!("seccomp={filter_file}"),
        };
        if let Some(options) = json["HostConfig"]["SecurityOpt"].as_array_mut() {
            options.push(filter.into());
        }
        json
    }
}

/// Fails closed: what cannot be enforced is not left out.
fn demand(profile: &Profile, request: &Request, facts: &EngineFacts) -> Result<(), SandboxError> {
    let lacks = |what: &str, todo: &str| Err(SandboxError::HostLacks { what: what.into(), todo: todo.into() });
    if !facts.seccomp {
        return lacks("filters of system calls in containers", "use an engine with seccomp");
    }
    if profile.demands == LeastTier::Full {
        return lacks("every layer in a container", "use the cage of namespaces, or a profile that demands less");
    }
    if profile.landlock == Demand::Required {
        return lacks("Landlock in a container", "use the cage of namespaces, or a profile that does not insist on it");
    }
    if profile.groups == Demand::Required && !facts.limits {
        return lacks("limits of memory and processes", "run the engine as root, or on a host with cgroup v2");
    }
    match request.doors.first() {
        Some(port) => Err(unsupported(
            format!("a door at port {port}, because it has no network at all"),
            "use the cage of namespaces",
        )),
        None => Ok(()),
    }
}

pub(super) fn unsupported(what: String, todo: &str) -> SandboxError {
    EngineError::Unsupported { what, todo: todo.to_owned() }.into()
}

fn host_config(limits: &Limits, profile: &Profile, mounts: &Mounts, facts: &EngineFacts) -> Value {
    let kind = facts.kind;
    let mut security = vec!["no-new-privileges".to_owned()];
    if kind == EngineKind::Podman {
        // It does not know the field that is meant for this.
        security.push(format!("mask={}", mounts.masked.join(":")));
    }
    let mut host = json!({
        "NetworkMode": "none",
        "ReadonlyRootfs": true,
        "Privileged": false,
        "CapDrop": ["ALL"],
        "SecurityOpt": security,
        "Init": true,
        // Removed by whoever launched it, after its end was read; an engine that removes it takes the reason along.
        "AutoRemove": false,
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "LogConfig": {"Type": "none"},
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "OomScoreAdj": OOM_POINTS,
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,
        "PidsLimit": limits.pids.saturating_add(OWN_PROCESSES),
        "Ulimits": ulimits(limits, facts),
        "ShmSize": mounts.shared_memory_bytes,
        "Tmpfs": mounts.scratch,
        "MaskedPaths": mounts.masked,
        "ReadonlyPaths": mounts.frozen,
    });
    if let Some(percent) = limits.cpu_percent {
        host["NanoCpus"] = (u64::from(percent.get()) * 10_000_000).into();
    }
    match kind {
        EngineKind::Docker => host["Mounts"] = mounts.binds.iter().map(mounts::Bind::for_docker).collect(),
        EngineKind::Podman => {
            host["Binds"] = mounts.binds.iter().map(|bind| bind.for_podman(profile.programs)).collect();
        }
    }
    host
}

/// For each process; a second later than the soft one, the hard limit of processor time kills.
/// Where the engine does not limit memory, each process is limited, as in a cage without control groups.
fn ulimits(limits: &Limits, facts: &EngineFacts) -> Value {
    let both = |name: &str, value: u64| json!({"Name": name, "Soft": value, "Hard": value});
    let cpu = limits.cpu_seconds;
    let data = (!facts.limits).then(|| both("data", limits.memory_bytes));
    let always = [
        json!({"Name": "cpu", "Soft": cpu, "Hard": cpu.saturating_add(1)}),
        both("core", 0),
        both("fsize", limits.file_bytes),
        both("memlock", 64 << 10),
        both("msgqueue", 64 << 10),
        both("nofile", limits.open_files),
        both("nproc", PROCESSES_OF_USER.max(limits.pids)),
    ];
    always.into_iter().chain(data).collect()
}
