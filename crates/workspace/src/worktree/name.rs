//! What worktrees are called: names that mean the same to git, to a file system and to a shell.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::WorktreeError;

const MOST_BYTES: usize = 100;

/// The name of a worktree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorktreeName(String);

impl WorktreeName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WorktreeName {
    type Err = WorktreeError;

    fn from_str(text: &str) -> Result<Self, WorktreeError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let well = begins_well && text.len() <= MOST_BYTES && text.bytes().all(plain) && !text.ends_with(".lock");
        if well { Ok(Self(text.to_owned())) } else { Err(WorktreeError::Name(text.escape_debug().to_string())) }
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for WorktreeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WorktreeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_taken_for_something_else_are_refused() {
        for good in ["T-1.backend", "a", "7", "x_y"] {
            assert!(good.parse::<WorktreeName>().is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".a", "-a", "a/b", "a b", "a\n", "a.lock", &"a".repeat(101)] {
            assert!(bad.parse::<WorktreeName>().is_err(), "{bad}");
        }
    }
}
