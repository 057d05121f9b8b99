//! Every file of a commit, in the order of paths, as git lists them: mode and object.
//!
//! The list is kept as it was printed, and looked things up in: most of a large tree is never asked about.

use std::ops::Range;

use super::DifferenceError;
use super::raw::unexpected;
use crate::git::{Git, ObjectId};

/// What a submodule has for a mode: it is no file, whatever lies in its place.
const SUBMODULE: &[u8] = b"160000";

/// The files of a commit.
#[derive(Debug)]
pub(super) struct Tip {
    printed: Vec<u8>,
    /// In the order of paths.
    entries: Vec<Listed>,
}

#[derive(Debug)]
struct Listed {
    mode: Range<usize>,
    object: Range<usize>,
    path: Range<usize>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blob<'a> {
    pub(super) path: &'a [u8],
    pub(super) mode: &'a [u8],
    pub(super) object: &'a [u8],
}

impl Blob<'_> {
    pub(super) fn is_submodule(&self) -> bool {
        self.mode == SUBMODULE
    }
}

impl Tip {
    pub(super) fn read(git: &Git, commit: &ObjectId) -> Result<Self, DifferenceError> {
        Self::parse(git.run(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()])?)
    }

    /// `mode kind object<TAB>path`, each ended by NUL.
    pub(super) fn parse(printed: Vec<u8>) -> Result<Self, DifferenceError> {
        let (mut entries, mut at) = (Vec::new(), 0);
        for line in printed.split(|&byte| byte == 0) {
            if !line.is_empty() {
                entries.push(listed(line, at).ok_or_else(|| unexpected(line))?);
            }
            at += line.len() + 1;
        }
        // Git lists them so; nothing here rests on it.
        entries.sort_by(|one, other| printed[one.path.clone()].cmp(&printed[other.path.clone()]));
        Ok(Self { printed, entries })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Blob<'_>> {
        self.entries.iter().map(|entry| self.blob(entry))
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<Blob<'_>> {
        let found = self.entries.binary_search_by(|entry| self.printed[entry.path.clone()].cmp(path)).ok()?;
        Some(self.blob(&self.entries[found]))
    }

    /// What is in a directory, at any depth.
    pub(super) fn below(&self, directory: &[u8]) -> impl Iterator<Item = Blob<'_>> {
        let inside = [directory, b"/"].concat();
        let first = self.entries.partition_point(|entry| self.printed[entry.path.clone()] < inside[..]);
        let rest = self.entries[first..].iter().map(|entry| self.blob(entry));
        rest.take_while(move |blob| blob.path.starts_with(&inside))
    }

    fn blob(&self, entry: &Listed) -> Blob<'_> {
        let part = |range: &Range<usize>| &self.printed[range.clone()];
        Blob { path: part(&entry.path), mode: part(&entry.mode), object: part(&entry.object) }
    }
}

fn listed(line: &[u8], at: usize) -> Option<Listed> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let first = line[..tab].iter().position(|&byte| byte == b' ')?;
    let last = line[..tab].iter().rposition(|&byte| byte == b' ').filter(|last| *last > first)?;
    Some(Listed { mode: at..at + first, object: at + last + 1..at + tab, path: at + tab + 1..at + line.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tip() -> Tip {
        let lines = [
            "100644 blob aa\ta",
            "100755 blob bb\ta.b/x",
            "120000 blob cc\ta/x",
            "160000 commit dd\ta/y/z",
            "100644 blob ee\ta0",
        ];
        Tip::parse(lines.join("\0").into_bytes()).expect("a list")
    }

    #[test]
    fn files_are_found_by_path() {
        let tip = tip();
        let found = tip.get(b"a/x").expect("a link");
        assert_eq!((found.mode, found.object, found.is_submodule()), (&b"120000"[..], &b"cc"[..], false));
        assert!(tip.get(b"a/y/z").is_some_and(|blob| blob.is_submodule()));
        assert!(tip.get(b"a/y").is_none() && tip.get(b"").is_none());
        assert_eq!(tip.iter().count(), 5);
    }

    #[test]
    fn what_is_in_a_directory_is_not_what_begins_like_it() {
        let (tip, paths) = (tip(), |tip: &Tip, path: &[u8]| -> Vec<Vec<u8>> {
            tip.below(path).map(|blob| blob.path.to_vec()).collect()
        });
        assert_eq!(paths(&tip, b"a"), [&b"a/x"[..], b"a/y/z"]);
        assert_eq!(paths(&tip, b"a/y"), [b"a/y/z"]);
        assert_eq!(paths(&tip, b"b"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn what_git_does_not_print_is_not_understood() {
        for odd in [&b"100644"[..], b"100644 aa\tx", b"\tx", b"100644 blob aa"] {
            assert!(Tip::parse(odd.to_vec()).is_err(), "{odd:?}");
        }
    }
}
