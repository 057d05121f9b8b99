//! Directories by descriptor. Nothing here follows a symbolic link, leaves the directory or its mount, or opens anything
//! but plain files and directories: what a name stands for is asked of the kernel before it is opened.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::io::{Errno, Result};

use crate::path::{MAX_PATH_BYTES, TreePath};

const INSIDE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Non-blocking, so that a pipe that takes the place of a file at the last moment cannot hold anybody up.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// An open directory.
#[derive(Debug)]
pub(crate) struct Dir(OwnedFd);

impl Dir {
    /// A directory that the caller named. It may be reached through links, but is none itself.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        rustix::fs::openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty()).map(Self)
    }

    /// A directory below this one.
    pub(crate) fn dir(&self, path: &[u8]) -> Result<Self> {
        rustix::fs::openat2(&self.0, path, READ | OFlags::DIRECTORY, Mode::empty(), INSIDE).map(Self)
    }

    /// The directory that holds this one, if it is the one with these numbers of device and inode.
    pub(crate) fn up(&self, number: (u64, u64)) -> Result<Self> {
        let parent = Self(rustix::fs::openat(&self.0, c"..", READ | OFlags::DIRECTORY, Mode::empty())?);
        let stat = parent.own_stat()?;
        if (stat.st_dev, stat.st_ino) == number { Ok(parent) } else { Err(Errno::STALE) }
    }

    /// A directory below this one, however long its path is.
    pub(crate) fn dir_at(&self, path: &[u8]) -> Result<Self> {
        let cut = path[..path.len().min(MAX_PATH_BYTES)].iter().rposition(|&byte| byte == b'/');
        match cut.filter(|_| path.len() > MAX_PATH_BYTES) {
            Some(cut) => self.dir(&path[..cut])?.dir_at(&path[cut + 1..]),
            None => self.dir(path),
        }
    }

    /// The directory that holds a path, however long it is, and the last name.
    pub(crate) fn above<'p>(&self, path: &'p [u8]) -> Result<(Self, &'p [u8])> {
        match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => Ok((self.dir_at(&path[..slash])?, &path[slash + 1..])),
            None => Ok((self.dir(b".")?, path)),
        }
    }

    /// The directory that holds this path.
    pub(crate) fn parent_of(&self, path: &TreePath) -> Result<Self> {
        match path.parent() {
            Some(parent) => self.dir(parent.as_bytes()),
            None => self.dir(b"."),
        }
    }

    /// What a name in this directory stands for.
    pub(crate) fn stat(&self, name: &[u8]) -> Result<Stat> {
        rustix::fs::statat(&self.0, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)
    }

    /// What a path stands for; nothing, if it leads through anything but directories.
    pub(crate) fn look(&self, path: &TreePath) -> Result<Option<Stat>> {
        absent(self.parent_of(path).and_then(|parent| parent.stat(path.name())))
    }

    pub(crate) fn own_stat(&self) -> Result<Stat> {
        rustix::fs::fstat(&self.0)
    }

    /// The names in this directory, in the order of their bytes.
    pub(crate) fn names(&self) -> Result<Vec<Vec<u8>>> {
        self.names_up_to(usize::MAX).map(Option::unwrap_or_default)
    }

    /// The same, or nothing if there are more than so many.
    pub(crate) fn names_up_to(&self, most: usize) -> Result<Option<Vec<Vec<u8>>>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name);
            }
            if names.len() > most {
                return Ok(None);
            }
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    /// A plain file for reading, with what it is. Anything else is not opened.
    pub(crate) fn file(&self, name: &[u8]) -> Result<(File, Stat)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat2(&self.0, name, flags, Mode::empty(), INSIDE)?;
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        let by_handle = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let file = rustix::fs::open(by_handle, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
        Ok((file.into(), stat))
    }

    pub(crate) fn link_target(&self, name: &[u8]) -> Result<Vec<u8>> {
        rustix::fs::readlinkat(&self.0, name, Vec::new()).map(|target| target.into_bytes())
    }

    /// A new file for writing, closed to others. The name must be free.
    pub(crate) fn create(&self, name: &[u8]) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.0, name, flags, Mode::RUSR | Mode::WUSR, INSIDE).map(File::from)
    }

    /// A new directory, closed to others. The name must be free.
    pub(crate) fn make(&self, name: &[u8]) -> Result<Self> {
        rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?;
        self.dir(name)
    }

    /// Moves to a name that must be free.
    pub(crate) fn move_to(&self, name: &[u8], other: &Self, new_name: &[u8]) -> Result<()> {
        rustix::fs::renameat_with(&self.0, name, &other.0, new_name, RenameFlags::NOREPLACE)
    }

    /// Exchanges two names in one step that no reader sees half of.
    pub(crate) fn exchange(&self, name: &[u8], other: &Self, other_name: &[u8]) -> Result<()> {
        rustix::fs::renameat_with(&self.0, name, &other.0, other_name, RenameFlags::EXCHANGE)
    }

    pub(crate) fn unlink(&self, name: &[u8]) -> Result<()> {
        rustix::fs::unlinkat(&self.0, name, AtFlags::empty())
    }

    pub(crate) fn remove_empty(&self, name: &[u8]) -> Result<()> {
        rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)
    }

    pub(crate) fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.0)
    }

    /// The mode of anything but a link, without opening it.
    pub(crate) fn set_mode_of(&self, name: &[u8], mode: u32) -> Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat2(&self.0, name, flags, Mode::empty(), INSIDE)?;
        rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Nothing there, for whatever reason a path can lead to nothing.
pub(crate) fn absent<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error),
    }
}
