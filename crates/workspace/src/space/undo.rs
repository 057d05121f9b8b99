//! Lists the paths that a run changed, and restores single paths to their content in the base.

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::Space;
use super::closed::{Closed, in_parent_of};
use super::error::SpaceError;
use super::restore::Part;
use super::root::Root;
use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::limits::Meter;
use crate::path::TreePath;

/// Lets the owner remove names from a directory.
const MAY_REMOVE: u32 = 0o200;

/// Lists everything in the upper except directories: created and changed files, and the marks of removed ones.
pub(super) fn changed_paths(space: &Space) -> std::result::Result<Vec<TreePath>, SpaceError> {
    let (mut found, mut meter) = (Vec::new(), Meter::new(space.limits));
    let root = Root::open(space, Part::Workspace)?;
    collect(&root, None, 1, &mut meter, &mut found)?;
    Ok(found)
}

fn collect(
    dir: &Dir,
    at: Option<&TreePath>,
    depth: usize,
    meter: &mut Meter,
    found: &mut Vec<TreePath>,
) -> std::result::Result<(), LayerError> {
    let shown = at.map_or_else(|| "the upper".to_owned(), ToString::to_string);
    for name in meter.names(dir, &shown)? {
        meter.entry(depth)?;
        meter.described(name.len())?;
        let path = TreePath::below(at, &name)?;
        let stat = dir.stat(&name).doing("look at", &path)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let _closed = Closed::open_up(dir, &name, &stat).doing("open up", &path)?;
            collect(&dir.dir(&name).doing("open", &path)?, Some(&path), depth + 1, meter, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// Removes paths from the upper: the base's content shows again, and new paths disappear.
pub(super) fn undo(space: &Space, paths: &[TreePath]) -> std::result::Result<(), SpaceError> {
    let root = Root::open(space, Part::Workspace)?;
    for path in paths {
        absent(in_parent_of(&root, path, |parent| remove(parent, path.name()))).doing("undo", path)?;
    }
    Ok(())
}

/// Removes a name even if a program made its directory read-only.
fn remove(parent: &Dir, name: &[u8]) -> Result<()> {
    match parent.unlink(name) {
        Err(Errno::ACCESS) => {}
        other => return other,
    }
    let mode = parent.own_stat()?.st_mode & 0o7777;
    parent.set_mode_of(b".", mode | MAY_REMOVE)?;
    let removed = parent.unlink(name);
    parent.set_mode_of(b".", mode)?;
    removed
}
