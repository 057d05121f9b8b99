//! bwrap with the arguments that come closest to a profile, to be measured beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};

use placet_sandbox::{Mount, MountKind, Profile};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::CliError;

/// The same walls by bwrap's names; files and the filter are added from the profile.
const WALLS: &str = "--unshare-all --uid 1000 --gid 1000 --hostname cage --cap-drop ALL --new-session --die-with-parent \
                     --clearenv --dev /dev";

pub(super) struct Bwrap {
    arguments: Vec<OsString>,
    /// In memory; bwrap inherits the descriptor and reads it to the end.
    filter: File,
}

impl Bwrap {
    pub(super) fn of(profile: &Profile) -> Result<Self, CliError> {
        let filter = inheritable(&profile.filter())?;
        let walls = WALLS.split_whitespace().map(Into::into);
        let mounts = profile.mounts().iter().flat_map(mount).map(Into::into);
        let variables = profile.variables().iter();
        let variables = variables.flat_map(|one| ["--setenv", &one.name, &one.value].map(Into::into));
        let filtered = ["--seccomp".into(), filter.as_raw_fd().to_string().into()];
        let command = std::iter::once("true".into());
        let arguments = walls.chain(mounts).chain(variables).chain(filtered).chain(command).collect();
        Ok(Self { arguments, filter })
    }

    /// Runs `true` once.
    pub(super) fn command(&mut self) -> Result<Command, CliError> {
        self.filter.rewind()?;
        let mut command = Command::new("bwrap");
        command.args(&self.arguments).stdin(Stdio::null());
        Ok(command)
    }
}

/// A file in memory that survives exec.
fn inheritable(bytes: &[u8]) -> Result<File, CliError> {
    let memory = memfd_create("filter", MemfdFlags::empty()).map_err(std::io::Error::from)?;
    let mut file = File::from(memory);
    file.write_all(bytes)?;
    Ok(file)
}

fn mount(mount: &Mount) -> Vec<String> {
    let at = mount.at.to_string();
    match &mount.what {
        MountKind::Host => match std::fs::read_link(&at) {
            Ok(target) => vec!["--symlink".into(), target.display().to_string(), at],
            Err(_) => vec!["--ro-bind-try".into(), at.clone(), at],
        },
        MountKind::HostAt(host) => vec!["--ro-bind".into(), host.to_string(), at],
        MountKind::Scratch { size_bytes, .. } => vec!["--size".into(), size_bytes.to_string(), "--tmpfs".into(), at],
        // Its own /dev has these.
        MountKind::Link(target) if !at.starts_with("/dev/") => vec!["--symlink".into(), target.to_string(), at],
        MountKind::Directory => vec!["--dir".into(), at],
        MountKind::Proc => vec!["--proc".into(), at],
        MountKind::Link(_) | MountKind::Device | MountKind::File(_) | MountKind::Frozen | MountKind::Masked => {
            Vec::new()
        }
    }
}
