//! Names that become parts of branches, paths and variables. Each is a type of its own, and none holds a character that
//! git, a shell or a file system gives a meaning to.

use std::fmt;
use std::str::FromStr;

use placet_domain::scope::{Case, Glob, Slash, wildmatch};
use placet_domain::text::spelled_out;
use serde::{Deserialize, Serialize};

/// A text that cannot be the name it was given for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no {what}: {rule}")]
pub struct BadName {
    given: String,
    what: &'static str,
    rule: &'static str,
}

fn bad(given: &str, what: &'static str, rule: &'static str) -> BadName {
    BadName { given: spelled_out(given).chars().take(80).collect(), what, rule }
}

/// A name with its rule; `$accepts` says whether a text keeps it.
macro_rules! names {
    ($($(#[$about:meta])* $name:ident = $what:literal, $rule:literal, $accepts:path;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                if $accepts(text) { Ok(Self(text.to_owned())) } else { Err(bad(text, $what, $rule)) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// The name of an agent in the registry.
    AgentName = "agent name", "write 1 to 32 lowercase letters, digits, `_` or `-`, a letter first", is_short_word;
    /// The name of a check or of a step of the setup.
    CheckName = "name of a check", "write 1 to 64 lowercase letters, digits, `_` or `-`, a letter first", is_word;
    /// The name of a kind of cage.
    CageName = "name of a sandbox profile", "write 1 to 64 lowercase letters, digits, `_` or `-`, a letter first", is_word;
    /// A kind of ticket, which a sequence of agents belongs to.
    TicketKind = "kind of ticket", "write 1 to 32 lowercase letters, digits, `_` or `-`, a letter first", is_short_word;
    /// A ticket, such as `PAY-123`.
    TicketId = "ticket", "write letters and digits, a hyphen and a number, such as `PAY-123`", is_ticket;
    /// A branch, without `refs/heads/`.
    BranchName = "branch name", "use letters, digits, `.`, `_`, `-` and `/`, and begin no part with `.` or `-`", is_branch;
}

fn is_word_of(text: &str, longest: usize) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    text.len() <= longest
        && text.bytes().all(plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
}

fn is_short_word(text: &str) -> bool {
    is_word_of(text, 32)
}

fn is_word(text: &str) -> bool {
    is_word_of(text, 64)
}

/// A prefix of up to 32 characters and a number of up to 9 digits, so that paths and branches stay short.
fn is_ticket(text: &str) -> bool {
    let Some((prefix, number)) = text.split_once('-') else { return false };
    let is_prefix = prefix.starts_with(|first: char| first.is_ascii_alphabetic())
        && prefix.len() <= 32
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_prefix && (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_branch(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_part = |part: &str| {
        let begins_well = !part.is_empty() && !part.starts_with(['.', '-']);
        begins_well
            && part.bytes().all(plain)
            && !part.contains("..")
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    text.len() <= 200 && text != "HEAD" && text.split('/').all(is_part)
}

impl TicketId {
    /// What stands before the hyphen.
    pub fn prefix(&self) -> &str {
        self.0.split_once('-').map_or(self.0.as_str(), |(prefix, _)| prefix)
    }

    /// The branch on which an agent works at this ticket. An agent's name begins with a letter and a ticket ends with a
    /// digit, so that no two pairs share a branch.
    pub fn branch(&self, agent: &AgentName) -> BranchName {
        BranchName(format!("feat/{self}-{agent}"))
    }
}

/// A pattern for names of branches. Letter case is ignored, because some file systems ignore it in refs too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchGlob(Glob);

impl BranchGlob {
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn matches(&self, branch: &str) -> bool {
        let matched = |case| wildmatch(self.as_str().as_bytes(), branch.as_bytes(), Slash::Stops, case);
        matched(Case::Exact) || matched(Case::Ignore)
    }
}

impl FromStr for BranchGlob {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        const WHAT: &str = "pattern for branches";
        if text.starts_with("refs/") {
            return Err(bad(text, WHAT, "leave `refs/heads/` out"));
        }
        if text.ends_with('/') {
            return Err(bad(text, WHAT, "end it with `**` for everything below"));
        }
        let glob = text.parse().map_err(|_| bad(text, WHAT, "write it as for paths, such as `release/**`"))?;
        Ok(Self(glob))
    }
}

impl TryFrom<String> for BranchGlob {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl From<BranchGlob> for String {
    fn from(glob: BranchGlob) -> Self {
        glob.0.into()
    }
}

impl fmt::Display for BranchGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
