//! Walks a tree as it lies on disk: names that git does not track, repositories inside, and what git does not keep.
//!
//! Nothing is opened but directories. A directory that the caller may not list ends the walk: what is in it cannot be told.

use std::mem::MaybeUninit;

use rustix::fs::{FileType, RawDir, Stat};

use super::{DifferenceError, Entry};
use crate::dir::Dir;
use crate::error::Doing;
use crate::layer::Special;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

/// What git looks for in every directory, and would open whatever it is.
const RULES: &[&[u8]] = &[b".gitattributes", b".gitignore", b".gitmodules"];

/// What a directory has that is a repository without files.
const BARE: &[&[u8]] = &[b"HEAD", b"objects", b"refs"];

/// How much of a tree is walked: more than is read, because nothing of it is read.
const LIMITS: Limits = Limits { entries: 5_000_000, depth: 500, bytes: u64::MAX, described_bytes: u64::MAX };

/// A directory is listed in pieces of this size.
const LISTED_BYTES: usize = 32 << 10;

/// What is in a tree, less what git tracks.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Files and links that git does not track, in no particular order.
    pub(super) others: Vec<Vec<u8>>,
    /// What git does not keep.
    pub(super) specials: Vec<(TreePath, Special)>,
    /// Directories with a repository of their own.
    pub(super) repositories: Vec<TreePath>,
}

/// Everything in this directory but files that are tracked. `.git` at its root is not looked into.
pub(super) fn walk(root: &Dir, is_tracked: impl Fn(&[u8]) -> bool) -> Result<Walked, DifferenceError> {
    let (walked, meter) = (Walked::default(), Meter::new(LIMITS));
    let buffer = vec![MaybeUninit::uninit(); LISTED_BYTES];
    let mut walking = Walking { walked, meter, is_tracked, at: Vec::new(), buffer };
    let root = root.dir(b".").doing("open", "the root")?;
    walking.directory(&root, 1)?;
    Ok(walking.walked)
}

/// Millions of names are looked at; only those that count are kept.
struct Walking<Tracked> {
    walked: Walked,
    meter: Meter,
    is_tracked: Tracked,
    /// Where the walk is.
    at: Vec<u8>,
    buffer: Vec<MaybeUninit<u8>>,
}

/// What is asked about a directory as a whole.
#[derive(Default)]
struct Listed {
    directories: Vec<Vec<u8>>,
    has_git: bool,
    /// Parts that together make a bare repository.
    parts: usize,
}

impl<Tracked: Fn(&[u8]) -> bool> Walking<Tracked> {
    fn directory(&mut self, dir: &Dir, depth: usize) -> Result<(), DifferenceError> {
        let listed = self.list(dir, depth)?;
        if !self.at.is_empty() && (listed.has_git || listed.parts == BARE.len()) {
            self.walked.repositories.push(TreePath::new(self.at.as_slice())?);
        }
        for name in &listed.directories {
            let length = self.enter(name);
            let inner = dir.dir(name).doing("open", String::from_utf8_lossy(&self.at))?;
            self.directory(&inner, depth + 1)?;
            self.at.truncate(length);
        }
        Ok(())
    }

    fn list(&mut self, dir: &Dir, depth: usize) -> Result<Listed, DifferenceError> {
        let mut listed = Listed::default();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = RawDir::new(dir, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.doing("list", String::from_utf8_lossy(&self.at))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                self.meter.entry(depth)?;
                self.entry(dir, name, entry.file_type(), &mut listed)?;
            }
        }
        self.buffer = buffer;
        Ok(listed)
    }

    fn entry(&mut self, dir: &Dir, name: &[u8], kind: FileType, listed: &mut Listed) -> Result<(), DifferenceError> {
        listed.parts += usize::from(BARE.contains(&name));
        if name == b".git" {
            listed.has_git = true;
            return Ok(());
        }
        let length = self.enter(name);
        let kind = if kind == FileType::Unknown { self.look(dir, name)? } else { kind };
        match kind {
            FileType::Directory => listed.directories.push(name.to_vec()),
            FileType::RegularFile | FileType::Symlink if (self.is_tracked)(&self.at) => {}
            FileType::RegularFile | FileType::Symlink => self.walked.others.push(self.at.clone()),
            FileType::Fifo => self.special(name, Special::Pipe)?,
            FileType::Socket => self.special(name, Special::Socket)?,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
                self.special(name, Special::Device)?;
            }
        }
        self.at.truncate(length);
        Ok(())
    }

    /// Some file systems do not tell what a name stands for.
    fn look(&self, dir: &Dir, name: &[u8]) -> Result<FileType, DifferenceError> {
        Ok(file_type(&dir.stat(name).doing("look at", String::from_utf8_lossy(&self.at))?))
    }

    /// One step down; how long the path was before.
    fn enter(&mut self, name: &[u8]) -> usize {
        let length = self.at.len();
        if length > 0 {
            self.at.push(b'/');
        }
        self.at.extend_from_slice(name);
        length
    }

    fn special(&mut self, name: &[u8], what: Special) -> Result<(), DifferenceError> {
        let path = TreePath::new(self.at.as_slice())?;
        if RULES.contains(&name) {
            return Err(DifferenceError::Blocked { path, what });
        }
        self.walked.specials.push((path, what));
        Ok(())
    }
}

pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// What a file or link is in git's words.
pub(super) fn entry_of(stat: &Stat) -> Entry {
    if file_type(stat) == FileType::Symlink {
        Entry::Link
    } else if stat.st_mode & 0o100 != 0 {
        Entry::Program
    } else {
        Entry::File
    }
}
