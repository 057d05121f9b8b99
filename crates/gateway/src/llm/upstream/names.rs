//! Names that a team lists for an upstream, checked when they are read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// As long as the longest name that any server has, and more.
const LONGEST: usize = 64;

/// The name of a member of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName(String);

/// A name that cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("`{0}` is no name of a member; write letters, digits and `_-.`, as the server does")]
    Member(String),
}

impl MemberName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn shown(text: &str) -> String {
    text.chars().take(LONGEST).flat_map(char::escape_default).collect()
}

impl FromStr for MemberName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
        let is_name = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain);
        if is_name { Ok(Self(text.to_owned())) } else { Err(BadName::Member(shown(text))) }
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for MemberName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
