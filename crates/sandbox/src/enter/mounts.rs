//! Steps that build the file system of the cage. Everything happens on descriptors, in the new mount namespace.
//!
//! The root is built under /tmp of the private namespace, where only this process sees it, and left by pivoting.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};
use rustix::pipe::PipeFlags;
use rustix::process::Pid;

use super::identity::write_proc;
use crate::request::HostUser;
use crate::step::{Detach, Identity, MountFlag, Ownership};
use crate::sys::{self, MountAttr, Result, Side, Wait};

/// Every host has it, and in the private namespace covering it disturbs nobody.
const BUILD_SITE: &str = "/tmp";

/// Every file with content takes a page at least, so this many are enough for a full file system; empty ones, which take
/// memory of the kernel beside it, are bounded by it.
const BYTES_PER_FILE: u64 = 4_096;

/// What is allowed where nothing is to be done but to look.
const NOTHING: &[MountFlag] = &[MountFlag::ReadOnly, MountFlag::NoSuid, MountFlag::NoDevices, MountFlag::NoExec];

const MOUNT_ATTR_IDMAP: u64 = 0x0010_0000;

/// Clones what is at the path, after making sure that it is still the file the request was checked with.
pub(super) fn detach(detach: &Detach) -> Result<OwnedFd> {
    let found = open_identified(CWD, &detach.host, detach.identity, ResolveFlags::NO_SYMLINKS)?;
    let tree = clone_tree(found.as_fd(), Path::new(""))?;
    restrict(&tree, attributes(&detach.flags))?;
    own(&tree, detach.ownership)?;
    Ok(tree)
}

/// Opens what is at the path, if it is the file it is supposed to be.
pub(super) fn open_identified(
    from: BorrowedFd<'_>,
    path: &Path,
    identity: Identity,
    resolve: ResolveFlags,
) -> Result<OwnedFd> {
    let found = rustix::fs::openat2(from, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    let stat = rustix::fs::fstat(&found)?;
    match (stat.st_dev, stat.st_ino) == (identity.device, identity.inode) {
        true => Ok(found),
        false => Err(Errno::STALE),
    }
}

pub(super) fn own(tree: &OwnedFd, ownership: Ownership) -> Result<()> {
    match ownership {
        Ownership::Kept => Ok(()),
        Ownership::Given { cage } => give_tree(tree.as_fd(), cage),
        Ownership::MappedOnly { disk, cage } => map_owner(tree, disk, cage),
        Ownership::Mapped { disk, cage } => match map_owner(tree, disk, cage) {
            // Not every file system, and not root of every container, can show other owners than are stored.
            Err(Errno::INVAL | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => give_tree(tree.as_fd(), cage),
            other => other,
        },
    }
}

pub(super) fn clone_tree(from: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(from, path, flags)
}

/// With everything mounted below; a restriction of the top alone leaves the rest open.
pub(super) fn restrict(tree: &OwnedFd, set: MountAttrFlags) -> Result<()> {
    let attr = MountAttr { attr_set: set.bits().into(), propagation: libc::MS_PRIVATE, ..MountAttr::default() };
    sys::mount_setattr_recursive(tree.as_fd(), &attr)
}

pub(super) fn attributes(flags: &[MountFlag]) -> MountAttrFlags {
    let one = |flag: &MountFlag| match flag {
        MountFlag::ReadOnly => MountAttrFlags::MOUNT_ATTR_RDONLY,
        MountFlag::NoSuid => MountAttrFlags::MOUNT_ATTR_NOSUID,
        MountFlag::NoDevices => MountAttrFlags::MOUNT_ATTR_NODEV,
        MountFlag::NoExec => MountAttrFlags::MOUNT_ATTR_NOEXEC,
    };
    flags.iter().map(one).collect()
}

/// Shows the files of `disk` as files of `cage`: new files of the cage are stored as files of `disk`.
fn map_owner(tree: &OwnedFd, disk: HostUser, cage: HostUser) -> Result<()> {
    let namespace = user_namespace(disk, cage)?;
    let userns_fd = namespace.as_raw_fd() as u64;
    let attr = MountAttr { attr_set: MOUNT_ATTR_IDMAP, userns_fd, ..MountAttr::default() };
    sys::mount_setattr_recursive(tree.as_fd(), &attr)
}

/// The kernel takes the mapping from a user namespace, and a user namespace needs a process to be made.
fn user_namespace(disk: HostUser, cage: HostUser) -> Result<OwnedFd> {
    let (made, making) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (held, holding) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let child = match sys::fork()? {
        Side::Child => {
            drop((made, holding));
            hold_namespace(making, &held)
        }
        Side::Parent(child) => child,
    };
    drop((making, held));
    let namespace = map_namespace_of(child, &made, disk, cage);
    drop(holding);
    sys::reap(Some(child), Wait::Block)?;
    namespace
}

/// The namespace lasts as long as this process, which lasts until its parent lets go or is gone.
fn hold_namespace(making: OwnedFd, held: &OwnedFd) -> ! {
    if sys::unshare(libc::CLONE_NEWUSER).is_ok() {
        let _ = rustix::io::write(&making, b".");
    }
    drop(making);
    let _ = rustix::io::read(held, &mut [0; 1]);
    sys::exit_now(0)
}

fn map_namespace_of(child: Pid, made: &OwnedFd, disk: HostUser, cage: HostUser) -> Result<OwnedFd> {
    if rustix::io::read(made, &mut [0; 1])? == 0 {
        return Err(Errno::PERM);
    }
    let of_child = |file: &str| format!("/proc/{}/{file}", child.as_raw_nonzero());
    write_proc(&of_child("uid_map"), &format!("{} {} 1", disk.uid, cage.uid))?;
    write_proc(&of_child("gid_map"), &format!("{} {} 1", disk.gid, cage.gid))?;
    rustix::fs::open(of_child("ns/user"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Changes the owner of a directory and everything below, never through a link and never of anything but plain files.
fn give_tree(directory: BorrowedFd<'_>, user: HostUser) -> Result<()> {
    let readable =
        rustix::fs::openat(directory, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    give(readable.as_fd(), c"", user)?;
    for entry in Dir::read_from(&readable)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        match FileType::from_raw_mode(rustix::fs::statat(&readable, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                give_tree(rustix::fs::openat(&readable, name, flags, Mode::empty())?.as_fd(), user)?;
            }
            FileType::RegularFile | FileType::Symlink | FileType::Fifo | FileType::Socket => {
                give(readable.as_fd(), name, user)?
            }
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {}
        }
    }
    Ok(())
}

fn give(directory: BorrowedFd<'_>, name: &std::ffi::CStr, user: HostUser) -> Result<()> {
    let (uid, gid) = (rustix::fs::Uid::from_raw(user.uid), rustix::fs::Gid::from_raw(user.gid));
    rustix::fs::chownat(directory, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH)
}

pub(super) fn make_private() -> Result<()> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

pub(super) fn mount_root(size_bytes: u64) -> Result<OwnedFd> {
    let root = scratch(size_bytes, "0755", MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)?;
    rustix::mount::move_mount(&root, "", CWD, BUILD_SITE, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(root)
}

pub(super) fn scratch(size_bytes: u64, mode: &str, attributes: MountAttrFlags) -> Result<OwnedFd> {
    let context = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(&context, "size", size_bytes.to_string())?;
    rustix::mount::fsconfig_set_string(&context, "nr_inodes", (size_bytes / BYTES_PER_FILE + 1).to_string())?;
    rustix::mount::fsconfig_set_string(&context, "mode", mode)?;
    rustix::mount::fsconfig_create(&context)?;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// A path of the cage, seen from the descriptor of its root.
pub(super) fn inside(at: &Path) -> &Path {
    at.strip_prefix("/").unwrap_or(at)
}

pub(super) fn make_directory(root: &OwnedFd, at: &Path) -> Result<()> {
    rustix::fs::mkdirat(root, inside(at), Mode::from_raw_mode(0o755))
}

pub(super) fn make_file(root: &OwnedFd, at: &Path, text: &str) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(root, inside(at), flags, Mode::from_raw_mode(0o444))?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        rest = &rest[rustix::io::write(&file, rest)?..];
    }
    Ok(())
}

pub(super) fn make_link(root: &OwnedFd, at: &Path, target: &Path) -> Result<()> {
    rustix::fs::symlinkat(target, root, inside(at))
}

pub(super) fn attach(tree: &OwnedFd, root: &OwnedFd, at: &Path) -> Result<()> {
    attach_to(tree, &place(root, at)?)
}

fn attach_to(tree: &OwnedFd, place: &OwnedFd) -> Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(tree, "", place, "", flags)
}

/// What is at a path of the cage, never through a link: a workspace may hold any, and the host may change them.
fn place(root: &OwnedFd, at: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    rustix::fs::openat2(root, inside(at), flags, Mode::empty(), resolve)
}

/// Mounts a part of the tree onto itself: from then on it can be neither removed nor renamed.
pub(super) fn rebind(root: &OwnedFd, at: &Path, flags: &[MountFlag]) -> Result<()> {
    let place = place(root, at)?;
    let tree = clone_tree(place.as_fd(), Path::new(""))?;
    let set = attributes(flags);
    let clear = MountAttrFlags::MOUNT_ATTR_RDONLY - set;
    let attr = MountAttr { attr_set: set.bits().into(), attr_clr: clear.bits().into(), ..MountAttr::default() };
    sys::mount_setattr_recursive(tree.as_fd(), &attr)?;
    attach_to(&tree, &place)
}

/// A directory is covered by an empty one, anything else by an empty file: the kernel mounts like on like.
pub(super) fn blank(root: &OwnedFd, at: &Path) -> Result<()> {
    let place = place(root, at)?;
    match FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode) == FileType::Directory {
        true => attach_to(&scratch(4_096, "0555", attributes(NOTHING))?, &place),
        false => blank_file(root, &place),
    }
}

/// The file loses its name as soon as it is mounted; the mount is all that is left of it.
fn blank_file(root: &OwnedFd, place: &OwnedFd) -> Result<()> {
    let name = Path::new("/.empty");
    make_file(root, name, "")?;
    let tree = clone_tree(root.as_fd(), inside(name))?;
    restrict(&tree, attributes(NOTHING))?;
    attach_to(&tree, place)?;
    rustix::fs::unlinkat(root, inside(name), AtFlags::empty())
}

pub(super) fn make_scratch(size_bytes: u64, flags: &[MountFlag]) -> Result<OwnedFd> {
    scratch(size_bytes, "0755", attributes(flags))
}

/// Processes see themselves and what they started, not each other's secrets.
pub(super) fn mount_proc(root: &OwnedFd, at: &Path) -> Result<()> {
    let context = rustix::mount::fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(&context, "hidepid", "invisible")
        .or_else(|_| rustix::mount::fsconfig_set_string(&context, "hidepid", "2"))?;
    rustix::mount::fsconfig_create(&context)?;
    let flags = attributes(&[MountFlag::NoSuid, MountFlag::NoDevices, MountFlag::NoExec]);
    attach(&rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?, root, at)
}

/// Mounts a part of the tree onto itself, read-only. What the kernel does not have needs no protection.
pub(super) fn freeze(root: &OwnedFd, at: &Path) -> Result<()> {
    let tree = match clone_tree(root.as_fd(), inside(at)) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    restrict(&tree, attributes(NOTHING))?;
    attach(&tree, root, at)
}

pub(super) fn mask(root: &OwnedFd, at: &Path) -> Result<()> {
    let stat = match rustix::fs::statat(root, inside(at), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let nothing = if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        scratch(4_096, "0555", attributes(NOTHING))?
    } else {
        clone_tree(root.as_fd(), Path::new("dev/null"))?
    };
    attach(&nothing, root, at)
}

/// The root alone: what is mounted below has its own restrictions, and some of it is meant to be written.
pub(super) fn seal_root(root: &OwnedFd) -> Result<()> {
    use rustix::mount::MountFlags;
    rustix::process::fchdir(root)?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount(".", flags, "")
}

/// The old root ends up on top of the new one, in the same place, and is let go with everything below.
pub(super) fn pivot(root: &OwnedFd) -> Result<()> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(".", ".")?;
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")
}
