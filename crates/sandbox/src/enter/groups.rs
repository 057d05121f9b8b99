//! The helper's side of control groups: opened while there is a right to, joined by process 1, read by the monitor.
//!
//! A descriptor keeps the right it was opened with. So the files that change something are opened here, before the
//! caller's rights are given up; those that only tell something are open to everybody and are opened by the monitor,
//! while process 1 builds the cage.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::EventfdFlags;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::meter::text_of;
use crate::group::read::field;
use crate::group::{Controller, GroupDirectory, GroupVersion};
use crate::sys::Result;

/// The opened groups of the cage; none where the host has none.
#[derive(Default)]
pub(super) struct Groups(Vec<Opened>);

/// One directory.
pub(super) struct Opened {
    pub(super) directory: OwnedFd,
    pub(super) version: GroupVersion,
    pub(super) controllers: Vec<Controller>,
    /// Ends everybody in it, where the kernel can.
    pub(super) kill: Option<OwnedFd>,
    /// Lets everybody in it stand still, where the kernel can.
    freezer: Option<GroupFreezer>,
    /// Becomes readable when memory runs out, on version 1. Version 2 has a file for it.
    pub(super) out_of_memory: Option<OwnedFd>,
    join: OwnedFd,
}

/// The files by which a group is frozen.
pub(super) struct GroupFreezer {
    freeze: OwnedFd,
    events: OwnedFd,
}

impl GroupFreezer {
    fn open(directory: &OwnedFd) -> Result<Self> {
        let freeze = open_at(directory, "cgroup.freeze", OFlags::WRONLY)?;
        Ok(Self { freeze, events: open_at(directory, "cgroup.events", OFlags::RDONLY)? })
    }

    /// From now on nobody in the group goes on; it takes a moment until everybody stands still.
    pub(super) fn freeze(&self) -> Result<()> {
        rustix::io::write(&self.freeze, b"1").map(drop)
    }

    pub(super) fn thaw(&self) -> Result<()> {
        rustix::io::write(&self.freeze, b"0").map(drop)
    }

    /// Whether everybody stands still. Reading also makes [`GroupFreezer::notice`] quiet again.
    pub(super) fn is_frozen(&self) -> bool {
        field(&text_of(&self.events), "frozen") == Some(1)
    }

    /// Tells of a change with `PRI`.
    pub(super) fn notice(&self) -> &OwnedFd {
        &self.events
    }
}

impl Groups {
    pub(super) fn open(directories: &[GroupDirectory]) -> Result<Self> {
        directories.iter().map(Opened::open).collect::<Result<_>>().map(Self)
    }

    /// Moves the calling process into all of them, and forgets how.
    pub(super) fn join(self) -> Result<()> {
        // Zero stands for the caller, whatever its number is here or on the host.
        self.0.iter().try_for_each(|opened| rustix::io::write(&opened.join, b"0").map(drop))
    }

    /// The way to freeze the cage, if its groups have one.
    pub(super) fn take_freezer(&mut self) -> Option<GroupFreezer> {
        self.0.iter_mut().find_map(|opened| opened.freezer.take())
    }

    pub(super) fn into_opened(self) -> Vec<Opened> {
        self.0
    }
}

impl Opened {
    fn open(group: &GroupDirectory) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&group.path, flags, Mode::empty())?;
        // On version 1, moving a single thread is cheaper, and this process has one.
        let (join, kill) = match group.version {
            GroupVersion::V1 => (open_at(&directory, "tasks", OFlags::WRONLY)?, None),
            GroupVersion::V2 => {
                let kill = open_at(&directory, "cgroup.kill", OFlags::WRONLY).ok();
                (open_at(&directory, "cgroup.procs", OFlags::WRONLY)?, kill)
            }
        };
        let asks = group.version == GroupVersion::V1 && group.controllers.contains(&Controller::Memory);
        // Without the notice the monitor learns at the end what happened.
        let out_of_memory = if asks { ask_for_notice(&directory).ok() } else { None };
        let controllers = group.controllers.clone();
        // Kernels before 5.2 cannot.
        let freezer = controllers.contains(&Controller::Freezer).then(|| GroupFreezer::open(&directory).ok()).flatten();
        Ok(Self { directory, version: group.version, controllers, kill, freezer, out_of_memory, join })
    }
}

pub(super) fn open_at(directory: &OwnedFd, file: &str, how: OFlags) -> Result<OwnedFd> {
    rustix::fs::openat(directory, file, how | OFlags::CLOEXEC, Mode::empty())
}

fn ask_for_notice(directory: &OwnedFd) -> Result<OwnedFd> {
    let notice = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let about = open_at(directory, "memory.oom_control", OFlags::RDONLY)?;
    let control = open_at(directory, "cgroup.event_control", OFlags::WRONLY)?;
    let text = format!("{} {}", notice.as_fd().as_raw_fd(), about.as_fd().as_raw_fd());
    match rustix::io::write(&control, text.as_bytes())? {
        written if written == text.len() => Ok(notice),
        _ => Err(Errno::IO),
    }
}
