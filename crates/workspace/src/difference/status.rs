//! Reads what `git status --porcelain=v2 -z` prints about tracked files.

use super::raw::unexpected;
use super::{Difference, DifferenceError, DifferenceKind, Entry, Origin};
use crate::path::TreePath;

/// Everything that is staged or changed.
pub(super) fn parse(printed: &[u8]) -> Result<Vec<Difference>, DifferenceError> {
    let mut found = Vec::new();
    let mut parts = printed.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        // Words up to the name, which is the rest, whatever is in it.
        let (words, old_name) = match part.first() {
            Some(b'1') => (words(part, 9)?, None),
            Some(b'2') => (words(part, 10)?, Some(parts.next().ok_or_else(|| unexpected(part))?)),
            Some(b'u') => (words(part, 11)?, None),
            Some(b'#') => continue,
            Some(_) | None => return Err(unexpected(part)),
        };
        let path = TreePath::new(*words.last().ok_or_else(|| unexpected(part))?)?;
        let old_path = old_name.map(TreePath::new).transpose()?;
        match (part[0], words[1]) {
            (b'u', _) => found.push(Difference::new(path, Origin::Unstaged, DifferenceKind::Unmerged)),
            (_, [staged, unstaged]) => {
                let (head, index, file) = (words[3], words[4], words[5]);
                let same = words[6] == words[7];
                found.extend(difference(&path, old_path.as_ref(), Origin::Staged, *staged, (head, index), same));
                found.extend(difference(&path, old_path.as_ref(), Origin::Unstaged, *unstaged, (index, file), false));
            }
            (_, _) => return Err(unexpected(part)),
        }
    }
    Ok(found)
}

fn words(part: &[u8], count: usize) -> Result<Vec<&[u8]>, DifferenceError> {
    let words: Vec<&[u8]> = part.splitn(count, |&byte| byte == b' ').collect();
    if words.len() == count { Ok(words) } else { Err(unexpected(part)) }
}

fn difference(
    path: &TreePath,
    old_path: Option<&TreePath>,
    origin: Origin,
    letter: u8,
    (old, new): (&[u8], &[u8]),
    same_content: bool,
) -> Option<Difference> {
    let (old, new) = (Entry::from_mode(old), Entry::from_mode(new));
    let kind = match letter {
        b'.' => return None,
        b'A' => DifferenceKind::Added,
        b'D' => DifferenceKind::Deleted,
        b'R' => DifferenceKind::Renamed,
        b'C' => DifferenceKind::Copied,
        b'T' => DifferenceKind::TypeChanged,
        b'U' => DifferenceKind::Unmerged,
        _ if same_content && old != new => DifferenceKind::ModeChanged,
        _ => DifferenceKind::Modified,
    };
    let mut difference = Difference::new(path.clone(), origin, kind);
    if matches!(kind, DifferenceKind::Renamed | DifferenceKind::Copied) {
        difference.old_path = old_path.cloned();
    }
    (difference.old, difference.new) = (old, new);
    Some(difference)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn staged_and_unstaged_are_two_differences_of_one_file() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let printed = format!(
            "# branch.oid x\01 MM N... 100644 100644 100755 {one} {two} a b\n\02 R. N... 100644 100644 100644 {one} {one} R100 new\0old\0\
             u UU N... 100644 100644 100644 100644 {one} {one} {two} c\01 M. N... 100644 100755 100755 {one} {one} m\0"
        );
        let told: Vec<String> = parse(printed.as_bytes())
            .unwrap()
            .iter()
            .map(|each| format!("{:?} {:?} {} {:?}", each.origin, each.kind, each.path, each.old_path))
            .collect();
        let expected = [
            "Staged Modified a b%0A None",
            "Unstaged Modified a b%0A None",
            "Staged Renamed new Some(`old`)",
            "Unstaged Unmerged c None",
            "Staged ModeChanged m None",
        ];
        assert_eq!(told, expected);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
