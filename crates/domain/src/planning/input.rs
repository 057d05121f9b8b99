//! What an agent is given to work with, and whether it may be given at all.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::scope::ScopePath;

/// How far data may travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DataClass {
    /// Anybody may see it.
    Public,
    /// An agent sees it only if a person shared it explicitly.
    Internal,
    /// Never enters a cage.
    Confidential,
}

impl DataClass {
    pub const ALL: &[Self] = &[Self::Public, Self::Internal, Self::Confidential];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "PUBLIC",
            Self::Internal => "INTERNAL",
            Self::Confidential => "CONFIDENTIAL",
        }
    }
}

impl fmt::Display for DataClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` {why}")]
pub struct BadPlace {
    given: String,
    why: String,
}

impl BadPlace {
    fn new(given: &str, why: impl Into<String>) -> Self {
        let shown: String = given.chars().take(200).collect();
        Self { given: crate::text::spelled_out(&shown), why: why.into() }
    }
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident, $wrong:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadPlace;
            fn from_str(text: &str) -> Result<Self, BadPlace> {
                match $wrong(text) {
                    None => Ok(Self(text.to_owned())),
                    Some(why) => Err(BadPlace::new(text, why)),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadPlace;
            fn try_from(text: String) -> Result<Self, BadPlace> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(place: $name) -> Self {
                place.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

places! {
    /// Where an input lies: below the base folder, without tricks.
    InputPath, wrong_input;
    /// The folder of the host a run begins with. It is read and never written.
    BaseFolder, wrong_base;
}

fn wrong_input(text: &str) -> Option<String> {
    ScopePath::new(text.as_bytes()).err().map(|bad| format!("cannot be an input: {bad}"))
}

fn wrong_base(text: &str) -> Option<String> {
    let plain = |part: &str| !matches!(part, "." | ".." | "");
    let good = text.len() <= 4096
        && !text.chars().any(|c| c.is_control())
        && text.strip_prefix('/').is_some_and(|rest| !rest.is_empty() && rest.split('/').all(plain));
    (!good)
        .then(|| "cannot be a base folder: write an absolute path without `.`, `..` or `//`, and not `/` itself".into())
}

/// Something an agent is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub path: InputPath,
    pub class: DataClass,
    /// Whether a person said in so many words that the agent may see it.
    #[serde(default)]
    pub shared: bool,
    /// Its content, if it must be exactly this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl Input {
    /// Why an agent must not see it, if it must not.
    pub const fn withheld(&self) -> Option<&'static str> {
        match (self.class, self.shared) {
            (DataClass::Public, _) | (DataClass::Internal, true) => None,
            (DataClass::Internal, false) => {
                Some("it is INTERNAL and was not shared; share it explicitly (`shared`: true), or leave it out")
            }
            (DataClass::Confidential, _) => {
                Some("it is CONFIDENTIAL, which never enters a cage, shared or not; leave it out")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_base_folders_lead_nowhere_else() {
        for trick in ["", "/etc/passwd", "../x", "a/../b", ".git/config", "a\0b"] {
            assert!(trick.parse::<InputPath>().is_err(), "{trick:?}");
        }
        for trick in ["", "/", "work", "/a/../b", "/a//b", "/a/", "/a\nb"] {
            assert!(trick.parse::<BaseFolder>().is_err(), "{trick:?}");
        }
        assert!("data/prices.csv".parse::<InputPath>().is_ok());
        assert!("/srv/site".parse::<BaseFolder>().is_ok());
    }

    #[test]
    fn c3_internal_needs_sharing_and_confidential_is_never_shared() {
        let withheld =
            |class, shared| Input { path: "a".parse().unwrap(), class, shared, digest: None }.withheld().is_some();
        assert!(!withheld(DataClass::Public, false));
        assert!(withheld(DataClass::Internal, false) && !withheld(DataClass::Internal, true));
        assert!(withheld(DataClass::Confidential, false) && withheld(DataClass::Confidential, true));
    }
}
