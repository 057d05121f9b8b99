//! Mail: to whom, from whom, by which server.

mod letter;
mod smtp;
mod talk;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use placet_domain::scope::Host;

pub use smtp::{Login, Security, Server};

use super::Message;
use super::channel::{Effort, Told};

/// A mailbox, in the narrow form that needs no quoting anywhere: nothing in it can become another command or another header.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MailAddress(String);

/// A text that is no address of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address of mail that can be used; write one like `ada@example.org`")]
pub struct BadAddress(String);

impl MailAddress {
    const LONGEST: usize = 254;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part behind the `@`.
    pub(super) fn domain(&self) -> &str {
        self.0.rsplit('@').next().unwrap_or_default()
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MailAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.chars().filter(|c| !c.is_control()).take(80).collect());
        let (local, domain) = text.split_once('@').ok_or_else(bad)?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&b);
        let dotted = local.split('.').all(|part| !part.is_empty());
        let fits = text.len() <= Self::LONGEST && (1..=64).contains(&local.len()) && dotted && local.bytes().all(plain);
        if !fits || domain.parse::<Host>().is_err() {
            return Err(bad());
        }
        Ok(Self(text.to_owned()))
    }
}

/// Mailboxes and the server that is asked to deliver to them.
#[derive(Debug, Clone)]
pub struct Mail {
    pub(super) server: Server,
    pub(super) from: MailAddress,
    /// Mailboxes of many, which are told everything that the route is told.
    pub(super) to: Vec<MailAddress>,
    /// People by the names or ids of their identities, who are told what is theirs.
    pub(super) people: BTreeMap<String, MailAddress>,
}

impl Mail {
    pub const fn new(
        server: Server,
        from: MailAddress,
        to: Vec<MailAddress>,
        people: BTreeMap<String, MailAddress>,
    ) -> Self {
        Self { server, from, to, people }
    }

    pub(super) fn server(&self) -> String {
        self.server.to_string()
    }

    pub(super) async fn send(&self, to: &MailAddress, message: &Message, unix_ms: i64, effort: Effort) -> Told {
        let letter = letter::spelled(message, &self.from, to, unix_ms);
        self.server.deliver(&self.from, to, &letter, effort).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b12_an_address_can_hold_nothing_but_an_address() {
        for good in ["ada@example.org", "ada.l+placet@mail.example", "a_b@x.y", "root@localhost"] {
            assert_eq!(good.parse::<MailAddress>().unwrap().as_str(), good);
        }
        let long = format!("{}@example.org", "x".repeat(65));
        for bad in [
            "",
            "ada",
            "@example.org",
            "ada@",
            "a b@example.org",
            "ada@example.org>\r\nRCPT TO:<x@y.z",
            "\"a\"@example.org",
            "<ada@example.org>",
            "a..b@example.org",
            ".a@example.org",
            "ada@exam ple.org",
            "ada@@example.org",
            "é@example.org",
            &long,
        ] {
            assert!(bad.parse::<MailAddress>().is_err(), "{bad:?}");
        }
    }
}
