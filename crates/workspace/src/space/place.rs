//! Laying a file into a tree that hostile programs have arranged: no link on the way is followed, and whatever had the
//! name before is replaced, not written through.

use rustix::io::Errno;

use super::Space;
use super::error::SpaceError;
use super::files;
use super::restore::Part;
use super::root::Root;
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::path::TreePath;

pub(super) fn place(space: &Space, part: Part, path: &TreePath, bytes: &[u8]) -> Result<(), SpaceError> {
    let names: Vec<&[u8]> = path.names().collect();
    let root = Root::open(space, part)?;
    let mut dir = root.dir(b".").doing("open", path)?;
    for above in &names[..names.len() - 1] {
        dir = enter(&dir, above).doing("make", path)?.ok_or_else(|| SpaceError::InTheWay(path.clone()))?;
    }
    // A directory cannot be replaced by a file; everything else can.
    if absent(dir.dir(path.name())).doing("look at", path)?.is_some() {
        return Err(SpaceError::InTheWay(path.clone()));
    }
    files::replace(&dir, path.name(), bytes)
}

/// The directory of this name, made if there is none; nothing if something else has the name.
fn enter(dir: &Dir, name: &[u8]) -> Result<Option<Dir>, Errno> {
    match dir.dir(name) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => dir.make(name).map(Some),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(other) => Err(other),
    }
}
