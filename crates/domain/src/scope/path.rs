//! A path inside a repository, as bytes: relative, without tricks. Whether it exists is not this module's business.

use std::fmt;

/// Linux refuses longer ones itself.
const LONGEST_PATH: usize = 4096;

/// A relative path whose every component is a plain name. Names need not be UTF-8: git allows any bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopePath(Vec<u8>);

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad path `{path}`: {why}")]
pub struct BadPath {
    path: String,
    why: &'static str,
}

impl ScopePath {
    pub fn new(path: &[u8]) -> Result<Self, BadPath> {
        match problem(path) {
            Some(why) => Err(BadPath { path: path.escape_ascii().to_string().chars().take(200).collect(), why }),
            None => Ok(Self(path.to_vec())),
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

fn problem(path: &[u8]) -> Option<&'static str> {
    let parts = || path.split(|&byte| byte == b'/');
    if path.is_empty() {
        Some("it is empty")
    } else if path.len() > LONGEST_PATH {
        Some("it is longer than 4096 bytes")
    } else if path.contains(&0) {
        Some("it contains a NUL byte")
    } else if path[0] == b'/' {
        Some("it is absolute; paths are relative to the workspace")
    } else if parts().any(<[u8]>::is_empty) {
        Some("it has an empty component")
    } else if parts().any(|part| part == b"." || part == b"..") {
        Some("it contains `.` or `..`")
    } else if parts().any(is_git_dir) {
        Some("it leads into a git directory, which belongs to the runtime")
    } else {
        None
    }
}

/// Whether some file system takes this name for `.git`: other letter case, trailing dots and spaces, the Windows short
/// name, or characters that some file systems ignore.
fn is_git_dir(part: &[u8]) -> bool {
    let visible: Vec<u8> = without_ignorable(part).map(|byte| byte.to_ascii_lowercase()).collect();
    let stem = visible.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(&[][..], |last| &visible[..=last]);
    let stream = stem.split(|&byte| byte == b':').next().unwrap_or_default();
    stream == b".git" || stream == b"git~1"
}

/// Drops the zero-width characters that HFS+ ignores in names: U+200C–F, U+202A–E, U+206A–F, U+FEFF.
fn without_ignorable(part: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = part;
    std::iter::from_fn(move || {
        while let [a, b, c, tail @ ..] = rest {
            let ignorable = match (a, b) {
                (0xE2, 0x80) => matches!(c, 0x8C..=0x8F | 0xAA..=0xAE),
                (0xE2, 0x81) => matches!(c, 0xAA..=0xAF),
                (0xEF, 0xBB) => *c == 0xBF,
                _ => false,
            };
            if !ignorable {
                break;
            }
            rest = tail;
        }
        let (&first, tail) = rest.split_first()?;
        rest = tail;
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn traversal_and_absolute_paths_are_refused() {
        for path in ["", "/etc/passwd", "a/../b", "..", ".", "a/./b", "a//b", "a/", "a\0b"] {
            assert!(ScopePath::new(path.as_bytes()).is_err(), "{path}");
        }
        assert!(ScopePath::new(&[b'a'; 4097]).is_err());
    }

    #[test]
    fn the_git_directory_is_refused_under_every_name_some_file_system_gives_it() {
        let names = [
            ".git",
            ".GIT",
            ".Git/hooks/pre-commit",
            "sub/.git/config",
            ".git.",
            ".git ",
            ".git. .",
            "GIT~1",
            ".g\u{200c}it",
            ".git\u{feff}",
        ];
        for path in names.into_iter().chain([".git::$INDEX_ALLOCATION/x"]) {
            assert!(ScopePath::new(path.as_bytes()).is_err(), "{path:?}");
        }
    }

    #[test]
    fn ordinary_and_weird_names_are_paths() {
        for path in [".gitignore", ".github/workflows/ci.yml", "git", "a b", "new\nline", "ünïcode", "git~2", "..."] {
            assert!(ScopePath::new(path.as_bytes()).is_ok(), "{path:?}");
        }
        assert!(ScopePath::new(b"not-utf8-\xff").is_ok());
    }

    proptest! {
        #[test]
        fn what_is_accepted_joins_below_any_root(path in "[a-zA-Z./]{1,24}") {
            if ScopePath::new(path.as_bytes()).is_ok() {
                let joined = std::path::Path::new("/root").join(&path);
                let plain = joined.components().all(|part| !matches!(part, std::path::Component::ParentDir));
                prop_assert!(plain && joined.starts_with("/root"));
            }
        }
    }
}
