//! Makes what a rollback puts in place, beside the live trees, whole and checked, before anything of them is touched.

use std::collections::HashMap;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::super::closed::in_parent_of;
use super::super::entry::{Entry, Kind};
use super::super::error::SpaceError;
use super::super::make::Maker;
use super::super::root::SHOWN;
use super::super::tree::{Tree, in_order};
use super::journal::{Part, Step};
use super::plan::{Plan, subtree};
use crate::dir::Dir;
use crate::error::Doing;
use crate::path::TreePath;

/// Prepares the steps for one tree.
pub(super) struct Stage<'a> {
    part: Part,
    maker: Maker<'a>,
    live: &'a Dir,
    wanted: &'a Tree,
    /// Where prepared things wait under numbers.
    held: &'a Dir,
    /// Where files that were made are, for those that are other names of them.
    made: HashMap<&'a TreePath, Vec<u8>>,
    /// Where directories are that are to be closed to their owner, those inside of others first. They are open as long
    /// as files in them get other names.
    open: Vec<(&'a Entry, Vec<u8>)>,
}

/// What is made at once, and where.
struct Top<'a, 'd> {
    /// The directory it is made in.
    dir: &'d Dir,
    /// Under which number it waits.
    number: &'d [u8],
    /// What it is; nothing for a whole tree.
    entry: Option<&'a Entry>,
}

impl Top<'_, '_> {
    fn is(&self, entry: &Entry) -> bool {
        self.entry.is_some_and(|top| top.path == entry.path)
    }

    /// Where an entry is made, seen from where everything waits.
    fn place(&self, entry: &Entry) -> Vec<u8> {
        let path = entry.path.as_bytes();
        match self.entry {
            Some(top) => [self.number, &path[top.path.as_bytes().len()..]].concat(),
            None => [self.number, b"/", path].concat(),
        }
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(part: Part, maker: Maker<'a>, live: &'a Dir, wanted: &'a Tree, held: &'a Dir) -> Self {
        Self { part, maker, live, wanted, held, made: HashMap::new(), open: Vec::new() }
    }

    pub(super) fn steps(mut self, plan: &Plan<'a>, next: &mut u64) -> Result<Vec<Step>, SpaceError> {
        let mut steps = Vec::with_capacity(plan.swaps.len());
        let mut number = || {
            *next += 1;
            next.to_string()
        };
        if plan.is_everything {
            let held = number();
            let fresh = Some(self.everything(plan, held.as_bytes())?);
            steps.push(Step { part: self.part, path: None, held, fresh });
        }
        // The file of a twin comes before it in the order of a walk, which is not that of the bytes of paths.
        let mut swaps: Vec<_> = plan.swaps.iter().collect();
        swaps.sort_by(|(one, _), (other, _)| in_order(one, other));
        for (path, wanted) in swaps {
            let held = number();
            let fresh = match wanted {
                Some(top) => Some(self.one(plan, top, held.as_bytes())?),
                None => None,
            };
            steps.push(Step { part: self.part, path: Some(path.clone()), held, fresh });
        }
        self.close_the_rest()?;
        Ok(steps)
    }

    /// Makes an entry with all that is below it. The number of its inode is how it is known in its place later.
    fn one(&mut self, plan: &Plan<'a>, top: &'a Entry, number: &[u8]) -> Result<u64, SpaceError> {
        self.fill(plan, subtree(self.wanted, top), &Top { dir: self.held, number, entry: Some(top) })?;
        Ok(self.held.stat(number).doing("look at", &top.path)?.st_ino)
    }

    /// Makes a whole tree.
    fn everything(&mut self, plan: &Plan<'a>, number: &[u8]) -> Result<u64, SpaceError> {
        let dir = self.held.make(number).doing("make", SHOWN)?;
        self.fill(plan, &self.wanted.entries, &Top { dir: &dir, number, entry: None })?;
        let mut meta = self.wanted.root.clone();
        meta.mode |= 0o700;
        self.maker.finish(&dir, &meta, SHOWN)?;
        Ok(dir.own_stat().doing("look at", SHOWN)?.st_ino)
    }

    fn fill(&mut self, plan: &Plan<'a>, entries: &'a [Entry], top: &Top<'_, '_>) -> Result<(), SpaceError> {
        let mut open: Vec<(&'a Entry, Dir)> = Vec::new();
        for entry in entries {
            while let Some((directory, dir)) =
                open.pop_if(|(above, _)| entry.path.parent().as_ref() != Some(&above.path))
            {
                self.finish(directory, &dir, top)?;
            }
            let name = if top.is(entry) { top.number } else { entry.path.name() };
            let parent = open.last().map_or(top.dir, |(_, dir)| dir);
            self.make(plan, parent, name, entry)?;
            if entry.digest().is_some() {
                self.made.insert(&entry.path, top.place(entry));
            }
            if entry.is_directory() {
                let dir = parent.dir(name).doing("open", &entry.path)?;
                open.push((entry, dir));
            }
        }
        while let Some((directory, dir)) = open.pop() {
            self.finish(directory, &dir, top)?;
        }
        Ok(())
    }

    fn make(&self, plan: &Plan<'a>, parent: &Dir, name: &[u8], entry: &Entry) -> Result<(), SpaceError> {
        match &entry.kind {
            Kind::Twin(first) => Ok(self.link(plan, first, parent, name).doing("link", &entry.path)?),
            Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => {
                self.maker.make(parent, name, entry)
            }
        }
    }

    /// Another name of a file that was made, or of one that stays where it is. What is live and does not stay is never
    /// linked: it is what the rollback is to be rid of.
    fn link(&self, plan: &Plan<'a>, first: &TreePath, parent: &Dir, name: &[u8]) -> rustix::io::Result<()> {
        let link = |dir: &Dir| rustix::fs::linkat(dir, first.name(), parent, name, AtFlags::empty());
        match self.made.get(first) {
            Some(place) => {
                let (above, waiting) = self.held.above(place)?;
                rustix::fs::linkat(above, waiting, parent, name, AtFlags::empty())
            }
            None if plan.remade.contains(first) => Err(Errno::NOENT),
            None => in_parent_of(self.live, first, link),
        }
    }

    /// The directory that is moved itself stays open until it is in its place: one that its owner may not write to
    /// cannot be moved by them.
    fn finish(&mut self, directory: &'a Entry, dir: &Dir, top: &Top<'_, '_>) -> Result<(), SpaceError> {
        let mut meta = directory.meta.clone();
        meta.mode |= 0o700;
        if meta.mode != directory.meta.mode && !top.is(directory) {
            self.open.push((directory, top.place(directory)));
        }
        self.maker.finish(dir, &meta, &directory.path)
    }

    fn close_the_rest(&self) -> Result<(), SpaceError> {
        for (directory, place) in &self.open {
            let dir = self.held.dir_at(place).doing("open", &directory.path)?;
            let mode = Mode::from_raw_mode(directory.meta.mode);
            rustix::fs::fchmod(&dir, mode).doing("set the mode of", &directory.path)?;
        }
        Ok(())
    }
}
