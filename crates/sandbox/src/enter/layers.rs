//! Steps that show a host directory through a layer: reads fall through, changes land in a private directory.
//!
//! The overlay is mounted by the user of the cage in its own user namespace, whoever the caller is. The kernel then
//! reaches the layers with the rights of that user and no others, and keeps its notes in attributes users may set.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, UnmountFlags};

use super::mounts::{attach, attributes, clone_tree, inside, open_identified, own, restrict};
use crate::step::{DetachUpper, MountFlag};
use crate::sys::Result;

/// Fixed, each with its reason.
const OPTIONS: &[(&str, Option<&str>, &str)] = &[
    ("userxattr", None, "the mounting user may set no other attributes"),
    ("redirect_dir", Some("nofollow"), "a directory in the upper is what its name says"),
    ("metacopy", Some("off"), "a file in the upper has its content"),
    ("index", Some("off"), "an upper can be mounted again, above a lower that was copied or moved"),
    ("xino", Some("off"), "file numbers do not depend on which file systems are layered"),
    ("volatile", None, "the end of a cage does not flush the whole file system of the host"),
];

/// Upper and work, each by its own descriptor in the one mount they share.
pub(super) struct Upper {
    tree: OwnedFd,
    upper: OwnedFd,
    work: OwnedFd,
}

/// Clones the directory both are in: the kernel takes upper and work from one mount only.
pub(super) fn detach_upper(detach: &DetachUpper) -> Result<Upper> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat2(CWD, &detach.parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let tree = clone_tree(parent.as_fd(), Path::new(""))?;
    restrict(&tree, attributes(&[MountFlag::NoSuid, MountFlag::NoDevices]))?;
    own(&tree, detach.ownership)?;
    let below = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH | ResolveFlags::NO_XDEV;
    let upper = open_identified(tree.as_fd(), &detach.upper.0, detach.upper.1, below)?;
    let work = open_identified(tree.as_fd(), &detach.work.0, detach.work.1, below)?;
    Ok(Upper { tree, upper, work })
}

/// Kernels before 6.15 take only layers that are attached somewhere, so they are, for as long as it takes.
pub(super) fn mount_layers(
    root: &OwnedFd,
    at: &Path,
    lower: &OwnedFd,
    upper: &Upper,
    flags: &[MountFlag],
) -> Result<()> {
    let lower_site = Site::attach(root, ".lower", lower)?;
    let upper_site = Site::attach(root, ".upper", &upper.tree)?;
    forget_volatile(upper.work.as_fd())?;
    let mount = overlay(&[lower.as_fd()], upper, attributes(flags))?;
    upper_site.remove()?;
    lower_site.remove()?;
    attach(&mount, root, at)
}

fn overlay(lowers: &[BorrowedFd<'_>], upper: &Upper, attributes: MountAttrFlags) -> Result<OwnedFd> {
    let context = rustix::mount::fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (option, value, _) in OPTIONS {
        match value {
            Some(value) => rustix::mount::fsconfig_set_string(&context, *option, *value)?,
            None => rustix::mount::fsconfig_set_flag(&context, *option)?,
        }
    }
    let lowers: Vec<String> = lowers.iter().map(|lower| by_descriptor(*lower)).collect();
    rustix::mount::fsconfig_set_string(&context, "lowerdir", lowers.join(":"))?;
    rustix::mount::fsconfig_set_string(&context, "upperdir", by_descriptor(upper.upper.as_fd()))?;
    rustix::mount::fsconfig_set_string(&context, "workdir", by_descriptor(upper.work.as_fd()))?;
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

/// A place below the root where a tree is attached for a moment.
struct Site<'a> {
    root: &'a OwnedFd,
    at: &'static str,
}

impl<'a> Site<'a> {
    fn attach(root: &'a OwnedFd, at: &'static str, tree: &OwnedFd) -> Result<Self> {
        rustix::fs::mkdirat(root, inside(Path::new(at)), Mode::RWXU)?;
        attach(tree, root, Path::new(at))?;
        Ok(Self { root, at })
    }

    fn remove(self) -> Result<()> {
        rustix::process::fchdir(self.root)?;
        rustix::mount::unmount(self.at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
        rustix::fs::unlinkat(self.root, self.at, AtFlags::REMOVEDIR)
    }
}
