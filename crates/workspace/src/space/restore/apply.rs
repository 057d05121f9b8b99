//! Takes the steps of a rollback. Each looks where it stands: taking all of them again after an interruption does the
//! rest and nothing twice.

use rustix::fs::{FileType, Mode, Stat};

use super::super::Space;
use super::super::error::SpaceError;
use super::super::make::Maker;
use super::super::objects::Objects;
use super::super::root::{self, SHOWN};
use super::journal::{Step, Touched};
use super::trees::Trees;
use crate::dir::{Dir, absent};
use crate::error::Doing;

/// Puts a whole tree in the place of another.
pub(super) fn take_tree(space: &Space, held: &Dir, step: &Step) -> Result<(), SpaceError> {
    put(&space.dir, root::name(step.part), held, step, SHOWN)
}

/// The trees that are changed, and where things wait.
pub(super) struct Ground<'a> {
    pub(super) trees: Trees<'a>,
    pub(super) held: &'a Dir,
}

impl Ground<'_> {
    pub(super) fn take(&self, step: &Step) -> Result<(), SpaceError> {
        let Some(path) = &step.path else { return Ok(()) };
        let parent = self.trees.root(step.part).parent_of(path).doing("open the directory of", path)?;
        put(&parent, path.name(), self.held, step, path)
    }

    /// Opens a directory that its owner closed to themselves. What it has in the end is set in the end.
    pub(super) fn open(&self, touched: &Touched) -> Result<(), SpaceError> {
        let root = self.trees.root(touched.part);
        let Some(path) = &touched.path else {
            let mode = root.own_stat().doing("look at", SHOWN)?.st_mode & 0o7777;
            return Ok(rustix::fs::fchmod(&**root, Mode::from_raw_mode(mode | 0o700)).doing("open up", SHOWN)?);
        };
        let Some(parent) = absent(root.parent_of(path)).doing("open the directory of", path)? else {
            return Ok(());
        };
        match absent(parent.stat(path.name())).doing("look at", path)? {
            Some(stat) => Ok(open_up(&parent, path.name(), &stat).doing("open up", path)?),
            // It is about to be put there.
            None => Ok(()),
        }
    }

    /// Sets what a directory has in the end.
    pub(super) fn touch(&mut self, touched: &Touched, objects: &Objects) -> Result<(), SpaceError> {
        let root = self.trees.root_mut(touched.part);
        let maker = Maker { objects, owner: root.owner()?, number: 0 };
        match &touched.path {
            Some(path) => maker.finish(&root.dir(path.as_bytes()).doing("open", path)?, &touched.meta, path),
            None => {
                maker.finish(&**root, &touched.meta, SHOWN)?;
                root.is_settled();
                Ok(())
            }
        }
    }
}

/// Puts what waits in its place and what is there under its number; or takes away what is there. If that was done before,
/// what waits, if anything does, is what was there.
fn put(parent: &Dir, name: &[u8], held: &Dir, step: &Step, shown: impl ToString) -> Result<(), SpaceError> {
    let (shown, number) = (shown.to_string(), step.held.as_bytes());
    let here = absent(parent.stat(name)).doing("look at", &shown)?;
    let waiting = absent(held.stat(number)).doing("look at", &shown)?;
    let is_fresh = waiting.is_some_and(|waiting| Some(waiting.st_ino) == step.fresh);
    match here {
        Some(here) if is_fresh => {
            open_up(parent, name, &here).doing("open up", &shown)?;
            Ok(held.exchange(number, parent, name).doing("exchange", shown)?)
        }
        None if is_fresh => Ok(held.move_to(number, parent, name).doing("put in place", shown)?),
        Some(here) if step.fresh.is_none() && waiting.is_none() => {
            open_up(parent, name, &here).doing("open up", &shown)?;
            Ok(parent.move_to(name, held, number).doing("take away", shown)?)
        }
        Some(_) | None => Ok(()),
    }
}

/// Only a directory its owner may write to can be moved by them, or have something put into it.
fn open_up(parent: &Dir, name: &[u8], stat: &Stat) -> rustix::io::Result<()> {
    let is_closed = FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_mode & 0o700 != 0o700;
    if is_closed { parent.set_mode_of(name, stat.st_mode & 0o7777 | 0o700) } else { Ok(()) }
}
