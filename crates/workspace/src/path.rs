//! Names as a hostile writer chooses them: any bytes but `/` and NUL, shown so that nothing of them acts on a terminal.
//!
//! A [`TreePath`] never leaves its tree as text: it has no empty, `.` or `..` component. It says nothing about symbolic
//! links; whoever opens one says so to the kernel.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The kernel takes no longer ones in one piece, its closing NUL included.
pub const MAX_PATH_BYTES: usize = 4095;

/// Bytes of a writer who is not trusted, printed with everything but plain characters as `%XX`, which is lossless.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawBytes(Vec<u8>);

/// A path inside a tree: names separated by `/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(RawBytes);

/// Why some bytes are no path inside a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no path inside a tree: use names separated by `/`, without `.`, `..` and NUL bytes, at most {MAX_PATH_BYTES} bytes"
)]
pub struct BadPath(RawBytes);

impl RawBytes {
    /// Takes any bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes as they are.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for RawBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Runs of plain characters are written at once: lists have many paths, and most are plain.
        for run in self.0.chunk_by(|one, next| is_plain(*one) && is_plain(*next)) {
            match std::str::from_utf8(run) {
                Ok(plain) if is_plain(run[0]) => f.write_str(plain)?,
                Ok(_) | Err(_) => run.iter().try_for_each(|byte| write!(f, "%{byte:02X}"))?,
            }
        }
        Ok(())
    }
}

/// Shown as it is.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'%' | b'`' | 0..=0x1f | 0x7f..)
}

impl fmt::Debug for RawBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// A text that was not made by printing [`RawBytes`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a `%` must be followed by two hex digits, and everything but plain characters be written so")]
pub struct BadEscape;

impl FromStr for RawBytes {
    type Err = BadEscape;

    fn from_str(text: &str) -> Result<Self, BadEscape> {
        let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
        // One spelling for each: what is compared or hashed as text is the same thing or another one.
        while let Some((&first, after)) = rest.split_first() {
            let (byte, after) = match (first, after) {
                (b'%', [high, low, after @ ..]) => (unhex(*high, *low).filter(|byte| !is_plain(*byte)), after),
                (plain, after) => (is_plain(plain).then_some(plain), after),
            };
            bytes.push(byte.ok_or(BadEscape)?);
            rest = after;
        }
        Ok(Self(bytes))
    }
}

fn unhex(high: u8, low: u8) -> Option<u8> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    };
    digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low)
}

impl TreePath {
    /// Checks the bytes of a path.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, BadPath> {
        let bytes = bytes.into();
        let well = bytes.len() <= MAX_PATH_BYTES && bytes.split(|&byte| byte == b'/').all(is_name);
        if well { Ok(Self(RawBytes(bytes))) } else { Err(BadPath(RawBytes(bytes))) }
    }

    /// The path of something in this directory; `None` stands for the root of the tree.
    pub(crate) fn below(parent: Option<&Self>, name: &[u8]) -> Result<Self, BadPath> {
        match parent {
            Some(parent) => Self::new([parent.as_bytes(), b"/", name].concat()),
            None => Self::new(name),
        }
    }

    /// The bytes as they are.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The last name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }

    /// The directory it is in, unless that is the root of the tree.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let slash = self.as_bytes().iter().rposition(|&byte| byte == b'/')?;
        Some(Self(RawBytes(self.as_bytes()[..slash].to_vec())))
    }

    pub(crate) fn first_name(&self) -> &[u8] {
        self.names().next().unwrap_or_default()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.as_bytes().split(|&byte| byte == b'/')
    }
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.contains(&0)
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for TreePath {
    type Err = BadPath;

    /// Reads what was printed.
    fn from_str(text: &str) -> Result<Self, BadPath> {
        let raw: RawBytes = text.parse().map_err(|_| BadPath(RawBytes::new(text)))?;
        Self::new(raw.0)
    }
}

macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text!(RawBytes, TreePath);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_that_leave_the_tree_or_say_nothing_are_refused() {
        let long = "x".repeat(MAX_PATH_BYTES + 1);
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a\0b", &long] {
            assert!(TreePath::new(bad).is_err(), "{bad}");
        }
        for good in ["a", "a/b", "...", ".a", "a\nb", &long[1..]] {
            assert!(TreePath::new(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn nothing_of_a_name_acts_on_a_terminal() {
        let path = TreePath::new(b"a\x1b[2J\n\xff`%".to_vec()).unwrap();
        assert_eq!(path.to_string(), "a%1B[2J%0A%FF%60%25");
    }

    #[test]
    fn a_path_knows_its_name_and_its_directory() {
        let path = TreePath::new("a/b/c").unwrap();
        assert_eq!((path.name(), path.first_name()), (&b"c"[..], &b"a"[..]));
        assert_eq!(path.parent().and_then(|parent| parent.parent()), Some(TreePath::new("a").unwrap()));
        assert_eq!(TreePath::new("a").unwrap().parent(), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_printed_without_loss_and_in_one_spelling(bytes: Vec<u8>) {
            let raw = RawBytes::new(bytes);
            let text = raw.to_string();
            prop_assert!(text.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            prop_assert_eq!(text.parse(), Ok(raw));
        }

        #[test]
        fn what_is_read_is_printed_the_same(text in "[a%0-9A-Fx/.]{0,12}") {
            if let Ok(path) = text.parse::<TreePath>() {
                prop_assert_eq!(path.to_string(), text);
            }
        }
    }
}
