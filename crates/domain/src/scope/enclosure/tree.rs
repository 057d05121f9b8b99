//! The tree that is enclosed: what exists, by name.

use std::collections::BTreeMap;

/// What a path leads to that is no directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    File,
    /// A symbolic link, which no mount can make writable on its own.
    Link,
}

/// Something with a name. What has entries is a directory.
#[derive(Debug, Clone)]
pub(super) struct Node {
    leaf: Leaf,
    entries: Entries,
}

/// What a node is.
pub(super) enum Seen<'tree> {
    Leaf(Leaf),
    Directory(&'tree Entries),
}

pub(super) type Entries = BTreeMap<Vec<u8>, Node>;

impl Node {
    pub(super) fn seen(&self) -> Seen<'_> {
        if self.entries.is_empty() { Seen::Leaf(self.leaf) } else { Seen::Directory(&self.entries) }
    }
}

/// The files and links of a tree. Directories are those that something is in.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub(super) entries: Entries,
}

impl Tree {
    /// From paths as git lists them: relative, in any order, without `.` and `..`. Whatever another path leads through is a
    /// directory.
    pub fn new<'path>(paths: impl IntoIterator<Item = (&'path [u8], Leaf)>) -> Self {
        let mut tree = Self::default();
        for (path, leaf) in paths {
            let mut entries = &mut tree.entries;
            for name in path.split(|byte| *byte == b'/') {
                let node = entries.entry(name.to_vec()).or_insert_with(|| Node { leaf, entries: Entries::new() });
                entries = &mut node.entries;
            }
        }
        tree
    }
}

/// A path below another; the root is empty.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// The directory a path is in; that of the root is the root.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |slash| &path[..slash])
}

/// Whether a path is a directory or something in it, at any depth.
pub(super) fn is_in(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_lead_through_is_a_directory_in_any_order() {
        for paths in [["a", "a/b"], ["a/b", "a"]] {
            let tree = Tree::new(paths.map(|path| (path.as_bytes(), Leaf::Link)));
            assert!(matches!(tree.entries[&b"a"[..]].seen(), Seen::Directory(entries) if entries.len() == 1));
        }
    }

    #[test]
    fn neighbours_with_the_same_beginning_are_not_in_a_directory() {
        assert!(is_in(b"a/b", b"a") && is_in(b"a", b"a") && is_in(b"a", b""));
        assert!(!is_in(b"ab", b"a") && !is_in(b"a", b"a/b"));
        assert_eq!((parent(b"a/b/c"), parent(b"a"), join(b"", b"a")), (&b"a/b"[..], &b""[..], b"a".to_vec()));
    }
}
