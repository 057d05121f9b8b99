//! Typed identifiers: a prefix that says what is named, then a UUID in lowercase hex (`run_0192f0c1…`).
//!
//! The prefix makes a pasted id self-explaining and a mix-up of two kinds impossible. Ids are made in the shell
//! (they need a clock and randomness) and only parsed, compared and printed here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {article} id; one looks like `{prefix}_` followed by 32 lowercase hex digits")]
pub struct BadId {
    given: String,
    prefix: &'static str,
    article: &'static str,
}

const SHOWN_OF_BAD_ID: usize = 80;

fn parse(text: &str, prefix: &'static str, article: &'static str) -> Result<Uuid, BadId> {
    let bad = || BadId { given: text.chars().take(SHOWN_OF_BAD_ID).collect(), prefix, article };
    let hex = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).ok_or_else(bad)?;
    let lowercase_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    // `Uuid` would also accept hyphens, braces and capitals: two spellings of one id are one too many.
    if hex.len() != 32 || !hex.bytes().all(lowercase_hex) {
        return Err(bad());
    }
    Uuid::try_parse(hex).map_err(|_| bad())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $article:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Names a thing by a UUID that the shell made.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The id without its prefix, as short as it gets.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// What [`Self::as_bytes`] gave.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                parse(text, $prefix, $article).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A project: the wall between teams. Everything but identities lives in exactly one.
    ProjectId = "prj", "a project";
    /// A run: one governed undertaking.
    RunId = "run", "a run";
    /// An action: one thing an agent wants done.
    ActionId = "act", "an action";
    /// Whoever holds a credential: a person, an agent or a worker.
    IdentityId = "idn", "an identity";
    /// A worktree: where one agent works at one ticket.
    WorktreeId = "wkt", "a worktree";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::from_uuid(Uuid::from_u128(0x0192_f0c1))
    }

    #[test]
    fn an_id_survives_print_and_parse() {
        assert_eq!(run().to_string(), "run_0000000000000000000000000192f0c1");
        assert_eq!(run().to_string().parse(), Ok(run()));
        assert_eq!(RunId::from_bytes(*run().as_bytes()), run());
    }

    #[test]
    fn an_id_of_another_kind_is_refused_with_a_hint() {
        let error = run().to_string().parse::<ActionId>().unwrap_err().to_string();
        assert!(error.contains("not an action id") && error.contains("`act_`"), "{error}");
    }

    #[test]
    fn there_is_one_spelling_of_an_id() {
        for text in
            ["run_00000000-0000-0000-0000-00000192f0c1", "run_0000000000000000000000000192F0C1", "run_1", "run_", ""]
        {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }
}
