//! podman, with a store of its own that is thrown away, and a root instead of an image: nothing is downloaded.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use placet_sandbox::Profile;

use super::peer::Launches;
use super::rootfs::Rootfs;
use crate::error::CliError;

/// The same walls by podman's names. The limits are those a host without the right to raise limits can give.
const WALLS: &str = "--rm --network none --read-only --cap-drop all --security-opt no-new-privileges --user 1000:1000 \
                     --hostname cage --no-hosts --log-driver none --ulimit nofile=4096:4096 --ulimit nproc=4096:4096";

pub(super) struct Podman {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Podman {
    /// With runc where it is installed: other runtimes refuse hosts with both versions of control groups.
    pub(super) fn of(program: PathBuf, runc: Option<PathBuf>, profile: &Profile, rootfs: &Rootfs) -> Self {
        let mut arguments: Vec<OsString> = Vec::new();
        for (option, place) in [("--root", "store"), ("--runroot", "run"), ("--tmpdir", "tmp")] {
            arguments.extend([option.into(), rootfs.place(place).into()]);
        }
        let fixed = "--storage-driver vfs --cgroup-manager cgroupfs --events-backend none";
        arguments.extend(fixed.split(' ').map(Into::into));
        arguments.extend(runc.into_iter().flat_map(|runc| ["--runtime".into(), runc.into()]));
        arguments.push("run".into());
        arguments.extend(WALLS.split_whitespace().map(Into::into));
        arguments.extend(rootfs.host.iter().flat_map(|host| ["--volume".into(), read_only(host)]));
        let scratch = rootfs.scratch.iter().map(|(at, size_bytes)| format!("{}:size={size_bytes}", at.display()));
        arguments.extend(scratch.flat_map(|each| ["--tmpfs".into(), each.into()]));
        let variables = profile.variables().iter().map(|one| format!("{}={}", one.name, one.value));
        arguments.extend(variables.flat_map(|each| ["--env".into(), each.into()]));
        arguments.extend(["--rootfs".into(), rootfs.place("root").into(), "true".into()]);
        Self { program, arguments }
    }
}

impl Launches for Podman {
    fn command(&mut self) -> Result<Command, CliError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        Ok(command)
    }
}

fn read_only(host: &Path) -> OsString {
    let mut volume = OsString::from(host);
    volume.push(":");
    volume.push(host);
    volume.push(":ro");
    volume
}
