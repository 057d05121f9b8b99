//! Names of git's own, checked before git sees them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The name of an object: 40 hex digits, or 64 in a repository that uses SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

/// The name of a branch, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Branch(String);

/// A text that is no name of git's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Not the name of an object.
    #[error("`{0}` is no object name: one has 40 or 64 lowercase hex digits")]
    Object(String),
    /// Not the name of a branch.
    #[error("`{0}` is no branch name: use letters, digits, `.`, `_`, `-` and `/`, and begin no part with `.` or `-`")]
    Branch(String),
}

impl ObjectId {
    /// The hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ObjectId {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let well = matches!(text.len(), 40 | 64) && text.bytes().all(is_hex);
        if well { Ok(Self(text.to_owned())) } else { Err(BadName::Object(text.escape_default().to_string())) }
    }
}

pub(crate) fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

impl Branch {
    /// The name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with `refs/heads/`.
    #[must_use]
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl FromStr for Branch {
    type Err = BadName;

    /// Takes fewer names than git does: those that mean the same to every program they are handed to.
    fn from_str(text: &str) -> Result<Self, BadName> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let part = |part: &str| {
            let begins_well = !part.is_empty() && !part.starts_with(['.', '-']);
            let ends_well = !part.ends_with('.') && !part.ends_with(".lock");
            begins_well && ends_well && !part.contains("..") && part.bytes().all(plain)
        };
        let well = text.len() <= 200 && text != "HEAD" && text.split('/').all(part);
        if well { Ok(Self(text.to_owned())) } else { Err(BadName::Branch(text.escape_default().to_string())) }
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_or_a_shell_could_take_for_something_else_are_refused() {
        for good in ["main", "run/7", "feature-1.x", "a_b"] {
            assert!(good.parse::<Branch>().is_ok(), "{good}");
        }
        let bad =
            ["", "/", "a/", "-x", "a/-x", ".a", "a..b", "a.lock", "a b", "a~1", "a^", "a:b", "@{u}", "HEAD", "a\nb"];
        for bad in bad {
            assert!(bad.parse::<Branch>().is_err(), "{bad}");
        }
    }

    #[test]
    fn object_names_are_hex_and_of_one_of_two_lengths() {
        for good in ["a".repeat(40), "0".repeat(64)] {
            assert!(good.parse::<ObjectId>().is_ok());
        }
        for bad in ["", "HEAD", &"a".repeat(41), &"A".repeat(40), &format!("{}\n", "a".repeat(40))] {
            assert!(bad.parse::<ObjectId>().is_err(), "{bad}");
        }
    }
}
