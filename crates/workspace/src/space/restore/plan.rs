//! What has to be put, taken or exchanged to make one tree another. Each step is about a whole subtree, and none lies
//! inside another, so that their order does not matter.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::entry::{Entry, Kind, Meta};
use super::super::scan::Scan;
use super::super::tree::{Tree, side_by_side};
use crate::path::TreePath;

/// The way from a live tree to a saved one.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// Paths whose place something else takes, and what: nothing, or this entry with all that is below it.
    pub(super) swaps: BTreeMap<TreePath, Option<&'a Entry>>,
    /// Directories that stay but are touched, with what they have in the end; `None` is the root.
    pub(super) touched: BTreeMap<Option<TreePath>, &'a Meta>,
    /// Files that are made anew; others may be names of them.
    pub(super) remade: HashSet<&'a TreePath>,
    /// Whether the whole tree is made anew, instead of what differs.
    pub(super) is_everything: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(live: &Scan, wanted: &'a Tree) -> Self {
        let mut plan = Self::default();
        let mut swapped: Option<TreePath> = None;
        for (here, there) in side_by_side(&live.tree.entries, &wanted.entries) {
            let Some(path) = here.or(there).map(|entry| &entry.path) else { continue };
            if swapped.as_ref().is_some_and(|above| is_below(path, above)) {
                plan.note_remade(there);
            } else if !plan.stays(here, there) {
                plan.swap(path.clone(), there);
                swapped = Some(path.clone());
            }
        }
        plan.take_refused(live);
        plan.touch_directories(live, wanted);
        plan
    }

    /// From a tree of which nothing is known.
    pub(super) fn of_everything(wanted: &'a Tree) -> Self {
        let mut plan = Self { is_everything: true, ..Self::default() };
        wanted.entries.iter().for_each(|entry| plan.note_remade(Some(entry)));
        plan.touched.insert(None, &wanted.root);
        plan
    }

    /// Whether what is there stays, directories perhaps with other modes, times and attributes.
    fn stays(&mut self, here: Option<&Entry>, there: Option<&'a Entry>) -> bool {
        let (Some(here), Some(there)) = (here, there) else { return false };
        if here.is_directory() && there.is_directory() {
            if here.meta != there.meta {
                self.touched.insert(Some(there.path.clone()), &there.meta);
            }
            return true;
        }
        let with_its_file = match &there.kind {
            Kind::Twin(first) => !self.remade.contains(first),
            Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => true,
        };
        here == there && with_its_file
    }

    fn swap(&mut self, path: TreePath, there: Option<&'a Entry>) {
        self.note_remade(there);
        self.swaps.insert(path, there);
    }

    fn note_remade(&mut self, there: Option<&'a Entry>) {
        if let Some(Entry { path, kind: Kind::File { .. }, .. }) = there {
            self.remade.insert(path);
        }
    }

    /// Pipes, sockets and devices are not saved, so after a rollback there are none.
    fn take_refused(&mut self, live: &Scan) {
        for refused in &live.refused {
            let above = std::iter::successors(Some(refused.path.clone()), TreePath::parent);
            if !above.into_iter().any(|path| self.swaps.contains_key(&path)) {
                self.swaps.insert(refused.path.clone(), None);
            }
        }
    }

    /// A directory in which something is exchanged has a new time, and one that is closed is opened on the way. Both are
    /// set back. So is a directory that is put in its place, which is open until then.
    fn touch_directories(&mut self, live: &Scan, wanted: &'a Tree) {
        let tops = self.swaps.values().flatten().filter(|top| top.is_directory());
        let tops: Vec<_> = tops.map(|top| (Some(top.path.clone()), &top.meta)).collect();
        let parents: BTreeSet<Option<TreePath>> = self.swaps.keys().map(TreePath::parent).collect();
        self.touch(parents, wanted);
        self.touched.extend(tops);
        if live.tree.root != wanted.root {
            self.touched.insert(None, &wanted.root);
        }
        let closed = self.closed_above(&live.tree);
        self.touch(closed, wanted);
    }

    fn touch(&mut self, directories: BTreeSet<Option<TreePath>>, wanted: &'a Tree) {
        for path in directories {
            let meta = match &path {
                Some(path) => wanted.get(path).map(|entry| &entry.meta),
                None => Some(&wanted.root),
            };
            self.touched.extend(meta.map(|meta| (path, meta)));
        }
    }

    /// Directories on the way to what is swapped or touched that their owner closed to themselves.
    fn closed_above(&self, live: &Tree) -> BTreeSet<Option<TreePath>> {
        let is_closed = |path: &Option<TreePath>| {
            let meta = match path {
                Some(path) => live.get(path).map(|entry| &entry.meta),
                None => Some(&live.root),
            };
            meta.is_some_and(|meta| meta.mode & 0o700 != 0o700)
        };
        let changed = self.swaps.keys().chain(self.touched.keys().flatten());
        let above = changed.flat_map(|path| std::iter::successors(path.parent(), TreePath::parent).map(Some));
        let root = (!self.swaps.is_empty() || !self.touched.is_empty()).then_some(None);
        above.chain(root).filter(is_closed).collect()
    }
}

pub(super) fn is_below(path: &TreePath, above: &TreePath) -> bool {
    path.as_bytes().strip_prefix(above.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// An entry with all that is below it; they follow one another.
pub(super) fn subtree<'a>(tree: &'a Tree, top: &Entry) -> &'a [Entry] {
    let from = tree.entries.partition_point(|entry| super::super::tree::in_order(&entry.path, &top.path).is_lt());
    let rest = &tree.entries[from..];
    let length = rest.iter().take_while(|entry| entry.path == top.path || is_below(&entry.path, &top.path)).count();
    &rest[..length]
}
