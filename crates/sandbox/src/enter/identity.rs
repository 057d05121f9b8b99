//! Steps that change who the process is: user, namespaces, capabilities.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use crate::request::HostUser;
use crate::step::Namespace;
use crate::sys::{self, Result};

/// Beyond the last capability of any kernel; the kernel says where its own list ends.
const MAX_CAPABILITIES: u32 = 64;

pub(super) fn offer_to_oom_killer(points: i32) -> Result<()> {
    // Best effort: some containers close this file, and the cage holds without it.
    let _ = write_proc("/proc/self/oom_score_adj", &points.to_string());
    Ok(())
}

pub(super) fn fresh_keyring() -> Result<()> {
    match sys::join_fresh_keyring() {
        // No keys in the kernel, none to leave. A container that refuses the call also keeps the caller from having any;
        // a full quota leaves the inherited keyring, which the command cannot reach without these calls.
        Ok(()) | Err(Errno::NOSYS | Errno::PERM | Errno::ACCESS | Errno::DQUOT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Pipes belong to whoever made them, and opening one again by /dev/stdout asks for its owner.
pub(super) fn own_stdio(stdin: &OwnedFd, user: HostUser) -> Result<()> {
    let (uid, gid) = ids(user);
    rustix::fs::fchown(stdin, Some(uid), Some(gid))?;
    for stream in [std::io::stdout().as_fd(), std::io::stderr().as_fd()] {
        if FileType::from_raw_mode(rustix::fs::fstat(stream)?.st_mode) == FileType::Fifo {
            rustix::fs::fchown(stream, Some(uid), Some(gid))?;
        }
    }
    Ok(())
}

fn ids(user: HostUser) -> (rustix::fs::Uid, rustix::fs::Gid) {
    (rustix::fs::Uid::from_raw(user.uid), rustix::fs::Gid::from_raw(user.gid))
}

pub(super) fn drop_user(user: HostUser) -> Result<()> {
    // To the kernel, the number that stands for a helper means not to change anything.
    if user.is_root() || user == HostUser::OF_HELPER {
        return Err(Errno::INVAL);
    }
    let (uid, gid) = ids(user);
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    // The change closed /proc/self to this process, which still has to write its own user map.
    set_dumpable_behavior(DumpableBehavior::Dumpable)
}

pub(super) fn unshare(namespaces: &[Namespace]) -> Result<()> {
    let flag = |namespace: &Namespace| match namespace {
        Namespace::User => libc::CLONE_NEWUSER,
        Namespace::Mount => libc::CLONE_NEWNS,
        Namespace::Pid => libc::CLONE_NEWPID,
        Namespace::Network => libc::CLONE_NEWNET,
        Namespace::Ipc => libc::CLONE_NEWIPC,
        Namespace::Uts => libc::CLONE_NEWUTS,
        Namespace::Cgroup => libc::CLONE_NEWCGROUP,
    };
    sys::unshare(namespaces.iter().map(flag).fold(0, |all, each| all | each))
}

/// One user, one group. The kernel wants setgroups off before it takes a group map from an ordinary user.
pub(super) fn map_user(inside: HostUser, outside: HostUser) -> Result<()> {
    write_proc("/proc/self/setgroups", "deny")?;
    write_proc("/proc/self/uid_map", &format!("{} {} 1", inside.uid, outside.uid))?;
    write_proc("/proc/self/gid_map", &format!("{} {} 1", inside.gid, outside.gid))
}

/// In one piece, as these files want it.
pub(super) fn write_proc(path: &str, text: &str) -> Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::io::write(file, text.as_bytes())? {
        written if written == text.len() => Ok(()),
        _ => Err(Errno::IO),
    }
}

pub(super) fn loopback_up() -> Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    sys::loopback_up(socket.as_fd())
}

/// Order matters: the bounding set and the secure bits need a capability to be changed.
pub(super) fn drop_capabilities() -> Result<()> {
    for number in 0..MAX_CAPABILITIES {
        match rustix::thread::remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    rustix::thread::set_capabilities_secure_bits(locked_bits())?;
    drop_own_capabilities()
}

/// Enough for a process that never executes anything: what a program may gain is no matter to it.
pub(super) fn drop_own_capabilities() -> Result<()> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Being user 0 or changing users never brings a capability back.
fn locked_bits() -> CapabilitiesSecureBits {
    CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED
}

pub(super) fn become_undumpable() -> Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
