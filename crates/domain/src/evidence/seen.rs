//! What looked like a secret in a piece of evidence, recorded without the secret.
//!
//! Evidence is what an execution left and stays as it is. That there is a secret in it is a fact of its own: it goes into
//! the ledger when the bytes are kept, so that it can be told to people before they look. Who looks for secrets, and how,
//! is not decided here.

use serde::{Deserialize, Serialize};

/// More of them say nothing that the number does not; the ledger keeps them for ever.
const MOST_LISTED: usize = 100;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretSeen {
    /// The rule that found it.
    pub rule: String,
    /// Line, from 1.
    pub line: u32,
    /// Byte in the line, from 1.
    pub column: u32,
    /// What may be shown of it: what all of its kind begin with, and its length.
    pub shown: String,
    /// Names it without telling it.
    pub fingerprint: String,
}

/// All that was seen in one piece: the first of them, and how many there are besides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsSeen {
    listed: Vec<SecretSeen>,
    #[serde(default, skip_serializing_if = "is_zero")]
    more: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl SecretsSeen {
    /// Of everything that was seen, in order, as much as is recorded.
    pub fn new(seen: impl IntoIterator<Item = SecretSeen>) -> Self {
        let mut seen = seen.into_iter();
        let listed = seen.by_ref().take(MOST_LISTED).collect();
        Self { listed, more: seen.count() as u64 }
    }

    pub const fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub fn listed(&self) -> &[SecretSeen] {
        &self.listed
    }

    /// How many there are that are not listed.
    pub const fn more(&self) -> u64 {
        self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: u32) -> SecretSeen {
        let (rule, shown, fingerprint) = ("r".to_owned(), "**** (9 bytes)".to_owned(), "00".to_owned());
        SecretSeen { rule, line, column: 1, shown, fingerprint }
    }

    #[test]
    fn a9_the_first_hundred_are_listed_and_the_others_counted() {
        let all = SecretsSeen::new((1..=250).map(seen));
        assert_eq!((all.listed().len(), all.more()), (100, 150));
        assert_eq!(SecretsSeen::new([]), SecretsSeen::default());
    }
}
