//! Ends what is left in a group, and removes it.
//!
//! For a cage that ended in order there is nothing to end: its process 1 was reaped, and the kernel had ended and
//! reaped everybody else before.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::process::{Pid, PidfdFlags, Signal};

/// About a second altogether: a process that takes longer to die waits for hardware, and may wait for ever.
const WAITS_MS: [u64; 10] = [1, 1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Gone already is as good as removed.
pub(super) fn remove(group: &Path) -> io::Result<()> {
    for wait_ms in WAITS_MS {
        match try_remove(group) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                end_everyone(group);
                pause(Duration::from_millis(wait_ms));
            }
            other => return other,
        }
    }
    try_remove(group)
}

fn try_remove(group: &Path) -> io::Result<()> {
    match fs::remove_dir(group) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn pause(time: Duration) {
    // An interrupted pause is a shorter one.
    let _ = rustix::event::poll(&mut [], Timespec::try_from(time).ok().as_ref());
}

/// All at once where the kernel can; otherwise one by one, after making sure that no new ones come.
fn end_everyone(group: &Path) {
    if fs::write(group.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    let _ = fs::write(group.join("pids.max"), "0");
    let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    for pid in members.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
        end(pid, group);
    }
}

/// A number may have been given to another process since it was read; a descriptor cannot.
fn end(pid: Pid, group: &Path) {
    let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero())).unwrap_or_default();
    let name = group.file_name().unwrap_or_default().to_string_lossy();
    if groups.lines().any(|line| line.rsplit('/').next() == Some(&*name)) {
        let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
    }
}
