//! Copies a tree exactly: content, modes, times of change, links between names, whiteouts, attributes of users.
//! Where the file system can share content between files, it does.
//!
//! Owners are not copied: the copy belongs to whoever it is made for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Gid, Mode, Stat, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::Special;
use crate::path::TreePath;

/// The kernel keeps no longer list of names and no longer value.
const MAX_ATTRIBUTE_BYTES: usize = 1 << 16;

/// Attributes that anybody may set on their files, the kernel's notes on layers among them.
const USER_ATTRIBUTES: &[u8] = b"user.";

/// Who a copy belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Owner {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { uid: stat.st_uid, gid: stat.st_gid }
    }

    /// Gives a name in a directory to this owner, unless it is theirs.
    pub(crate) fn give(self, dir: &Dir, name: &[u8]) -> rustix::io::Result<()> {
        if Self::of(&dir.stat(name)?) == self {
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        rustix::fs::chownat(dir, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Copies the content of one open file into another that is empty.
pub(crate) fn copy_content(from: &mut File, to: &mut File) -> io::Result<()> {
    match rustix::fs::ioctl_ficlone(to.as_fd(), from.as_fd()) {
        Ok(()) => Ok(()),
        // Another file system, or one that cannot share.
        Err(_) => {
            from.rewind()?;
            io::copy(from, to).map(drop)
        }
    }
}

/// Copies everything in one directory, and what can be seen of itself, to an empty one.
pub(crate) fn copy_tree(from: &Dir, to: &Dir, owner: Owner) -> Result<(), LayerError> {
    let mut copying = Copying { target: to, owner, linked: BTreeMap::new() };
    copying.directory(from, to, None)?;
    finish_directory(from, to, "the root of the copy")
}

struct Copying<'a> {
    target: &'a Dir,
    owner: Owner,
    /// Files with several names, by their number, with the first name they were copied to.
    linked: BTreeMap<u64, TreePath>,
}

impl Copying<'_> {
    fn directory(&mut self, from: &Dir, to: &Dir, at: Option<&TreePath>) -> Result<(), LayerError> {
        let shown = at.map_or_else(|| "the root of the tree".to_owned(), ToString::to_string);
        for name in from.names().doing("list", shown)? {
            let path = TreePath::below(at, &name)?;
            let stat = from.stat(&name).doing("look at", &path)?;
            self.entry(from, to, &path, &stat)?;
        }
        Ok(())
    }

    fn entry(&mut self, from: &Dir, to: &Dir, path: &TreePath, stat: &Stat) -> Result<(), LayerError> {
        let name = path.name();
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return self.subdirectory(from, to, path, stat),
            FileType::RegularFile => {
                if self.link(to, path, stat)? {
                    return Ok(());
                }
                copy_file(from, to, path)?;
            }
            FileType::Symlink => {
                let target = from.link_target(name).doing("read the link", path)?;
                rustix::fs::symlinkat(target.as_slice(), to, name).doing("make the link", path)?;
            }
            kind @ (FileType::Fifo | FileType::Socket) => make_node(to, name, kind).doing("make", path)?,
            kind @ FileType::CharacterDevice if stat.st_rdev == 0 => make_node(to, name, kind).doing("make", path)?,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
                return Err(LayerError::Special { path: path.clone(), what: Special::Device });
            }
        }
        self.finish(to, path, stat)
    }

    fn subdirectory(&mut self, from: &Dir, to: &Dir, path: &TreePath, stat: &Stat) -> Result<(), LayerError> {
        let source = from.dir(path.name()).doing("open", path)?;
        let copy = to.make(path.name()).doing("make", path)?;
        self.directory(&source, &copy, Some(path))?;
        self.owner.give(to, path.name()).doing("give to its owner", path)?;
        finish_directory(&source, &copy, path)?;
        set_times(to, path.name(), stat).doing("set the times of", path)
    }

    /// Whether it is another name of a file that was copied already.
    fn link(&mut self, to: &Dir, path: &TreePath, stat: &Stat) -> Result<bool, LayerError> {
        if stat.st_nlink < 2 {
            return Ok(false);
        }
        match self.linked.get(&stat.st_ino) {
            Some(first) => {
                rustix::fs::linkat(self.target, first.as_bytes(), to, path.name(), AtFlags::empty())
                    .doing("link", path)?;
                Ok(true)
            }
            None => {
                self.linked.insert(stat.st_ino, path.clone());
                Ok(false)
            }
        }
    }

    /// Owner before mode: giving a file away takes some of its mode.
    fn finish(&self, to: &Dir, path: &TreePath, stat: &Stat) -> Result<(), LayerError> {
        self.owner.give(to, path.name()).doing("give to its owner", path)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            to.set_mode_of(path.name(), stat.st_mode & 0o7777).doing("set the mode of", path)?;
        }
        set_times(to, path.name(), stat).doing("set the times of", path)
    }
}

fn copy_file(from: &Dir, to: &Dir, path: &TreePath) -> Result<(), LayerError> {
    let (mut source, _) = from.file(path.name()).doing("open", path)?;
    let mut copy = to.create(path.name()).doing("make", path)?;
    copy_content(&mut source, &mut copy).doing("copy", path)?;
    copy_attributes(&source, &copy).doing("copy the attributes of", path)
}

/// Attributes and mode come last: a directory may be closed to its owner, or to everything but what is in it.
fn finish_directory(from: &Dir, to: &Dir, path: impl ToString) -> Result<(), LayerError> {
    let shown = path.to_string();
    copy_attributes(from, to).doing("copy the attributes of", &shown)?;
    let mode = from.own_stat().doing("look at", &shown)?.st_mode & 0o7777;
    rustix::fs::fchmod(to, Mode::from_raw_mode(mode)).doing("set the mode of", &shown)
}

fn make_node(to: &Dir, name: &[u8], kind: FileType) -> rustix::io::Result<()> {
    rustix::fs::mknodat(to, name, kind, Mode::RUSR | Mode::WUSR, 0)
}

fn copy_attributes(from: &impl AsFd, to: &impl AsFd) -> rustix::io::Result<()> {
    let mut list = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = match rustix::fs::flistxattr(from, list.as_mut_slice()) {
        Err(Errno::OPNOTSUPP) => return Ok(()),
        length => length?,
    };
    let names = list[..length].split(|&byte| byte == 0).filter(|name| name.starts_with(USER_ATTRIBUTES));
    let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
    for name in names {
        let length = rustix::fs::fgetxattr(from, name, value.as_mut_slice())?;
        rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty())?;
    }
    Ok(())
}

/// Programs that build only what is older than its sources rely on them.
pub(crate) fn set_times(to: &Dir, name: &[u8], stat: &Stat) -> rustix::io::Result<()> {
    let last_modification =
        Timespec { tv_sec: stat.st_mtime, tv_nsec: i64::try_from(stat.st_mtime_nsec).unwrap_or_default() };
    let times = Timestamps { last_access: last_modification, last_modification };
    rustix::fs::utimensat(to, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}
