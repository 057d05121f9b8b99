//! Names of hosts: one spelling each, or refused.

use std::fmt;
use std::str::FromStr;

use super::{BadTarget, as_text, bad};
use serde::{Deserialize, Serialize};

/// A host name in lowercase ASCII (international names as punycode).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host(String);

impl Host {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a name below the domain; a domain is not below itself.
    pub fn is_below(&self, domain: &Self) -> bool {
        self.0.strip_suffix(domain.0.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }
}

impl FromStr for Host {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let name = text.to_ascii_lowercase();
        if !name.is_ascii() {
            return Err(bad(text, "write international names as punycode (`xn--…`), so that look-alikes are visible"));
        }
        if name.len() > 253 || !name.split('.').all(is_label) {
            return Err(bad(
                text,
                "not a host name: letters, digits and inner hyphens, no trailing dot, no user, no spaces",
            ));
        }
        // Resolvers read `127.1`, `2130706433` and `0x7f.1` as addresses.
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.starts_with("0x") || last.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad(text, "looks like an address in an unusual spelling; write all four numbers in decimal"));
        }
        Ok(Self(name))
    }
}

fn is_label(label: &str) -> bool {
    let plain = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

as_text!(Host);
