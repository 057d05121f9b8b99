//! Steps that show a host directory through a layer: reads fall through, changes land in a private directory.
//!
//! The overlay is mounted by the user of the cage in its own user namespace, whoever the caller is. The kernel then
//! reaches the layers with the rights of that user and no others, and keeps its notes in attributes users may set.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::mounts::{EMPTY_DIRECTORY, attach, attributes, clone_tree, open_identified, restrict, scratch};
use super::owners::{Mappings, own};
use crate::step::{DetachUpper, MountFlag};
use crate::sys::Result;

const VOLATILE: &str = "volatile";

/// Empty directories take no room, but their number follows from it: sixteen for each of the most rules there can be.
const SKELETON_BYTES: u64 = 64 << 20;

/// Fixed, each with its reason.
const OPTIONS: &[(&str, Option<&str>, &str)] = &[
    ("userxattr", None, "the mounting user may set no other attributes"),
    ("redirect_dir", Some("nofollow"), "a directory in the upper is what its name says"),
    ("metacopy", Some("off"), "a file in the upper has its content"),
    ("index", Some("off"), "an upper can be mounted again, above a lower that was copied or moved"),
    ("xino", Some("off"), "file numbers do not depend on which file systems are layered"),
    (VOLATILE, None, "the end of a cage does not flush the whole file system of the host"),
];

/// Upper and work, each by its own descriptor in the one mount they share.
pub(super) struct Upper {
    tree: OwnedFd,
    upper: OwnedFd,
    work: OwnedFd,
    /// Held for as long as the cage lives: the kernel does not care who else mounts an upper, and mixes them up.
    lock: OwnedFd,
}

impl Upper {
    pub(super) fn into_lock(self) -> OwnedFd {
        self.lock
    }
}

/// Clones the directory both are in: the kernel takes upper and work from one mount only.
pub(super) fn detach_upper(detach: &DetachUpper, mappings: &mut Mappings) -> Result<Upper> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat2(CWD, &detach.parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let tree = clone_tree(parent.as_fd(), Path::new(""))?;
    restrict(&tree, attributes(&[MountFlag::NoSuid, MountFlag::NoDevices]))?;
    own(&tree, detach.ownership, mappings)?;
    let below = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH | ResolveFlags::NO_XDEV;
    let upper = open_identified(tree.as_fd(), &detach.upper.0, detach.upper.1, below)?;
    let work = open_identified(tree.as_fd(), &detach.work.0, detach.work.1, below)?;
    let lock = lock(work.as_fd())?;
    Ok(Upper { tree, upper, work, lock })
}

fn lock(work: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let lock = rustix::fs::openat(work, c".", flags, Mode::empty())?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Errno::BUSY),
        other => other.map(|()| lock),
    }
}

/// What is put over one another, from below: the skeleton, the lower, and the upper if anything may be written.
pub(super) struct Layers<'a> {
    pub(super) lower: OwnedFd,
    pub(super) upper: Option<Upper>,
    pub(super) skeleton: &'a [PathBuf],
}

/// Kernels before 6.15 take only layers that are attached somewhere, so they are: on the stage, which goes with the old
/// root. What an earlier call left there is covered; its overlay has it already.
pub(super) fn mount_layers(stage: &OwnedFd, layers: &Layers<'_>, flags: &[MountFlag]) -> Result<OwnedFd> {
    let skeleton = skeleton(stage, layers)?;
    put_on_stage(stage, "lower", &layers.lower)?;
    if let Some(upper) = &layers.upper {
        put_on_stage(stage, "upper", &upper.tree)?;
        forget_volatile(upper.work.as_fd())?;
    }
    overlay(&[layers.lower.as_fd(), skeleton.as_fd()], layers.upper.as_ref(), attributes(flags))
}

/// Opens the lowest layer. Without an upper the kernel requires two layers; an empty directory of the stage is faster than a new file
/// system.
fn skeleton(stage: &OwnedFd, layers: &Layers<'_>) -> Result<OwnedFd> {
    if layers.skeleton.is_empty() && layers.upper.is_none() {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        return rustix::fs::openat(stage, EMPTY_DIRECTORY, flags, Mode::empty());
    }
    let skeleton = bones(layers.skeleton)?;
    put_on_stage(stage, "skeleton", &skeleton)?;
    Ok(skeleton)
}

fn put_on_stage(stage: &OwnedFd, name: &str, tree: &OwnedFd) -> Result<()> {
    match rustix::fs::mkdirat(stage, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => attach(tree, stage, Path::new(name)),
        Err(errno) => Err(errno),
    }
}

/// Empty directories of the cage's own, for the kernel to mount on where the host has nothing.
fn bones(directories: &[PathBuf]) -> Result<OwnedFd> {
    let flags = attributes(&[MountFlag::NoSuid, MountFlag::NoDevices]);
    let skeleton = scratch(SKELETON_BYTES, "0755", flags)?;
    for directory in directories {
        rustix::fs::mkdirat(&skeleton, directory, Mode::from_raw_mode(0o755))?;
    }
    Ok(skeleton)
}

fn overlay(lowers: &[BorrowedFd<'_>], upper: Option<&Upper>, attributes: MountAttrFlags) -> Result<OwnedFd> {
    let context = rustix::mount::fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let set = |option: &str, value: String| rustix::mount::fsconfig_set_string(&context, option, value);
    let (flags, values): (Vec<_>, Vec<_>) = OPTIONS.iter().partition(|(_, value, _)| value.is_none());
    for (option, value, _) in values {
        set(option, value.unwrap_or_default().to_owned())?;
    }
    // Without an upper there is nothing to flush, and the kernel does not want to be told so.
    for (option, ..) in flags.iter().filter(|(option, ..)| upper.is_some() || *option != VOLATILE) {
        rustix::mount::fsconfig_set_flag(&context, *option)?;
    }
    set("lowerdir", lowers.iter().map(|lower| by_descriptor(*lower)).collect::<Vec<_>>().join(":"))?;
    if let Some(upper) = upper {
        set("upperdir", by_descriptor(upper.upper.as_fd()))?;
        set("workdir", by_descriptor(upper.work.as_fd()))?;
    }
    rustix::mount::fsconfig_create(&context)?;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// No name is looked up again, and the list of mounts in the cage shows no path of the host.
fn by_descriptor(layer: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", layer.as_raw_fd())
}

/// The kernel marks the work of an unflushed upper, and refuses it later lest a crash went unnoticed. Whoever gives an
/// upper to a second cage vouches for it.
fn forget_volatile(work: BorrowedFd<'_>) -> Result<()> {
    let marks = [
        ("work/incompat/volatile/dirty", AtFlags::empty()),
        ("work/incompat/volatile", AtFlags::REMOVEDIR),
        ("work/incompat", AtFlags::REMOVEDIR),
    ];
    for (mark, kind) in marks {
        match rustix::fs::unlinkat(work, mark, kind) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
