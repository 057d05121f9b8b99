//! What its owner closed to themselves, open while it is worked on and closed again afterwards. Whoever is root need not
//! ask: then nothing here changes anything.

use rustix::fs::Stat;
use rustix::io::{Errno, Result};

use super::entry::Sort;
use crate::dir::Dir;
use crate::path::TreePath;

/// Something that is open as long as this is held.
pub(super) struct Closed<'a> {
    dir: &'a Dir,
    name: Vec<u8>,
    /// What it had, if it had to be opened.
    mode: Option<u32>,
}

impl<'a> Closed<'a> {
    /// Opens it to reading.
    pub(super) fn open_up(dir: &'a Dir, name: &[u8], stat: &Stat) -> Result<Self> {
        let needed = match Sort::of(stat) {
            Sort::File => 0o400,
            Sort::Directory => 0o500,
            Sort::Symlink | Sort::Whiteout | Sort::Refused(_) => 0,
        };
        let is_open = stat.st_mode & needed == needed || rustix::process::geteuid().is_root();
        let mode = (!is_open).then_some(stat.st_mode & 0o7777);
        if let Some(mode) = mode {
            dir.set_mode_of(name, mode | needed)?;
        }
        Ok(Self { dir, name: name.to_vec(), mode })
    }

    /// What it had before it was opened, if it had to be.
    pub(super) fn mode(&self) -> Option<u32> {
        self.mode
    }

    /// Somebody else says now what it has.
    pub(super) fn let_go(&mut self) {
        self.mode = None;
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        if let Some(mode) = self.mode {
            // It was ours to open a moment ago; if it is gone, there is nothing to close.
            let _: std::result::Result<(), Errno> = self.dir.set_mode_of(&self.name, mode);
        }
    }
}

/// Does something in the directory that holds a path, with everything on the way open meanwhile.
pub(super) fn in_parent_of<T>(root: &Dir, path: &TreePath, act: impl FnOnce(&Dir) -> Result<T>) -> Result<T> {
    match path.parent() {
        Some(parent) => inside(root, &mut parent.names(), act),
        None => act(root),
    }
}

fn inside<'p, T>(
    dir: &Dir,
    names: &mut impl Iterator<Item = &'p [u8]>,
    act: impl FnOnce(&Dir) -> Result<T>,
) -> Result<T> {
    let Some(name) = names.next() else { return act(dir) };
    let _closed = Closed::open_up(dir, name, &dir.stat(name)?)?;
    inside(&dir.dir(name)?, names, act)
}
