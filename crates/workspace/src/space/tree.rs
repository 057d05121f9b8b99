//! A saved tree: what its root has, and every entry, parents first and names in the order of their bytes.
//!
//! On disk it is one JSON line for the root and one for each entry. **The digest of a tree is the SHA-256 of these
//! lines**, so that `sha256sum` checks it.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, Kind, Meta};
use super::error::SpaceError;
use crate::digest::Digest;
use crate::path::TreePath;

/// Everything in one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) root: Meta,
    pub(super) entries: Vec<Entry>,
}

/// The first line. The version is part of every digest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    placet_tree: u32,
    root: Meta,
}

const VERSION: u32 = 1;

impl Tree {
    pub(super) fn to_lines(&self) -> Result<Vec<u8>, SpaceError> {
        let mut lines = Vec::with_capacity(self.entries.len() * 256);
        write_line(&mut lines, &Head { placet_tree: VERSION, root: self.root.clone() })?;
        self.entries.iter().try_for_each(|entry| write_line(&mut lines, entry))?;
        Ok(lines)
    }

    pub(super) fn from_lines(lines: &[u8]) -> Result<Self, serde_json::Error> {
        let mut lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let head: Head = serde_json::from_slice(lines.next().unwrap_or_default())?;
        if head.placet_tree != VERSION {
            return Err(serde::de::Error::custom("it was written by another version"));
        }
        let entries = lines.map(serde_json::from_slice).collect::<Result<Vec<Entry>, _>>()?;
        if !entries.is_sorted_by(|one, next| in_order(&one.path, &next.path) == Ordering::Less) {
            return Err(serde::de::Error::custom("its entries are not in order"));
        }
        let tree = Self { root: head.root, entries };
        match tree.entries.iter().find(|entry| !tree.has_file_of(entry)) {
            Some(_) => Err(serde::de::Error::custom("it has another name of a file that it does not have")),
            None => Ok(tree),
        }
    }

    /// Whether a twin comes after the file it is a name of.
    fn has_file_of(&self, entry: &Entry) -> bool {
        match &entry.kind {
            Kind::Twin(first) => {
                in_order(first, &entry.path).is_lt() && self.get(first).is_some_and(|file| file.digest().is_some())
            }
            Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => true,
        }
    }

    pub(super) fn digest(&self) -> Result<Digest, SpaceError> {
        self.to_lines().map(|lines| Digest::of(&lines))
    }

    pub(super) fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.position(path).map(|at| &self.entries[at])
    }

    pub(super) fn position(&self, path: &TreePath) -> Option<usize> {
        self.entries.binary_search_by(|entry| in_order(&entry.path, path)).ok()
    }

    /// Files, and the bytes in them.
    pub(super) fn totals(&self) -> (u64, u64) {
        let files = self.entries.iter().filter(|entry| entry.digest().is_some());
        files.fold((0, 0), |(files, bytes), entry| (files + 1, bytes + entry.size_bytes()))
    }
}

fn write_line(lines: &mut Vec<u8>, value: &impl Serialize) -> Result<(), SpaceError> {
    serde_json::to_writer(&mut *lines, value).map_err(SpaceError::unwritable)?;
    lines.push(b'\n');
    Ok(())
}

/// The order of a walk that lists each directory by name: what is in a directory comes right after it.
pub(super) fn in_order(one: &TreePath, other: &TreePath) -> Ordering {
    one.names().cmp(other.names())
}

/// Both sides of each path that is in either of two lists, in order.
pub(super) fn side_by_side<'a, 'b>(
    one: &'a [Entry],
    other: &'b [Entry],
) -> impl Iterator<Item = (Option<&'a Entry>, Option<&'b Entry>)> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (one.peek(), other.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => in_order(&left.path, &right.path),
        };
        Some((one.next_if(|_| order != Ordering::Greater), other.next_if(|_| order != Ordering::Less)))
    })
}
