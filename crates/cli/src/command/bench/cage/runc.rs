//! runc by itself, from a bundle: what container engines use below, without an engine.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use placet_sandbox::Profile;
use serde_json::{Value, json};

use super::peer::Launches;
use super::rootfs::Rootfs;
use crate::error::CliError;

pub(super) struct Runc {
    program: PathBuf,
    bundle: PathBuf,
    state: PathBuf,
    launched: u64,
}

impl Runc {
    pub(super) fn of(program: PathBuf, profile: &Profile, rootfs: &Rootfs) -> Result<Self, CliError> {
        let bundle = rootfs.place("bundle");
        fs::create_dir_all(&bundle)?;
        fs::write(bundle.join("config.json"), configuration(profile, rootfs).to_string())?;
        Ok(Self { program, bundle, state: rootfs.place("runc"), launched: 0 })
    }
}

impl Launches for Runc {
    fn command(&mut self) -> Result<Command, CliError> {
        self.launched += 1;
        let name = format!("placet-bench-{}-{}", std::process::id(), self.launched);
        let mut command = Command::new(&self.program);
        command.arg("--root").arg(&self.state).args(["run", "--bundle"]).arg(&self.bundle).arg(name);
        command.stdin(Stdio::null());
        Ok(command)
    }
}

fn configuration(profile: &Profile, rootfs: &Rootfs) -> Value {
    let variables = profile.variables().iter().map(|one| format!("{}={}", one.name, one.value));
    let kinds = ["pid", "network", "ipc", "uts", "mount", "cgroup"].map(|kind| json!({ "type": kind }));
    json!({
        "ociVersion": "1.0.2",
        "hostname": "cage",
        "root": { "path": rootfs.place("root"), "readonly": true },
        "process": {
            "user": { "uid": 1_000, "gid": 1_000 },
            "args": ["true"],
            "env": variables.collect::<Vec<_>>(),
            "cwd": "/",
            "noNewPrivileges": true,
            "capabilities": {},
        },
        "mounts": mounts(rootfs),
        "linux": { "namespaces": kinds },
    })
}

fn mounts(rootfs: &Rootfs) -> Vec<Value> {
    let mount = |kind: &str, at: &str, source: &str, options: &[&str]| json!({ "destination": at, "type": kind, "source": source, "options": options });
    let mut all = vec![
        mount("proc", "/proc", "proc", &["nosuid", "nodev", "noexec"]),
        mount("tmpfs", "/dev", "tmpfs", &["nosuid", "mode=755", "size=65536k"]),
    ];
    for host in &rootfs.host {
        let host = host.to_string_lossy();
        all.push(mount("bind", &host, &host, &["rbind", "ro", "nosuid", "nodev"]));
    }
    for (at, size_bytes) in &rootfs.scratch {
        let size = format!("size={size_bytes}");
        all.push(mount("tmpfs", &at.to_string_lossy(), "tmpfs", &["nosuid", "nodev", &size]));
    }
    all
}
