//! Steps that build the file system of the cage. Everything happens on descriptors, in the new mount namespace.
//!
//! The root is built under /tmp of the private namespace, where only this process sees it, and left by pivoting.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};

use super::owners::{Mappings, own};
use crate::step::{Detach, Identity, MountFlag};
use crate::sys::{self, MountAttr, Result};

/// Every host has it, and in the private namespace covering it disturbs nobody.
const BUILD_SITE: &str = "/tmp";

/// Every file with content takes a page at least, so this many are enough for a full file system; empty ones, which take
/// memory of the kernel beside it, are bounded by it.
const BYTES_PER_FILE: u64 = 4_096;

/// A few empty directories.
const STAGE_BYTES: u64 = 64 << 10;

/// What is allowed where nothing is to be done but to look.
const NOTHING: &[MountFlag] = &[MountFlag::ReadOnly, MountFlag::NoSuid, MountFlag::NoDevices, MountFlag::NoExec];

/// Clones what is at the path, after making sure that it is still the file the request was checked with.
pub(super) fn detach(detach: &Detach, mappings: &mut Mappings) -> Result<OwnedFd> {
    let found = open_identified(CWD, &detach.host, detach.identity, ResolveFlags::NO_SYMLINKS)?;
    let tree = clone_tree(found.as_fd(), Path::new(""))?;
    restrict(&tree, attributes(&detach.flags))?;
    own(&tree, detach.ownership, mappings)?;
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

pub(super) fn make_private() -> Result<()> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// Where the cage is put together.
pub(super) struct Site {
    /// Room for what is needed on the way; it stays behind with the old root.
    pub(super) stage: OwnedFd,
    /// The root to be: a directory of the stage, and a mount of its own.
    pub(super) root: OwnedFd,
}

const ROOT: &str = "root";
pub(super) const EMPTY_DIRECTORY: &str = "nothing";
const EMPTY_FILE: &str = "empty";

/// From the root of the cage.
const NULL_DEVICE: &str = "dev/null";

/// One file system for the root and for the nothing that covers things: making one takes longer than a dozen mounts.
pub(super) fn mount_root(size_bytes: u64) -> Result<Site> {
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let stage = scratch(size_bytes + STAGE_BYTES, "0755", flags)?;
    rustix::mount::move_mount(&stage, "", CWD, BUILD_SITE, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    rustix::fs::mkdirat(&stage, EMPTY_DIRECTORY, Mode::from_raw_mode(0o555))?;
    make_file(&stage, Path::new(EMPTY_FILE), "")?;
    make_directory(&stage, Path::new(ROOT))?;
    let root = clone_tree(stage.as_fd(), Path::new(ROOT))?;
    attach(&root, &stage, Path::new(ROOT))?;
    Ok(Site { stage, root })
}

impl Site {
    /// Something empty of the stage, to be mounted over what nobody is to see.
    fn nothing(&self, name: &str) -> Result<OwnedFd> {
        let tree = clone_tree(self.stage.as_fd(), Path::new(name))?;
        restrict(&tree, attributes(NOTHING)).map(|()| tree)
    }
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
    let mode = Mode::from_raw_mode(0o444);
    if text.is_empty() {
        return rustix::fs::mknodat(root, inside(at), FileType::RegularFile, mode, 0);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(root, inside(at), flags, mode)?;
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
pub(super) fn blank(site: &Site, at: &Path) -> Result<()> {
    let place = place(&site.root, at)?;
    let name = if is_directory(&rustix::fs::fstat(&place)?) { EMPTY_DIRECTORY } else { EMPTY_FILE };
    attach_to(&site.nothing(name)?, &place)
}

fn is_directory(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
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
    cover(&tree, root, at)
}

/// What the kernel does not have needs no cover. A directory is covered by an empty one, anything else by the null device.
pub(super) fn mask(site: &Site, at: &Path) -> Result<()> {
    let stat = match rustix::fs::statat(&site.root, inside(at), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    if is_directory(&stat) {
        return cover(&site.nothing(EMPTY_DIRECTORY)?, &site.root, at);
    }
    rustix::process::fchdir(&site.root)?;
    rustix::mount::mount_bind(NULL_DEVICE, inside(at))
}

/// Like [`attach`], for places the kernel itself made, where nobody can put a link.
fn cover(tree: &OwnedFd, root: &OwnedFd, at: &Path) -> Result<()> {
    rustix::mount::move_mount(tree, "", root, inside(at), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
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
