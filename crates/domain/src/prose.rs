//! Words that people wrote and other people read: never empty, never endless, nothing in them that steers a terminal.
//!
//! What the words mean is nobody's business here. They are shown and recorded, and no machine obeys them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// Reasons are read by people, and go into ledger entries.
pub(crate) const LONGEST_REASON: usize = 2_000;

/// Whoever decides says why.
pub(crate) fn check_reason(reason: &str) -> Result<(), Refusal> {
    if !reason.trim().is_empty() && reason.len() <= LONGEST_REASON {
        return Ok(());
    }
    Err(Refusal::invalid("give a reason of 1 to 2000 bytes; others will read it"))
}

/// Text of 1 to `MOST` bytes with something to read in it. Newlines and tabs are the only control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prose<const MOST: usize>(String);

/// Text that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProse {
    #[error("there is nothing to read in it; say it in 1 to {most} bytes")]
    Empty { most: usize },
    #[error("it has {bytes} bytes; say it in {most} or fewer")]
    Long { bytes: usize, most: usize },
    #[error("it contains the control character U+{0:04X}; write plain text")]
    Control(u32),
}

impl<const MOST: usize> Prose<MOST> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn controls(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

impl<const MOST: usize> TryFrom<String> for Prose<MOST> {
    type Error = BadProse;

    fn try_from(text: String) -> Result<Self, BadProse> {
        if text.trim().is_empty() {
            return Err(BadProse::Empty { most: MOST });
        }
        if text.len() > MOST {
            return Err(BadProse::Long { bytes: text.len(), most: MOST });
        }
        match text.chars().find(|c| controls(*c)) {
            Some(c) => Err(BadProse::Control(u32::from(c))),
            None => Ok(Self(text)),
        }
    }
}

impl<const MOST: usize> FromStr for Prose<MOST> {
    type Err = BadProse;

    fn from_str(text: &str) -> Result<Self, BadProse> {
        Self::try_from(text.to_owned())
    }
}

impl<const MOST: usize> From<Prose<MOST>> for String {
    fn from(prose: Prose<MOST>) -> Self {
        prose.0
    }
}

impl<const MOST: usize> fmt::Display for Prose<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_language_are_taken_and_what_cannot_be_read_is_not() {
        for good in ["a", "déjà vu", "two\nlines\twith a tab", "日本語"] {
            assert_eq!(good.parse::<Prose<40>>().unwrap().as_str(), good);
        }
        assert_eq!(" \n".parse::<Prose<9>>(), Err(BadProse::Empty { most: 9 }));
        assert_eq!("0123456789".parse::<Prose<9>>(), Err(BadProse::Long { bytes: 10, most: 9 }));
        assert_eq!("a\u{1b}[2J".parse::<Prose<9>>(), Err(BadProse::Control(0x1b)));
    }
}
