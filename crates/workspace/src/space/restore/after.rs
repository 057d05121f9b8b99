//! Looks at what a rollback put in place, reading all of it, and notes how everything is known again.
//!
//! What it did not touch was read or known by its stamp when the rollback began, and nobody else could write since: the
//! lock is held. So that is not read again, and its stamps stand.

use std::collections::HashSet;

use super::super::entry::{Entry, Kind};
use super::super::error::SpaceError;
use super::super::index::Stamp;
use super::super::root::{Root, SHOWN};
use super::super::scan::{self, Content, Scan, Trust};
use super::super::tree::{Tree, side_by_side};
use super::journal::{Journal, Part};
use super::plan::is_below;
use crate::dir::Dir;
use crate::error::Doing;
use crate::limits::Limits;
use crate::path::TreePath;

/// What a rollback did in one tree.
pub(super) struct After<'a> {
    swapped: HashSet<&'a TreePath>,
    touched: HashSet<&'a TreePath>,
}

impl<'a> After<'a> {
    pub(super) fn new(part: Part, journal: &'a Journal) -> Self {
        let swapped = journal.steps.iter().filter(|step| step.part == part).filter_map(|step| step.path.as_ref());
        let touched = journal.touched.iter().filter(|touched| touched.part == part);
        Self { swapped: swapped.collect(), touched: touched.filter_map(|touched| touched.path.as_ref()).collect() }
    }

    /// A stamp for each entry that is wanted and there.
    pub(super) fn stamps(
        &self,
        root: &Root<'_>,
        live: Option<&Scan>,
        wanted: &Tree,
        limits: Limits,
    ) -> Result<Vec<Option<Stamp>>, SpaceError> {
        if root.meta()? != wanted.root {
            return Err(SpaceError::Disturbed(SHOWN.to_owned()));
        }
        let Some(live) = live.filter(|_| !is_closed_somewhere(wanted)) else {
            return stamps_of_all(root, wanted, limits);
        };
        let (mut before, mut above) = (live.stamps.iter(), None);
        let mut stamps = Vec::with_capacity(wanted.entries.len());
        for (here, there) in side_by_side(&live.tree.entries, &wanted.entries) {
            let stamp = if here.is_some() { before.next().copied().flatten() } else { None };
            let Some(there) = there else { continue };
            if self.swapped.contains(&there.path) {
                above = Some(&there.path);
            }
            let is_new = above.is_some_and(|above| there.path == *above || is_below(&there.path, above));
            let is_changed =
                is_new || self.touched.contains(&there.path) || stamp.is_some_and(|stamp| stamp.has_twins());
            stamps.push(if is_changed { look(root, there, limits)? } else { stamp });
        }
        Ok(stamps)
    }
}

/// What is really there.
fn look(root: &Dir, wanted: &Entry, limits: Limits) -> Result<Option<Stamp>, SpaceError> {
    let path = &wanted.path;
    let parent = root.parent_of(path).doing("open the directory of", path)?;
    let stat = parent.stat(path.name()).doing("look at", path)?;
    let same = match &wanted.kind {
        Kind::Twin(first) => root.look(first).doing("look at", first)?.is_some_and(|first| first.st_ino == stat.st_ino),
        Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => {
            scan::look(&parent, path, limits)?.as_ref() == Some(wanted)
        }
    };
    match (&wanted.kind, same) {
        (_, false) => Err(SpaceError::Disturbed(path.to_string())),
        (Kind::Twin(_) | Kind::Whiteout, true) => Ok(None),
        (Kind::File { .. } | Kind::Directory | Kind::Symlink(_), true) => Ok(Some(Stamp::new(&stat))),
    }
}

/// Somebody who is not root has to walk through what is closed to them, opening and closing it.
fn is_closed_somewhere(tree: &Tree) -> bool {
    let is_closed = |entry: &Entry| match entry.kind {
        Kind::Directory => entry.meta.mode & 0o500 != 0o500,
        Kind::File { .. } => entry.meta.mode & 0o400 != 0o400,
        Kind::Twin(_) | Kind::Symlink(_) | Kind::Whiteout => false,
    };
    !rustix::process::geteuid().is_root() && tree.entries.iter().any(is_closed)
}

fn stamps_of_all(root: &Root<'_>, wanted: &Tree, limits: Limits) -> Result<Vec<Option<Stamp>>, SpaceError> {
    let now = scan::scan(root, Trust::Nothing(None), Content::Named, limits)?;
    match side_by_side(&now.tree.entries, &wanted.entries).find(|(one, other)| one != other) {
        Some((one, other)) => {
            let path = one.or(other).map(|entry| entry.path.to_string());
            Err(SpaceError::Disturbed(path.unwrap_or_default()))
        }
        None => Ok(now.stamps),
    }
}
