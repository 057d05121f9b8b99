//! Reads what git prints with `--raw -z`: a header, then one name or two, each ended by a NUL byte.
//!
//! A name is whatever stands where a name belongs; nothing in it can be taken for a header.

use super::{Difference, DifferenceError, DifferenceKind, Entry, Origin};
use crate::git::{ObjectId, is_hex};
use crate::path::TreePath;

/// One entry, with the object it stands for now.
pub(super) struct Raw {
    pub(super) difference: Difference,
    pub(super) object: Vec<u8>,
}

/// Everything in one answer. Lines with nothing but an object name tell which commit follows.
pub(super) fn parse(printed: &[u8], origin: Origin) -> Result<Vec<Raw>, DifferenceError> {
    let (mut found, mut commit) = (Vec::new(), None);
    let mut parts = printed.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        let Some(header) = part.strip_prefix(b":") else {
            commit = Some(commit_name(part)?);
            continue;
        };
        let header = Header::parse(header).ok_or_else(|| unexpected(part))?;
        let mut name = || parts.next().ok_or_else(|| unexpected(part));
        let (first, second) = (name()?, if header.has_two_names() { Some(name()?) } else { None });
        let (path, old_path) = match second {
            Some(second) => (TreePath::new(second)?, Some(TreePath::new(first)?)),
            None => (TreePath::new(first)?, None),
        };
        let mut difference = Difference::new(path, origin, header.kind());
        (difference.old_path, difference.old, difference.new) = (old_path, header.old_entry(), header.new_entry());
        difference.commit.clone_from(&commit);
        found.push(Raw { difference, object: header.object().to_vec() });
    }
    Ok(found)
}

fn commit_name(part: &[u8]) -> Result<ObjectId, DifferenceError> {
    let plain = part.iter().all(|&byte| is_hex(byte)).then_some(part);
    let name = plain.and_then(|part| std::str::from_utf8(part).ok()).and_then(|part| part.parse().ok());
    name.ok_or_else(|| unexpected(part))
}

pub(super) fn unexpected(part: &[u8]) -> DifferenceError {
    DifferenceError::Answer(String::from_utf8_lossy(&part[..part.len().min(80)]).escape_debug().to_string())
}

/// Modes, objects and status. A merge has one old mode and object for each parent, and as many letters.
struct Header<'a> {
    words: Vec<&'a [u8]>,
    parents: usize,
}

impl<'a> Header<'a> {
    /// The first colon is gone already.
    fn parse(header: &'a [u8]) -> Option<Self> {
        let more = header.iter().take_while(|&&byte| byte == b':').count();
        let (parents, words) = (more + 1, header[more..].split(|&byte| byte == b' ').collect::<Vec<_>>());
        (words.len() == 2 * parents + 3 && !words[2 * parents + 2].is_empty()).then_some(Self { words, parents })
    }

    fn status(&self) -> &'a [u8] {
        self.words[2 * self.parents + 2]
    }

    fn has_two_names(&self) -> bool {
        self.parents == 1 && matches!(self.status().first(), Some(b'R' | b'C'))
    }

    fn old_entry(&self) -> Option<Entry> {
        self.words[..self.parents].iter().find_map(|mode| Entry::from_mode(mode))
    }

    fn new_entry(&self) -> Option<Entry> {
        Entry::from_mode(self.words[self.parents])
    }

    fn object(&self) -> &'a [u8] {
        self.words[2 * self.parents + 1]
    }

    fn kind(&self) -> DifferenceKind {
        let same_content = self.words[self.parents + 1] == self.object();
        match self.status()[0] {
            b'A' => DifferenceKind::Added,
            b'D' => DifferenceKind::Deleted,
            b'R' if self.parents == 1 => DifferenceKind::Renamed,
            b'C' if self.parents == 1 => DifferenceKind::Copied,
            b'T' => DifferenceKind::TypeChanged,
            b'U' => DifferenceKind::Unmerged,
            b'M' if same_content && self.old_entry() != self.new_entry() => DifferenceKind::ModeChanged,
            _ => DifferenceKind::Modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(printed: &[u8]) -> Vec<String> {
        let parsed = parse(printed, Origin::Committed).unwrap();
        parsed
            .iter()
            .map(|raw| {
                let Difference { path, old_path, kind, old, new, .. } = &raw.difference;
                format!("{kind:?} {path} {old_path:?} {old:?} {new:?}")
            })
            .collect()
    }

    #[test]
    fn headers_and_names_are_told_apart_whatever_is_in_a_name() {
        let (zero, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let printed = format!(
            "{one}\0:000000 100644 {zero} {one} A\0:100644 evil\0:100644 100755 {one} {one} M\0{two}\0\
             :100644 100644 {one} {one} R100\0a\0b\n\0:100644 120000 {one} {two} T\0l\0::100644 100755 100644 {one} {two} {zero} MM\0m\0"
        );
        let expected = [
            "Added :100644 evil None None Some(File)".to_owned(),
            format!("ModeChanged {two} None Some(File) Some(Program)"),
            "Renamed b%0A Some(`a`) Some(File) Some(File)".to_owned(),
            "TypeChanged l None Some(File) Some(Link)".to_owned(),
            "Modified m None Some(File) Some(File)".to_owned(),
        ];
        assert_eq!(told(printed.as_bytes()), expected);
    }

    #[test]
    fn what_git_does_not_print_is_refused() {
        for bad in ["x\0", ":100644\0", ":100644 100644 a b A\0", ":100644 100644 a b A\0../x\0", "::1 2 3\0x\0"] {
            assert!(parse(bad.as_bytes(), Origin::Staged).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes, Origin::Committed);
        }
    }
}
