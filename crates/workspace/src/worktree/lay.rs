//! Lays a directory of the host into a worktree: as a private tree whose files are the host's own under another name, or
//! copies where that cannot be. Links are copied as links, nothing is followed, mounts are not entered, and what is
//! neither file, directory nor link is left out.

use std::path::Path;

use rustix::fs::{AtFlags, FileType};

use super::given::{Given, Identity, Known, open};
use super::{Kind, Worktree, WorktreeError, admin};
use crate::copy::{Owner, copy_content};
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::MODE_BITS;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

const OWNER_ALL: u32 = 0o700;

/// How files come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As the host's own, where the kernel allows it.
    Named,
    /// As copies: what is in an upper is written in place.
    Copied,
}

impl Given {
    /// Lays a directory of the host into a worktree, at a path where nothing is yet, and remembers every file.
    pub fn lay(
        &mut self,
        worktree: &Worktree,
        from: &Path,
        to: &TreePath,
        limits: Limits,
    ) -> Result<(), WorktreeError> {
        let source = open(from)?;
        let parent = room(worktree, to)?;
        let how = match worktree.kind() {
            Kind::Plain => How::Named,
            Kind::Layered => How::Copied,
        };
        let mut laying = Laying { how, owner: worktree.repository.owner(), meter: Meter::new(limits), given: self };
        laying.directory(&source, &parent, to, 1)?;
        Ok(())
    }
}

/// The directory that is to hold it, made if it has to be. Nothing is there yet, and no link leads there.
fn room(worktree: &Worktree, to: &TreePath) -> Result<Dir, WorktreeError> {
    let lower = open(&worktree.cage().lower)?;
    let above = std::iter::successors(to.parent(), TreePath::parent);
    for path in above {
        let there = lower.look(&path).doing("look at", &path)?;
        if there.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory) {
            return Err(LayerError::Taken(path).into());
        }
    }
    if lower.look(to).doing("look at", to)?.is_some() {
        return Err(LayerError::Taken(to.clone()).into());
    }
    let mut dir = worktree.held()?;
    let parent = to.parent();
    for name in parent.iter().flat_map(TreePath::names) {
        let name = std::str::from_utf8(name).map_err(|_| LayerError::Taken(to.clone()))?;
        dir = admin::make_in(&dir, name, worktree.repository.owner())?.0;
    }
    Ok(dir)
}

struct Laying<'a> {
    how: How,
    owner: Owner,
    meter: Meter,
    given: &'a mut Given,
}

impl Laying<'_> {
    /// The content of `from` into a new directory at `path`, in `parent`.
    fn directory(&mut self, from: &Dir, parent: &Dir, path: &TreePath, depth: usize) -> Result<(), LayerError> {
        let to = match parent.make(path.name()) {
            Err(rustix::io::Errno::EXIST) => return Err(LayerError::Taken(path.clone())),
            made => made.doing("make", path)?,
        };
        for name in from.names().doing("list", path)? {
            self.meter.entry(depth)?;
            let inner = TreePath::below(Some(path), &name)?;
            let stat = from.stat(&name).doing("look at", &inner)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => match from.dir(&name) {
                    Err(rustix::io::Errno::XDEV) => {}
                    opened => self.directory(&opened.doing("open", &inner)?, &to, &inner, depth + 1)?,
                },
                FileType::RegularFile => self.file(from, &to, &inner)?,
                FileType::Symlink => self.link(from, &to, &inner)?,
                FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => {}
            }
        }
        let mode = from.own_stat().doing("look at", path)?.st_mode & MODE_BITS | OWNER_ALL;
        parent.set_mode_of(path.name(), mode).doing("set the mode of", path)?;
        self.owner.give(parent, path.name()).doing("give to its owner", path)
    }

    fn file(&mut self, from: &Dir, to: &Dir, path: &TreePath) -> Result<(), LayerError> {
        let name = path.name();
        if self.how == How::Named && rustix::fs::linkat(from, name, to, name, AtFlags::empty()).is_ok() {
            let same = Identity::of(to, name).doing("look at", path)?;
            self.given.put(path, Known::Same(same));
            return Ok(());
        }
        self.copy(from, to, path)
    }

    /// Another file system, a file of somebody else's, too many names already, or an upper.
    fn copy(&mut self, from: &Dir, to: &Dir, path: &TreePath) -> Result<(), LayerError> {
        let name = path.name();
        let (mut source, stat) = from.file(name).doing("open", path)?;
        self.meter.bytes(u64::try_from(stat.st_size).unwrap_or_default())?;
        let mut copy = to.create(name).doing("make", path)?;
        copy_content(&mut source, &mut copy).doing("copy", path)?;
        drop(copy);
        self.owner.give(to, name).doing("give to its owner", path)?;
        to.set_mode_of(name, stat.st_mode & MODE_BITS).doing("set the mode of", path)?;
        crate::copy::set_times(to, name, &stat).doing("set the times of", path)?;
        self.given.learn_in(to, path)
    }

    fn link(&mut self, from: &Dir, to: &Dir, path: &TreePath) -> Result<(), LayerError> {
        let target = from.link_target(path.name()).doing("read the link", path)?;
        rustix::fs::symlinkat(target.as_slice(), to, path.name()).doing("make the link", path)?;
        self.owner.give(to, path.name()).doing("give to its owner", path)?;
        self.given.learn_in(to, path)
    }
}
