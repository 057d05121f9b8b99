//! Reads a live tree: everything in it in order, bounded, with nothing followed and nothing opened but plain files and
//! directories. What an index knows is not read again.

use std::collections::HashMap;
use std::fs::File;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::attributes;
use super::closed::Closed;
use super::entry::{Entry, Kind, Meta, Sort};
use super::error::SpaceError;
use super::index::{Known, Stamp};
use super::objects::Objects;
use super::root::{self, Root};
use super::tree::{Tree, in_order};
use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::Special;
use crate::limits::{Limits, Meter};
use crate::path::{RawBytes, TreePath};

/// Something that is not saved: a pipe, a socket, a device. It was not opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it is.
    pub path: TreePath,
    /// What it is.
    pub what: Special,
}

/// What to do with content that has to be read.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    /// Only its digest is wanted.
    Named,
    /// It is kept as an object, too, unless it is one already.
    Kept(&'a Objects),
}

/// How the index is used.
#[derive(Clone, Copy)]
pub(super) enum Trust<'a> {
    /// A file whose stamp is the same is the same: nobody can write to this tree while no cage holds it.
    Stamps(&'a Known<'a>),
    /// Everything is read: a program that sleeps may have mapped its files, and a write through a map leaves no trace.
    Nothing(Option<&'a Tree>),
}

/// A tree as it is now.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) tree: Tree,
    pub(super) stamps: Vec<Option<Stamp>>,
    /// Entries, by position, that are not what they were in the index.
    pub(super) fresh: Vec<usize>,
    pub(super) refused: Vec<Refused>,
}

pub(super) fn scan(
    root: &Root<'_>,
    trust: Trust<'_>,
    content: Content<'_>,
    limits: Limits,
) -> Result<Scan, SpaceError> {
    let (known, stamps) = match trust {
        Trust::Stamps(known) => (Some(&*known.tree), known.stamps.as_slice()),
        Trust::Nothing(tree) => (tree, &[][..]),
    };
    let mut scanning = Scanning {
        known: known.map_or(&[], |tree| &tree.entries),
        known_stamps: stamps,
        cursor: 0,
        content,
        meter: Meter::new(limits),
        twins: HashMap::new(),
        found: Scan {
            tree: Tree { root: Meta::none(), entries: Vec::new() },
            stamps: Vec::new(),
            fresh: Vec::new(),
            refused: Vec::new(),
        },
    };
    scanning.directory(root, None, 1)?;
    scanning.found.tree.root = root.meta()?;
    Ok(scanning.found)
}

/// What one name in a directory stands for; for a check of what was just made there.
pub(super) fn look(dir: &Dir, path: &TreePath, limits: Limits) -> Result<Option<Entry>, SpaceError> {
    let mut reading = Reading { content: Content::Named, before: None, meter: &mut Meter::new(limits) };
    let stat = dir.stat(path.name()).doing("look at", path)?;
    let _closed = Closed::open_up(dir, path.name(), &stat).doing("open up", path)?;
    reading.entry(dir, path, &stat, Sort::of(&stat))
}

struct Scanning<'a> {
    known: &'a [Entry],
    known_stamps: &'a [Option<Stamp>],
    /// Everything before it in the index comes before what is read now.
    cursor: usize,
    content: Content<'a>,
    meter: Meter,
    /// Files with several names, by inode, with their first name.
    twins: HashMap<u64, TreePath>,
    found: Scan,
}

impl Scanning<'_> {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, depth: usize) -> Result<(), SpaceError> {
        for name in self.meter.names(dir, shown(at))? {
            self.meter.entry(depth)?;
            let path = TreePath::below(at, &name)?;
            self.meter.described(path.as_bytes().len())?;
            let stat = dir.stat(&name).doing("look at", &path)?;
            self.one(dir, path, &stat, depth)?;
        }
        Ok(())
    }

    fn one(&mut self, dir: &Dir, path: TreePath, stat: &Stat, depth: usize) -> Result<(), SpaceError> {
        let sort = Sort::of(stat);
        let before = self.before(&path);
        if let Some(first) = self.first_name(&path, stat, sort) {
            self.meter.described(first.as_bytes().len())?;
            let twin = Entry { path, kind: Kind::Twin(first), meta: Meta::none() };
            self.push(twin, None, before);
            return Ok(());
        }
        let closed = Closed::open_up(dir, path.name(), stat).doing("open up", &path)?;
        let inner = if sort == Sort::Directory { Some(dir.dir(path.name()).doing("open", &path)?) } else { None };
        let (entry, stamp) = match self.by_stamp(before, stat) {
            Some(entry) => {
                self.meter.described(entry.described_bytes())?;
                (entry, Some(Stamp::new(stat)))
            }
            None => match self.read(dir, &path, stat, before)? {
                Some(entry) => (entry, None),
                None => return Ok(()),
            },
        };
        let (position, stamped) = (self.found.stamps.len(), stamp.is_some() || sort == Sort::Whiteout);
        self.push(entry, stamp, before);
        if let Some(inner) = inner {
            self.directory(&inner, Some(&path), depth + 1)?;
        }
        drop(closed);
        if !stamped {
            // Last: what was opened up for reading has another time now.
            self.found.stamps[position] = Some(Stamp::new(&dir.stat(path.name()).doing("look at", &path)?));
        }
        Ok(())
    }

    /// Where in the index this path is.
    fn before(&mut self, path: &TreePath) -> Option<usize> {
        while self.known.get(self.cursor).is_some_and(|entry| in_order(&entry.path, path).is_lt()) {
            self.cursor += 1;
        }
        self.known.get(self.cursor).filter(|entry| entry.path == *path).map(|_| self.cursor)
    }

    /// The other name under which this file was met already.
    fn first_name(&mut self, path: &TreePath, stat: &Stat, sort: Sort) -> Option<TreePath> {
        if sort != Sort::File || stat.st_nlink < 2 {
            return None;
        }
        let first = self.twins.entry(stat.st_ino).or_insert_with(|| path.clone());
        (*first != *path).then(|| first.clone())
    }

    /// What the index has there, if it is still that.
    fn by_stamp(&mut self, before: Option<usize>, stat: &Stat) -> Option<Entry> {
        let before = before?;
        let then = self.known_stamps.get(before).copied().flatten()?;
        let entry = self.known.get(before).filter(|entry| !matches!(entry.kind, Kind::Twin(_)))?;
        (then == Stamp::new(stat)).then(|| entry.clone())
    }

    fn read(
        &mut self,
        dir: &Dir,
        path: &TreePath,
        stat: &Stat,
        before: Option<usize>,
    ) -> Result<Option<Entry>, SpaceError> {
        let sort = Sort::of(stat);
        if let Sort::Refused(what) = sort {
            self.found.refused.push(Refused { path: path.clone(), what });
        }
        let same_size = |entry: &&Entry| u64::try_from(stat.st_size) == Ok(entry.size_bytes());
        let before = before.map(|before| &self.known[before]).filter(same_size).and_then(Entry::digest);
        Reading { content: self.content, before, meter: &mut self.meter }.entry(dir, path, stat, sort)
    }

    fn push(&mut self, entry: Entry, stamp: Option<Stamp>, before: Option<usize>) {
        if stamp.is_none() && before.is_none_or(|before| self.known[before] != entry) {
            self.found.fresh.push(self.found.tree.entries.len());
        }
        self.found.tree.entries.push(entry);
        self.found.stamps.push(stamp);
    }
}

struct Reading<'a> {
    content: Content<'a>,
    /// What the file was when it was last kept.
    before: Option<Digest>,
    meter: &'a mut Meter,
}

impl Reading<'_> {
    /// Nothing for what is not saved.
    fn entry(&mut self, dir: &Dir, path: &TreePath, stat: &Stat, sort: Sort) -> Result<Option<Entry>, SpaceError> {
        let (kind, meta) = match sort {
            Sort::File => self.file(dir, path, stat)?,
            Sort::Directory => {
                let inner = dir.dir(path.name()).doing("open", path)?;
                let attributes = attributes::read(&inner, self.meter, path)?;
                (Kind::Directory, Meta::new(stat, attributes))
            }
            Sort::Symlink => {
                let target = dir.link_target(path.name()).doing("read the link", path)?;
                self.meter.described(target.len())?;
                (Kind::Symlink(RawBytes::new(target)), Meta::of_link(stat))
            }
            Sort::Whiteout => (Kind::Whiteout, Meta::none()),
            Sort::Refused(_) => return Ok(None),
        };
        Ok(Some(Entry { path: path.clone(), kind, meta }))
    }

    fn file(&mut self, dir: &Dir, path: &TreePath, stat: &Stat) -> Result<(Kind, Meta), SpaceError> {
        let (mut file, opened) = dir.file(path.name()).doing("open", path)?;
        let size_bytes = u64::try_from(opened.st_size).unwrap_or_default();
        self.meter.bytes(size_bytes)?;
        let (digest, read) = self.content(&mut file, size_bytes, path)?;
        let attributes = attributes::read(&file, self.meter, path)?;
        let after = rustix::fs::fstat(&file).doing("look at", path)?;
        if read != size_bytes || Stamp::new(&after) != Stamp::new(&opened) || opened.st_ino != stat.st_ino {
            return Err(LayerError::Moving(path.clone()).into());
        }
        Ok((Kind::File { size_bytes, digest }, Meta::new(stat, attributes)))
    }

    fn content(&self, file: &mut File, size_bytes: u64, path: &TreePath) -> Result<(Digest, u64), SpaceError> {
        let name = |file: &mut File| Digest::of_reader(std::io::Read::take(file, size_bytes + 1)).doing("read", path);
        match (self.content, self.before) {
            (Content::Named, _) => Ok(name(file)?),
            (Content::Kept(objects), None) => objects.keep(file, size_bytes, path),
            (Content::Kept(objects), Some(before)) => match name(file)? {
                (digest, read_bytes) if digest == before => Ok((digest, read_bytes)),
                _ => objects.keep(file, size_bytes, path),
            },
        }
    }
}

pub(super) fn directory_meta(dir: &Dir, shown: impl ToString) -> Result<Meta, SpaceError> {
    let shown = shown.to_string();
    let stat = dir.own_stat().doing("look at", &shown)?;
    let attributes = attributes::read(dir, &mut Meter::new(Limits::default()), &shown)?;
    Ok(Meta::new(&stat, attributes))
}

fn shown(at: Option<&TreePath>) -> String {
    at.map_or_else(|| root::SHOWN.to_owned(), ToString::to_string)
}
