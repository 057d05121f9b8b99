//! What is in an index: the names that git tracks, and what in it tells git to look away.
//!
//! The file is read here, because git takes several times as long to print it. One in a form that is not known here, or
//! with anything in it that was not expected, is left to git: every doubt costs time, and nothing else.

use std::collections::HashSet;
use std::io::Read;
use std::ops::Range;

use super::DifferenceError;
use super::raw::unexpected;
use crate::dir::Dir;
use crate::git::Git;
use crate::worktree::Worktree;

/// Times, numbers, owners, mode and size of a file, before the name of its object.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
const SIZE_AT: usize = 36;

/// In the flags of an entry.
const ASSUMED: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const LENGTH: u16 = 0x0fff;

/// In the flags that only an extended entry has.
const SKIPPED: u16 = 0x4000;

/// What kind of thing a mode stands for.
const KIND: u32 = 0o170_000;
const SUBMODULE: u32 = 0o160_000;

/// Every entry of an index, as it was read.
#[derive(Debug)]
pub(super) struct Listing {
    bytes: Vec<u8>,
    entries: Vec<Listed>,
}

#[derive(Debug)]
struct Listed {
    /// Where the entry begins.
    at: usize,
    name: Range<usize>,
    assumed: bool,
    skipped: bool,
    submodule: bool,
}

impl Listing {
    /// The index of a worktree.
    pub(super) fn read(worktree: &Worktree, git: &Git) -> Result<Self, DifferenceError> {
        let object_bytes = worktree.base().as_str().len() / 2;
        if let Some(listing) = read_file(worktree).and_then(|bytes| Self::from_file(bytes, object_bytes)) {
            return Ok(listing);
        }
        Self::from_printed(git.run(["ls-files", "-z", "-v", "--stage"])?)
    }

    /// `tag mode object stage<TAB>path`, each ended by NUL.
    fn from_printed(bytes: Vec<u8>) -> Result<Self, DifferenceError> {
        let (mut entries, mut at) = (Vec::new(), 0);
        for entry in bytes.split(|&byte| byte == 0) {
            if !entry.is_empty() {
                let tab = entry.iter().position(|&byte| byte == b'\t').ok_or_else(|| unexpected(entry))?;
                entries.push(Listed {
                    at,
                    name: at + tab + 1..at + entry.len(),
                    assumed: entry[0].is_ascii_lowercase(),
                    skipped: entry[0].eq_ignore_ascii_case(&b'S'),
                    submodule: entry[1..].starts_with(b" 160000 "),
                });
            }
            at += entry.len() + 1;
        }
        Ok(Self { bytes, entries })
    }

    /// A header, entries, extensions, a checksum. Nothing, if it is not exactly that.
    fn from_file(bytes: Vec<u8>, object_bytes: usize) -> Option<Self> {
        let version = number(&bytes, 4).filter(|version| bytes.starts_with(b"DIRC") && matches!(version, 2 | 3))?;
        let count = usize::try_from(number(&bytes, 8)?).ok()?;
        let mut entries = Vec::with_capacity(count.min(bytes.len() / STAT_BYTES));
        let mut at = 12;
        for _ in 0..count {
            let (entry, next) = entry(&bytes, at, version, object_bytes)?;
            entries.push(entry);
            at = next;
        }
        let end = bytes.len().checked_sub(object_bytes)?;
        while at < end {
            // One that git must know begins with a small letter: entries are elsewhere, or stand for many.
            let size = usize::try_from(number(&bytes, at + 4)?).ok()?;
            bytes.get(at).filter(|first| first.is_ascii_uppercase())?;
            at = at.checked_add(8)?.checked_add(size)?;
        }
        (at == end).then_some(Self { bytes, entries })
    }
}

/// How much room the files of a worktree take that was just checked out, with the directories they are in, where room is
/// given in blocks of this size. Nothing, if the index is in a form that is not known here.
pub(crate) fn expected_bytes(worktree: &Worktree, block_bytes: u64) -> Option<u64> {
    let object_bytes = worktree.base().as_str().len() / 2;
    let listing = Listing::from_file(read_file(worktree)?, object_bytes)?;
    listing.expected_bytes(block_bytes)
}

impl Listing {
    fn expected_bytes(&self, block_bytes: u64) -> Option<u64> {
        let (mut blocks, mut before) = (0, &[][..]);
        for entry in &self.entries {
            let name = &self.bytes[entry.name.clone()];
            let size = number(&self.bytes, entry.at.checked_add(SIZE_AT)?)?;
            blocks += u64::from(size).div_ceil(block_bytes) + new_directories(before, name);
            before = name;
        }
        blocks.checked_mul(block_bytes)
    }
}

/// How many directories a path is in and the one before it in the order of an index is not.
fn new_directories(before: &[u8], path: &[u8]) -> u64 {
    let same = before.iter().zip(path).take_while(|(one, other)| one == other).count();
    path[same..].iter().filter(|&&byte| byte == b'/').count() as u64
}

/// A plain file, or nothing.
fn read_file(worktree: &Worktree) -> Option<Vec<u8>> {
    let (mut file, stat) = Dir::open(&worktree.git_dir()).and_then(|dir| dir.file(b"index")).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).ok()?);
    file.read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// The entry that begins here, and where the next one does.
fn entry(bytes: &[u8], at: usize, version: u32, object_bytes: usize) -> Option<(Listed, usize)> {
    let flags_at = at + STAT_BYTES + object_bytes;
    let flags = half(bytes, flags_at)?;
    let (more, start) = match (flags & EXTENDED, version) {
        (0, _) => (0, flags_at + 2),
        (_, 3) => (half(bytes, flags_at + 2)?, flags_at + 4),
        (_, _) => return None,
    };
    // The length of a longer name does not fit.
    let least = usize::from(flags & LENGTH);
    let length = bytes.get(start..)?.iter().position(|&byte| byte == 0)?;
    if length == 0 || length < least || (length > least && least != usize::from(LENGTH)) {
        return None;
    }
    let name = start..start + length;
    // Ended by one to eight NUL bytes.
    let next = at + (name.end - at + 8) / 8 * 8;
    bytes.get(name.end..next)?.iter().all(|&byte| byte == 0).then_some(())?;
    let submodule = number(bytes, at + MODE_AT)? & KIND == SUBMODULE;
    Some((Listed { at, name, assumed: flags & ASSUMED != 0, skipped: more & SKIPPED != 0, submodule }, next))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

/// What is in an index.
pub(super) struct Index<'a> {
    paths: HashSet<&'a [u8]>,
    /// Entries that git is told not to look at: bits for `assume-unchanged` and for `skip-worktree`.
    pub(super) assumed: Vec<&'a [u8]>,
    pub(super) skipped: Vec<&'a [u8]>,
    submodules: HashSet<&'a [u8]>,
}

impl<'a> Index<'a> {
    pub(super) fn new(listing: &'a Listing) -> Self {
        let name = |entry: &Listed| &listing.bytes[entry.name.clone()];
        let of = |bit: fn(&&Listed) -> bool| listing.entries.iter().filter(bit).map(name);
        Self {
            paths: listing.entries.iter().map(name).collect(),
            assumed: of(|entry| entry.assumed).collect(),
            skipped: of(|entry| entry.skipped).collect(),
            submodules: of(|entry| entry.submodule).collect(),
        }
    }

    /// Whether git tracks this path.
    pub(super) fn tracks(&self, path: &[u8]) -> bool {
        self.paths.contains(path)
    }

    /// Whether commits of other repositories belong somewhere.
    pub(super) fn has_submodules(&self) -> bool {
        !self.submodules.is_empty()
    }

    /// Whether a path lies where a submodule belongs: rules of this repository do not reach there.
    pub(super) fn is_in_submodule(&self, path: &[u8]) -> bool {
        self.has_submodules()
            && path.iter().enumerate().any(|(at, &byte)| byte == b'/' && self.submodules.contains(&path[..at]))
    }
}

#[cfg(test)]
mod tests;
