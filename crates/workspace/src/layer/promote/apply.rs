//! The steps of a promotion, one after the other. Each looks at what it moved aside: only now is it certain that nobody
//! has put something else there since it was compared.

use rustix::fs::FileType;
use rustix::io::Errno;

use super::Point;
use super::journal::{Act, Step};
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::baseline::Told;
use crate::layer::changes::Conflict;
use crate::layer::node::MODE_BITS;

/// Takes every step and flushes. After an error, those taken are still to be undone.
pub(super) fn apply(
    lower: &Dir,
    staging: &Dir,
    steps: &[Step],
    watch: &mut dyn FnMut(Point),
) -> Result<(), LayerError> {
    for (number, step) in steps.iter().enumerate() {
        take(lower, staging, step)?;
        watch(Point::Applied(number));
    }
    rustix::fs::syncfs(lower).doing("flush", "the promoted files")
}

fn take(lower: &Dir, staging: &Dir, step: &Step) -> Result<(), LayerError> {
    let (path, held) = (&step.path, step.held.as_bytes());
    let parent = lower.parent_of(path).doing("open the directory of", path)?;
    match &step.act {
        Act::Take { old } => {
            parent.move_to(path.name(), staging, held).doing("move aside", path)?;
            check_moved(staging, step, old)
        }
        Act::Put { .. } => match staging.move_to(held, &parent, path.name()) {
            Err(Errno::EXIST) => Err(conflict(step, Conflict::Appeared)),
            other => other.doing("put in place", path),
        },
        Act::Exchange { old, .. } => {
            staging.exchange(held, &parent, path.name()).doing("replace", path)?;
            check_moved(staging, step, old)
        }
        Act::Mode { new, .. } => set_mode(&parent, path.name(), *new).doing("set the mode of", path),
    }
}

/// Bits that no run decides on stay what they are.
pub(super) fn set_mode(parent: &Dir, name: &[u8], mode: u32) -> rustix::io::Result<()> {
    let kept = parent.stat(name)?.st_mode & 0o7777 & !MODE_BITS;
    parent.set_mode_of(name, kept | mode)
}

/// A directory is moved aside after everything that was in it; what is in it now, nobody has seen.
fn check_moved(staging: &Dir, step: &Step, expected: &Told) -> Result<(), LayerError> {
    let held = step.held.as_bytes();
    let stat = staging.stat(held).doing("look at", &step.path)?;
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let same = if is_directory {
        let empty = staging.dir(held).and_then(|dir| dir.names()).doing("list", &step.path)?.is_empty();
        empty && stat.st_ino == expected.inode
    } else {
        Told::new(&stat).same_content(expected)
    };
    if same { Ok(()) } else { Err(conflict(step, Conflict::Drifted)) }
}

fn conflict(step: &Step, conflict: Conflict) -> LayerError {
    LayerError::Conflicts(vec![(step.path.clone(), conflict)])
}
