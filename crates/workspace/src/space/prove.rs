//! Makes everything that is new in a snapshot once more, with the code that a rollback uses, and reads it the way the live
//! tree is read: what cannot be brought back is no snapshot.

use std::collections::BTreeSet;

use rustix::fs::AtFlags;

use super::Space;
use super::entry::{Entry, Kind};
use super::error::SpaceError;
use super::make::Maker;
use super::scan::{self, Scan};
use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;
use crate::path::TreePath;
use crate::remove::remove_tree;

/// Where it is made.
pub(super) const SCRATCH: &[u8] = b"scratch";

const AGAIN: &[u8] = b"again";
const OTHER_NAME: &[u8] = b"again-by-another-name";

pub(super) fn prove(space: &Space, scan: &Scan, number: u64) -> Result<(), SpaceError> {
    remove_tree(&space.dir, SCRATCH, super::TRASH).doing("remove", "the scratch directory")?;
    let scratch = space.dir.make(SCRATCH).doing("make", "the scratch directory")?;
    let (owner, objects) =
        (Owner::of(&scratch.own_stat().doing("look at", "the scratch directory")?), space.objects()?);
    let proof = Proof { space, scratch: &scratch, maker: Maker { objects: &objects, owner, number } };
    let (new, named) = what_is_new(scan);
    // One at a time, so that a snapshot needs no room for a second workspace.
    for position in new {
        let Some(entry) = scan.tree.entries.get(position) else { continue };
        match proof.comes_back(entry, named.contains(&position)) {
            Ok(true) => {}
            Ok(false) | Err(SpaceError::Damaged { .. }) => {
                // What is kept under this name is something else; without it, the next snapshot keeps the content anew.
                if let Some(digest) = entry.digest() {
                    objects.forget(digest).doing("remove", &entry.path)?;
                }
                return Err(SpaceError::NotRestorable(entry.path.clone()));
            }
            Err(other) => return Err(other),
        }
    }
    Ok(remove_tree(&space.dir, SCRATCH, super::TRASH).doing("remove", "the scratch directory")?)
}

/// By position, everything that is to be made again, and which files among it have other names that are new.
fn what_is_new(scan: &Scan) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let (mut new, mut named) = (BTreeSet::new(), BTreeSet::new());
    for position in &scan.fresh {
        match scan.tree.entries.get(*position).map(|entry| &entry.kind) {
            Some(Kind::Twin(first)) => named.extend(scan.tree.position(first)),
            Some(Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout) => {
                new.insert(*position);
            }
            None => {}
        }
    }
    new.extend(&named);
    (new, named)
}

struct Proof<'a> {
    space: &'a Space,
    scratch: &'a Dir,
    maker: Maker<'a>,
}

impl Proof<'_> {
    fn comes_back(&self, entry: &Entry, has_other_names: bool) -> Result<bool, SpaceError> {
        let place = TreePath::new(AGAIN)?;
        self.maker.make(self.scratch, AGAIN, entry)?;
        if entry.is_directory() {
            let dir = self.scratch.dir(AGAIN).doing("open", &entry.path)?;
            self.maker.finish(&dir, &entry.meta, &entry.path)?;
        }
        let again = scan::look(self.scratch, &place, self.space.limits)?;
        // However many there are, they all come about in the same way.
        let can_have_them = !has_other_names || self.has_another_name().doing("link", &entry.path)?;
        let remove = if entry.is_directory() { Dir::remove_empty } else { Dir::unlink };
        remove(self.scratch, AGAIN).doing("remove", &entry.path)?;
        let again = again.map(|again| Entry { path: entry.path.clone(), ..again });
        Ok(again.as_ref() == Some(entry) && can_have_them)
    }

    fn has_another_name(&self) -> rustix::io::Result<bool> {
        rustix::fs::linkat(self.scratch, AGAIN, self.scratch, OTHER_NAME, AtFlags::empty())?;
        let is_same = self.scratch.stat(AGAIN)?.st_ino == self.scratch.stat(OTHER_NAME)?.st_ino;
        self.scratch.unlink(OTHER_NAME)?;
        Ok(is_same)
    }
}
