//! Names that a team lists for an upstream, checked when they are read.

use std::str::FromStr;

use hyper::header::HeaderName;
use serde::{Deserialize, Deserializer};

/// As long as the longest name that any server has, and more.
const LONGEST: usize = 64;

/// The name of a member of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName(String);

/// The name of a header that an agent may send along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHeader(HeaderName);

/// Headers that no team can let pass: they belong to one connection, are set anew here, or hold what an agent must not choose.
const NEVER: [&str; 19] = [
    // of one connection
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    // set anew
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "accept",
    "accept-encoding",
    // keys and sessions
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "cookie",
    // leaves out what was used
    "x-goog-fieldmask",
];
const NEVER_STARTS: [&str; 2] = ["proxy-", "x-placet-"];

/// A name that cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("`{0}` is no name of a member; write letters, digits and `_-.`, as the server does")]
    Member(String),
    #[error("`{0}` is no name of a header; write it in small letters")]
    Header(String),
    #[error("the header `{0}` is the gateway's own to set; leave it out")]
    Kept(String),
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

impl AllowedHeader {
    pub(crate) const fn name(&self) -> &HeaderName {
        &self.0
    }
}

impl FromStr for AllowedHeader {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let name = HeaderName::from_bytes(text.as_bytes()).ok().filter(|name| name.as_str() == text);
        let name = name.ok_or_else(|| BadName::Header(shown(text)))?;
        if NEVER.contains(&text) || NEVER_STARTS.iter().any(|start| text.starts_with(start)) {
            return Err(BadName::Kept(shown(text)));
        }
        Ok(Self(name))
    }
}

impl<'de> Deserialize<'de> for AllowedHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MemberName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
