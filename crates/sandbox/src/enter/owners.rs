//! Makes files of one user appear as those of another: by a mapping in the mount, or by changing their owner.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::Pid;

use super::identity::write_proc;
use crate::request::HostUser;
use crate::step::Ownership;
use crate::sys::{self, MountAttr, Result, Side, Wait};

const MOUNT_ATTR_IDMAP: u64 = 0x0010_0000;

pub(super) fn own(tree: &OwnedFd, ownership: Ownership, mappings: &mut Mappings) -> Result<()> {
    match ownership {
        Ownership::Kept => Ok(()),
        Ownership::Given { cage } => give_tree(tree.as_fd(), cage),
        Ownership::MappedOnly { disk, cage } => map_owner(tree, mappings.get(disk, cage)?),
        Ownership::Mapped { disk, cage } => match mappings.get(disk, cage).and_then(|mapping| map_owner(tree, mapping))
        {
            // Not every file system, and not root of every container, can show other owners than are stored.
            Err(Errno::INVAL | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => give_tree(tree.as_fd(), cage),
            other => other,
        },
    }
}

/// User namespaces that stand for a mapping of owners; each is used for every mount that needs it.
#[derive(Default)]
pub(super) struct Mappings(Vec<(HostUser, HostUser, OwnedFd)>);

impl Mappings {
    fn get(&mut self, disk: HostUser, cage: HostUser) -> Result<BorrowedFd<'_>> {
        let known = self.0.iter().position(|mapping| (mapping.0, mapping.1) == (disk, cage));
        let index = match known {
            Some(index) => index,
            None => {
                self.0.push((disk, cage, user_namespace(disk, cage)?));
                self.0.len() - 1
            }
        };
        Ok(self.0[index].2.as_fd())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Shows the files of one user as those of another: new files of the second are stored as files of the first.
fn map_owner(tree: &OwnedFd, mapping: BorrowedFd<'_>) -> Result<()> {
    let userns_fd = mapping.as_raw_fd() as u64;
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
pub(crate) fn give_tree(directory: BorrowedFd<'_>, user: HostUser) -> Result<()> {
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
