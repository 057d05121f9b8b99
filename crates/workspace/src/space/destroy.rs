//! Removes a space with everything in it, and looks that nothing is left.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::RECORD;
use super::error::SpaceError;
use crate::dir::absent;
use crate::error::Doing;
use crate::layer::place;
use crate::remove::{Removed, remove_counted};

/// What is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destruction {
    /// Files, links and everything else that is no directory.
    pub removed_files: u64,
    /// Their sizes; a file with several names counts once.
    pub removed_bytes: u64,
}

pub(super) fn destroy(root: &Path) -> Result<Destruction, SpaceError> {
    let (parent, name) = place(root)?;
    // First what says that it is a space: half of one is none.
    if let Some(dir) = absent(parent.dir(&name)).doing("open", root.display())? {
        absent(dir.unlink(RECORD)).doing("remove", root.display())?;
    }
    let trash = [b".placet-gone-", name.as_slice()].concat();
    let mut removed = Removed::default();
    remove_counted(&parent, &name, &trash, &mut removed).doing("remove", root.display())?;
    for gone in [&name, &trash] {
        if absent(parent.stat(gone)).doing("look at", root.display())?.is_some() {
            return Err(SpaceError::Left(root.to_owned()));
        }
    }
    parent.sync().doing("flush", root.display())?;
    Ok(Destruction { removed_files: removed.files, removed_bytes: removed.bytes })
}
