//! Makes what a rollback puts in place, beside the live trees, whole and checked, before anything of them is touched.

use std::collections::HashMap;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::super::entry::{Entry, Kind};
use super::super::error::SpaceError;
use super::super::make::Maker;
use super::super::tree::{Tree, in_order};
use super::journal::{Part, Step};
use super::plan::{Plan, subtree};
use crate::dir::Dir;
use crate::error::Doing;
use crate::path::TreePath;

/// Prepares the steps for one tree.
pub(super) struct Stage<'a> {
    pub(super) part: Part,
    pub(super) maker: Maker<'a>,
    pub(super) live: &'a Dir,
    pub(super) wanted: &'a Tree,
    /// Where prepared things wait under numbers.
    pub(super) held: &'a Dir,
    /// Where files that were made are, for those that are other names of them.
    pub(super) made: HashMap<&'a TreePath, Vec<u8>>,
}

impl<'a> Stage<'a> {
    pub(super) fn steps(&mut self, plan: &Plan<'a>, next: &mut u64) -> Result<Vec<Step>, SpaceError> {
        let mut steps = Vec::with_capacity(plan.swaps.len());
        // The file of a twin comes before it in the order of a walk, which is not that of the bytes of paths.
        let mut swaps: Vec<_> = plan.swaps.iter().collect();
        swaps.sort_by(|(one, _), (other, _)| in_order(one, other));
        for (path, wanted) in swaps {
            *next += 1;
            let held = next.to_string();
            let fresh = match wanted {
                Some(top) => Some(self.prepare(plan, top, held.as_bytes())?),
                None => None,
            };
            steps.push(Step { part: self.part, path: path.clone(), held, fresh });
        }
        Ok(steps)
    }

    /// Makes an entry with all that is below it. The number of its inode is how it is known in its place later.
    fn prepare(&mut self, plan: &Plan<'a>, top: &Entry, held: &[u8]) -> Result<u64, SpaceError> {
        let mut open: Vec<(&'a Entry, Dir)> = Vec::new();
        for entry in subtree(self.wanted, top) {
            while let Some((directory, dir)) =
                open.pop_if(|(above, _)| entry.path.parent().as_ref() != Some(&above.path))
            {
                self.close(directory, &dir, top)?;
            }
            let name = if entry.path == top.path { held } else { entry.path.name() };
            let parent = open.last().map_or(self.held, |(_, dir)| dir);
            let place = [held, &entry.path.as_bytes()[top.path.as_bytes().len()..]].concat();
            match &entry.kind {
                Kind::Twin(first) => self.twin(plan, (parent, name), first, &entry.path)?,
                Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => {
                    self.maker.make(parent, name, entry)?;
                }
            }
            if entry.digest().is_some() {
                self.made.insert(&entry.path, place);
            }
            if entry.is_directory() {
                let dir = parent.dir(name).doing("open", &entry.path)?;
                open.push((entry, dir));
            }
        }
        while let Some((directory, dir)) = open.pop() {
            self.close(directory, &dir, top)?;
        }
        Ok(self.held.stat(held).doing("look at", &top.path)?.st_ino)
    }

    /// Another name of a file that was made, or of one that stays where it is. What is live and does not stay is never
    /// linked: it is what the rollback is to be rid of.
    fn twin(
        &self,
        plan: &Plan<'a>,
        (parent, name): (&Dir, &[u8]),
        first: &TreePath,
        path: &TreePath,
    ) -> Result<(), SpaceError> {
        let linked = match self.made.get(first) {
            Some(place) => rustix::fs::linkat(self.held, place.as_slice(), parent, name, AtFlags::empty()),
            None if plan.remade.contains(first) => Err(Errno::NOENT),
            None => self
                .live
                .parent_of(first)
                .and_then(|of_first| rustix::fs::linkat(of_first, first.name(), parent, name, AtFlags::empty())),
        };
        Ok(linked.doing("link", path)?)
    }

    /// The directory that is moved itself stays open until it is in its place: one that its owner may not write to
    /// cannot be moved by them.
    fn close(&self, directory: &Entry, dir: &Dir, top: &Entry) -> Result<(), SpaceError> {
        let mut meta = directory.meta.clone();
        if directory.path == top.path {
            meta.mode |= 0o700;
        }
        self.maker.finish(dir, &meta, &directory.path)
    }
}
