//! Undoes the steps of a promotion, the last one first. Which of them were taken is seen from what is where: files are
//! recognised by their numbers. Whatever somebody changed since is left alone, and said.

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::apply::set_mode;
use super::journal::{Act, Step};
use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::layer::baseline::Told;
use crate::layer::node::MODE_BITS;

/// Can be called again after it failed or was interrupted itself.
pub(super) fn undo(lower: &Dir, staging: &Dir, steps: &[Step]) -> Result<(), LayerError> {
    steps.iter().rev().try_for_each(|step| undo_one(lower, staging, step))?;
    rustix::fs::syncfs(lower).doing("flush", "what was undone")
}

fn undo_one(lower: &Dir, staging: &Dir, step: &Step) -> Result<(), LayerError> {
    let (path, name) = (&step.path, step.held.as_bytes());
    let Some(parent) = absent(lower.parent_of(path)).doing("open the directory of", path)? else {
        return without_parent(staging, step);
    };
    let here = absent(parent.stat(path.name())).doing("look at", path)?;
    let held = absent(staging.stat(name)).doing("look at", path)?;
    match &step.act {
        Act::Take { .. } => match (here, held) {
            (_, None) => Ok(()),
            (None, Some(_)) => staging.move_to(name, &parent, path.name()).doing("put back", path),
            (Some(_), Some(_)) => Err(blocked(step)),
        },
        Act::Put { new } => match here {
            Some(stat) if stat.st_ino == new.inode && held.is_none() => {
                check_untouched(&parent, step, &stat, new)?;
                parent.move_to(path.name(), staging, name).doing("take back", path)
            }
            Some(_) | None => Ok(()),
        },
        Act::Exchange { new, .. } => undo_exchange(&parent, staging, step, (here, held), new),
        Act::Mode { old, new } => match here {
            Some(stat) if is_directory(&stat) && stat.st_mode & MODE_BITS == *new => {
                set_mode(&parent, path.name(), *old).doing("set the mode of", path)
            }
            Some(_) | None => Ok(()),
        },
    }
}

fn undo_exchange(
    parent: &Dir,
    staging: &Dir,
    step: &Step,
    found: (Option<Stat>, Option<Stat>),
    new: &Told,
) -> Result<(), LayerError> {
    match found {
        (_, Some(held)) if held.st_ino == new.inode => Ok(()),
        (Some(here), Some(_)) if here.st_ino == new.inode => {
            check_untouched(parent, step, &here, new)?;
            staging.exchange(step.held.as_bytes(), parent, step.path.name()).doing("put back", &step.path)
        }
        (_, Some(_)) => Err(blocked(step)),
        (_, None) => Ok(()),
    }
}

/// Something that goes with what was not there before, or that somebody removed since with all that was in it.
fn without_parent(staging: &Dir, step: &Step) -> Result<(), LayerError> {
    let held = absent(staging.stat(step.held.as_bytes())).doing("look at", &step.path)?;
    match (&step.act, held) {
        (Act::Put { .. } | Act::Mode { .. }, _) | (_, None) => Ok(()),
        (Act::Exchange { new, .. }, Some(held)) if held.st_ino == new.inode => Ok(()),
        (Act::Take { .. } | Act::Exchange { .. }, Some(_)) => Err(blocked(step)),
    }
}

/// Somebody may have gone on working with what was promoted.
fn check_untouched(parent: &Dir, step: &Step, now: &Stat, then: &Told) -> Result<(), LayerError> {
    let untouched = if is_directory(now) {
        match parent.dir(step.path.name()).and_then(|dir| dir.names()) {
            Ok(names) => names.is_empty(),
            Err(Errno::ACCESS) => false,
            Err(error) => return Err(error).doing("list", &step.path),
        }
    } else {
        Told::new(now).same_content(then)
    };
    if untouched { Ok(()) } else { Err(blocked(step)) }
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn blocked(step: &Step) -> LayerError {
    LayerError::Blocked { path: step.path.clone(), held: step.held.clone() }
}
