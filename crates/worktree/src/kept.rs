//! What mounts keep of a scope, remembered: it follows from the scope and the base, and neither of them changes.
//!
//! To work it out, every name of the base is looked at, which takes longer than to enter a cage. The note lies beside the
//! worktree's layers, where no cage sees it, and is gone with them. Its name is the digest of everything the answer
//! follows from, this program among it: a note of another scope, another base or another version is not found.

use std::os::unix::fs::MetadataExt as _;

use placet_domain::digest::Digest;
use placet_domain::scope::{Access, Enclosure, Glob, Scope};
use placet_workspace::Worktree;

/// Rules about paths and what is below them, and what holds elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) ground: Access,
    pub(crate) rules: Vec<(Vec<u8>, Access)>,
}

impl Kept {
    /// What is remembered; else what is worked out now, which is remembered then.
    pub(crate) fn of<E>(
        worktree: &Worktree,
        scope: &Scope,
        denied: &[Glob],
        work_out: impl FnOnce() -> Result<Enclosure, E>,
    ) -> Result<Self, E> {
        let name = name(worktree, scope, denied);
        let noted = name.as_deref().and_then(|name| worktree.noted(name));
        if let Some(kept) = noted.and_then(|bytes| Self::from_bytes(&bytes)) {
            return Ok(kept);
        }
        let kept = Self::from(&work_out()?);
        if let Some(name) = name {
            // Without the note it is worked out again, which takes longer and harms nobody.
            let _ = worktree.note(&name, &kept.to_bytes());
        }
        Ok(kept)
    }

    /// `access path`, each ended by NUL, which no path has; the first is about no path.
    fn to_bytes(&self) -> Vec<u8> {
        let ground = [letter(self.ground), 0];
        let rules = self.rules.iter().flat_map(|(path, access)| [&[letter(*access)], path.as_slice(), &[0]].concat());
        ground.into_iter().chain(rules).collect()
    }

    /// Nothing, if it is not exactly that.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.strip_suffix(&[0])?.split(|byte| *byte == 0).map(|line| {
            let (first, path) = line.split_first()?;
            Some((path.to_vec(), access(*first)?))
        });
        let (_, ground) = lines.next()?.filter(|(path, _)| path.is_empty())?;
        let rules = lines.map(|rule| rule.filter(|(path, _)| !path.is_empty())).collect::<Option<_>>()?;
        Some(Self { ground, rules })
    }
}

impl From<&Enclosure> for Kept {
    fn from(enclosure: &Enclosure) -> Self {
        let rules = enclosure.rules().map(|(path, access)| (path.to_vec(), access)).collect();
        Self { ground: enclosure.ground(), rules }
    }
}

const fn letter(access: Access) -> u8 {
    match access {
        Access::Writable => b'w',
        Access::ReadOnly => b'r',
    }
}

const fn access(letter: u8) -> Option<Access> {
    match letter {
        b'w' => Some(Access::Writable),
        b'r' => Some(Access::ReadOnly),
        _ => None,
    }
}

/// Everything the answer follows from. Nothing, if this program cannot be told from another version of it.
fn name(worktree: &Worktree, scope: &Scope, denied: &[Glob]) -> Option<String> {
    let program = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    let (number, written) = (program.ino(), (program.mtime(), program.mtime_nsec()));
    let denied: Vec<&str> = denied.iter().map(Glob::as_str).collect();
    let all = (number, written, program.len(), scope.version(), denied, worktree.base().as_str());
    Some(format!("kept-{}", Digest::of(&serde_json::to_vec(&all).ok()?).to_hex()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some_access() -> impl Strategy<Value = Access> {
        prop_oneof![Just(Access::Writable), Just(Access::ReadOnly)]
    }

    proptest! {
        #[test]
        fn what_is_noted_is_read_as_it_was(
            ground in some_access(),
            rules in proptest::collection::vec((proptest::collection::vec(1..=255_u8, 1..20), some_access()), 0..20),
        ) {
            let kept = Kept { ground, rules };
            prop_assert_eq!(Kept::from_bytes(&kept.to_bytes()), Some(kept));
        }

        #[test]
        fn what_was_cut_off_is_no_note(
            rules in proptest::collection::vec(("[a-z/]{1,9}", some_access()), 1..9),
            lost in 1..9_usize,
        ) {
            let rules = rules.into_iter().map(|(path, access)| (path.into_bytes(), access)).collect();
            let kept = Kept { ground: Access::ReadOnly, rules };
            let bytes = kept.to_bytes();
            let cut = Kept::from_bytes(&bytes[..bytes.len().saturating_sub(lost)]);
            // At the end of a line less is said; never something else. Whoever keeps notes sees to it that they are whole.
            let is_shorter = cut.as_ref().is_none_or(|cut| kept.rules.starts_with(&cut.rules));
            prop_assert!(is_shorter && cut != Some(kept));
        }
    }

    #[test]
    fn anything_else_is_worked_out_again() {
        for odd in [&b""[..], b"\0", b"w", b"wpath\0", b"w\0x\0", b"w\0r\0", b"w\0\0", b"h\0"] {
            assert_eq!(Kept::from_bytes(odd), None, "{odd:?}");
        }
    }
}
