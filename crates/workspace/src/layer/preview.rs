//! Compares an upper with the directory below it, the way the kernel shows one above the other.
//!
//! Pure with respect to both: nothing is written. What a removed directory held is listed file by file, so that nothing
//! disappears unseen.

use std::collections::{BTreeMap, BTreeSet};

use rustix::fs::Stat;
use rustix::io::Errno;

use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::baseline::{Baseline, Told};
use crate::layer::changes::{Change, Changes, Conflict};
use crate::layer::node::Node;
use crate::layer::promote::STAGING;
use crate::layer::upper::{Entry, Upper};
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

/// The changes, and what the file system said of everything that is there now.
pub(crate) struct Compared {
    pub(crate) changes: Changes,
    pub(crate) told: BTreeMap<TreePath, Told>,
}

pub(crate) fn compare(upper: &Upper, lower: &Dir, baseline: &Baseline, limits: Limits) -> Result<Compared, LayerError> {
    let mut comparing = Comparing {
        upper,
        lower,
        baseline,
        meter: Meter::new(limits),
        opaque: BTreeSet::new(),
        found: BTreeMap::new(),
        told: BTreeMap::new(),
    };
    for (path, entry) in &upper.0 {
        comparing.entry(path, entry)?;
    }
    Ok(Compared { changes: Changes(comparing.found.into_values().collect()), told: comparing.told })
}

struct Comparing<'a> {
    upper: &'a Upper,
    lower: &'a Dir,
    baseline: &'a Baseline,
    meter: Meter,
    /// Directories through which nothing shows. What is in such a directory is one too.
    opaque: BTreeSet<TreePath>,
    found: BTreeMap<TreePath, Change>,
    told: BTreeMap<TreePath, Told>,
}

impl Comparing<'_> {
    fn entry(&mut self, path: &TreePath, entry: &Entry) -> Result<(), LayerError> {
        let old = self.look(path)?;
        let was_directory = old.as_ref().is_some_and(|(node, _)| node.is_directory());
        match entry {
            Entry::Whiteout => self.note(path, old, None),
            Entry::Here { node, .. } => self.note(path, old, Some(node.clone())),
        }
        let shows_through = match entry {
            Entry::Whiteout => false,
            Entry::Here { node, opaque, .. } => node.is_directory() && !opaque && !self.is_in_opaque(path),
        };
        if shows_through {
            return Ok(());
        }
        self.opaque.insert(path.clone());
        if was_directory { self.removed_below(path) } else { Ok(()) }
    }

    fn is_in_opaque(&self, path: &TreePath) -> bool {
        path.parent().is_some_and(|parent| self.opaque.contains(&parent))
    }

    /// What is there now, in the directory below.
    fn look(&mut self, path: &TreePath) -> Result<Option<(Node, Told)>, LayerError> {
        let Some(stat) = self.lower.look(path).doing("look at", path)? else { return Ok(None) };
        let parent = self.lower.parent_of(path).doing("open the directory of", path)?;
        self.read(&parent, path, &stat).map(Some)
    }

    fn read(&mut self, parent: &Dir, path: &TreePath, stat: &Stat) -> Result<(Node, Told), LayerError> {
        let node = Node::read(parent, stat, path, &mut self.meter)?;
        let after = parent.stat(path.name()).doing("look at", path)?;
        if Told::new(stat) != Told::new(&after) {
            return Err(LayerError::Moving(path.clone()));
        }
        Ok((node, Told::new(&after)))
    }

    /// Everything below a directory that no longer shows, unless the run made something there itself.
    fn removed_below(&mut self, path: &TreePath) -> Result<(), LayerError> {
        match open(self.lower, path.as_bytes(), path)? {
            Some(dir) => self.removed_in(&dir, path, depth(path) + 1),
            None => Ok(()),
        }
    }

    fn removed_in(&mut self, dir: &Dir, at: &TreePath, depth: usize) -> Result<(), LayerError> {
        for name in dir.names().doing("list", at)? {
            self.meter.entry(depth)?;
            let path = TreePath::below(Some(at), &name)?;
            if self.upper.0.contains_key(&path) {
                continue;
            }
            let stat = dir.stat(&name).doing("look at", &path)?;
            let old = self.read(dir, &path, &stat)?;
            let inner = if old.0.is_directory() { open(dir, &name, &path)? } else { None };
            self.note(&path, Some(old), None);
            if let Some(inner) = inner {
                self.removed_in(&inner, &path, depth + 1)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, path: &TreePath, old: Option<(Node, Told)>, new: Option<Node>) {
        let conflict = self.conflict(path, old.as_ref(), new.as_ref());
        let (old, told) = old.unzip();
        if let Some(told) = told {
            self.told.insert(path.clone(), told);
        }
        if old != new {
            self.found.insert(path.clone(), Change { path: path.clone(), before: old, after: new, conflict });
        }
    }

    fn conflict(&self, path: &TreePath, old: Option<&(Node, Told)>, new: Option<&Node>) -> Option<Conflict> {
        let special = |node: &Node| match node {
            Node::Special { what } => Some(Conflict::Special(*what)),
            Node::File { .. } | Node::Directory { .. } | Node::Symlink { .. } => None,
        };
        let drift = match old {
            Some((node, told)) if self.baseline.had(path) => {
                (!self.baseline.is_still(path, node, told)).then_some(Conflict::Drifted)
            }
            Some(_) => Some(Conflict::Appeared),
            None => self.baseline.had(path).then_some(Conflict::Vanished),
        };
        let reserved = path.first_name().starts_with(STAGING).then_some(Conflict::Reserved);
        // Whatever the file system makes of upper and lower case elsewhere, such a name is not promoted.
        let repository = path.names().any(|name| name.eq_ignore_ascii_case(b".git")).then_some(Conflict::Repository);
        let protected = (old.is_some() && self.baseline.protects(path)).then_some(Conflict::Protected);
        let old_special = old.and_then(|(node, _)| special(node));
        reserved.or(repository).or(new.and_then(special)).or(old_special).or(drift).or(protected)
    }
}

/// What is mounted on the host does not show in a cage, so the run never saw what is in it.
fn open(dir: &Dir, name: &[u8], path: &TreePath) -> Result<Option<Dir>, LayerError> {
    match dir.dir(name) {
        Err(Errno::XDEV) => Ok(None),
        opened => opened.map(Some).doing("open", path),
    }
}

fn depth(path: &TreePath) -> usize {
    path.as_bytes().iter().filter(|&&byte| byte == b'/').count() + 1
}
