//! Takes the steps of a rollback. Each looks where it stands: taking all of them again after an interruption does the
//! rest and nothing twice.

use rustix::fs::{FileType, Stat};

use super::super::error::SpaceError;
use super::super::make::Maker;
use super::journal::{Part, Step, Touched};
use crate::dir::{Dir, absent};
use crate::error::Doing;

/// The trees that are changed, and where things wait.
pub(super) struct Ground<'a> {
    pub(super) workspace: &'a Dir,
    pub(super) memory: &'a Dir,
    pub(super) held: &'a Dir,
}

impl Ground<'_> {
    fn root(&self, part: Part) -> &Dir {
        match part {
            Part::Workspace => self.workspace,
            Part::Memory => self.memory,
        }
    }

    pub(super) fn take(&self, step: &Step) -> Result<(), SpaceError> {
        let (path, name, held) = (&step.path, step.path.name(), step.held.as_bytes());
        let parent = self.root(step.part).parent_of(path).doing("open the directory of", path)?;
        let here = absent(parent.stat(name)).doing("look at", path)?;
        let waiting = absent(self.held.stat(held)).doing("look at", path)?;
        let is_to_be_put = waiting.is_some_and(|waiting| Some(waiting.st_ino) == step.fresh);
        match (here, waiting) {
            (Some(here), Some(_)) if is_to_be_put => {
                open_up(&parent, name, &here).doing("open up", path)?;
                Ok(self.held.exchange(held, &parent, name).doing("exchange", path)?)
            }
            (None, Some(_)) if is_to_be_put => {
                Ok(self.held.move_to(held, &parent, name).doing("put in place", path)?)
            }
            (Some(here), None) if step.fresh.is_none() => {
                open_up(&parent, name, &here).doing("open up", path)?;
                Ok(parent.move_to(name, self.held, held).doing("take away", path)?)
            }
            // Put or taken before: what waits, if anything does, is what was there.
            (_, Some(_)) | (_, None) => Ok(()),
        }
    }

    /// Opens a directory that its owner closed to themselves. What it has in the end is set in the end.
    pub(super) fn open(&self, touched: &Touched) -> Result<(), SpaceError> {
        let Some(path) = &touched.path else { return Ok(()) };
        let Some(parent) = absent(self.root(touched.part).parent_of(path)).doing("open the directory of", path)? else {
            return Ok(());
        };
        match absent(parent.stat(path.name())).doing("look at", path)? {
            Some(stat) => Ok(open_up(&parent, path.name(), &stat).doing("open up", path)?),
            // It is about to be put there.
            None => Ok(()),
        }
    }

    /// Sets what a directory has in the end.
    pub(super) fn touch(&self, touched: &Touched, maker: &Maker<'_>) -> Result<(), SpaceError> {
        let root = self.root(touched.part);
        let dir = match &touched.path {
            Some(path) => root.dir(path.as_bytes()).doing("open", path)?,
            None => root.dir(b".").doing("open", "the root of the tree")?,
        };
        let shown = touched.path.as_ref().map_or_else(|| "the root of the tree".to_owned(), ToString::to_string);
        maker.finish(&dir, &touched.meta, shown)
    }
}

/// Only a directory its owner may write to can be moved by them, or have something put into it.
fn open_up(parent: &Dir, name: &[u8], stat: &Stat) -> rustix::io::Result<()> {
    let is_closed = FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_mode & 0o700 != 0o700;
    if is_closed { parent.set_mode_of(name, stat.st_mode & 0o7777 | 0o700) } else { Ok(()) }
}
