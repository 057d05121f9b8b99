//! Walks a tree as it lies on disk: every name that is no directory, repositories inside, and what git does not keep.
//!
//! Nothing is opened but directories. A directory that the caller may not list ends the walk: what is in it cannot be told.

use rustix::fs::{FileType, Stat};

use super::{DifferenceError, Entry};
use crate::dir::Dir;
use crate::error::Doing;
use crate::layer::Special;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

/// What git looks for in every directory, and would open whatever it is.
const RULES: &[&[u8]] = &[b".gitattributes", b".gitignore", b".gitmodules"];

/// How much of a tree is walked: more than is read, because nothing of it is read.
const LIMITS: Limits = Limits { entries: 5_000_000, depth: 500, bytes: u64::MAX };

/// Everything in a tree.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Files and links, in no particular order.
    pub(super) files: Vec<Vec<u8>>,
    /// What git does not keep.
    pub(super) specials: Vec<(TreePath, Special)>,
    /// Directories with a repository of their own.
    pub(super) repositories: Vec<TreePath>,
}

/// Everything in this directory. `.git` at its root is not looked into.
pub(super) fn walk(root: &Dir) -> Result<Walked, DifferenceError> {
    let mut walking = Walking { walked: Walked::default(), meter: Meter::new(LIMITS) };
    walking.directory(root, &[], 1)?;
    Ok(walking.walked)
}

struct Walking {
    walked: Walked,
    meter: Meter,
}

impl Walking {
    fn directory(&mut self, dir: &Dir, at: &[u8], depth: usize) -> Result<(), DifferenceError> {
        let entries = dir.entries().doing("list", String::from_utf8_lossy(at))?;
        let has = |name: &[u8]| entries.iter().any(|(each, _)| each == name);
        if !at.is_empty() && (has(b".git") || has(b"HEAD") && has(b"objects") && has(b"refs")) {
            self.walked.repositories.push(TreePath::new(at)?);
        }
        for (name, kind) in &entries {
            self.meter.entry(depth)?;
            if name == b".git" {
                continue;
            }
            let path = if at.is_empty() { name.clone() } else { [at, b"/", name].concat() };
            let mut kind = *kind;
            if kind == FileType::Unknown {
                kind = file_type(&dir.stat(name).doing("look at", String::from_utf8_lossy(&path))?);
            }
            self.entry(dir, name, path, kind, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        dir: &Dir,
        name: &[u8],
        path: Vec<u8>,
        kind: FileType,
        depth: usize,
    ) -> Result<(), DifferenceError> {
        match kind {
            FileType::Directory => {
                let inner = dir.dir(name).doing("open", String::from_utf8_lossy(&path))?;
                self.directory(&inner, &path, depth + 1)
            }
            FileType::RegularFile | FileType::Symlink => {
                self.walked.files.push(path);
                Ok(())
            }
            FileType::Fifo => self.special(path, name, Special::Pipe),
            FileType::Socket => self.special(path, name, Special::Socket),
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
                self.special(path, name, Special::Device)
            }
        }
    }

    fn special(&mut self, path: Vec<u8>, name: &[u8], what: Special) -> Result<(), DifferenceError> {
        let path = TreePath::new(path)?;
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
