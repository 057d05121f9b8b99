//! Passkeys (WebAuthn): a person's authenticator signs what they decide, so that a stranger can check later that they did.
//!
//! ```text
//! Question ─► challenge ─► (browser, authenticator, person) ─► Assertion ─► Identity::prove ─► Proof ─► decide
//! ```
//!
//! Pure: nothing here makes randomness or reads a clock. Whoever asks makes the nonce and sees to it that a question is answered once;
//! here it is found out whether an answer is one. A [`Proof`] is made by nothing but that, and what needs one takes nothing else.
//!
//! What is deliberately not here: statements of manufacturers about their authenticators. Only `none` is taken; which model signed is not
//! known, and nothing depends on it.

mod cbor;
mod change;
mod check;
mod cose;
mod data;
mod proof;

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

pub use change::Change;
pub use check::{Checked, Checker, Finding, Told, What, Wrong};
pub use cose::ALGORITHMS;
pub use proof::{Assertion, Attested, Creation, Proof, Signing};

use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::time::Timestamp;

/// More bytes than anything that authenticators send.
const LONGEST_ENCODED: usize = 2_048;
/// For a person to look for their key and touch it.
pub const LONGEST_QUESTION_MS: u64 = 5 * 60 * 1_000;

/// Bytes that stand in JSON as base64url without padding.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encoded(Vec<u8>);

impl Encoded {
    /// Nothing, if there are too many.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() <= LONGEST_ENCODED).then_some(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What is no base64url, or too much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not base64url of at most 2048 bytes")]
pub struct BadEncoding;

impl FromStr for Encoded {
    type Err = BadEncoding;

    fn from_str(text: &str) -> Result<Self, BadEncoding> {
        if text.len() > LONGEST_ENCODED * 4 / 3 + 4 {
            return Err(BadEncoding);
        }
        URL_SAFE_NO_PAD.decode(text).ok().and_then(Self::new).ok_or(BadEncoding)
    }
}

impl TryFrom<String> for Encoded {
    type Error = BadEncoding;

    fn try_from(text: String) -> Result<Self, BadEncoding> {
        text.parse()
    }
}

impl From<Encoded> for String {
    fn from(encoded: Encoded) -> Self {
        encoded.to_string()
    }
}

impl fmt::Display for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(&self.0))
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Where pages are, as browsers tell sites apart: scheme, name and port. Only where browsers let passkeys be used: over TLS, or on
/// `localhost`; never by a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Site(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("passkeys need `http://localhost` or `https://` with a name, not a number")]
pub struct BadSite;

impl Site {
    /// The longest name that there is, with scheme and port.
    const LONGEST: usize = 253 + 8 + 6;

    pub fn origin(&self) -> &str {
        &self.0
    }

    /// The name that passkeys are made for: of the host, without scheme and port.
    pub fn rp_id(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split(':').next().unwrap_or_default()
    }
}

impl FromStr for Site {
    type Err = BadSite;

    fn from_str(text: &str) -> Result<Self, BadSite> {
        let (scheme, rest) = text.split_once("://").ok_or(BadSite)?;
        let (name, port) = rest.split_once(':').map_or((rest, None), |(name, port)| (name, Some(port)));
        let safe = scheme == "https" || (scheme == "http" && name == "localhost");
        if text.len() <= Self::LONGEST && safe && is_name(name) && port.is_none_or(is_port) {
            return Ok(Self(text.to_owned()));
        }
        Err(BadSite)
    }
}

/// As browsers write it: lowercase labels, the last of which is no number.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.len() <= 63 && label.bytes().all(plain);
    let last = name.rsplit('.').next().unwrap_or_default();
    name.split('.').all(is_label) && last.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_port(port: &str) -> bool {
    port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port)
}

impl TryFrom<String> for Site {
    type Error = BadSite;

    fn try_from(text: String) -> Result<Self, BadSite> {
        text.parse()
    }
}

impl From<Site> for String {
    fn from(site: Site) -> Self {
        site.0
    }
}

/// A person's key: what is known of it here is public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passkey {
    /// What its authenticator calls it.
    pub credential: Encoded,
    /// The public key, in COSE.
    pub key: Encoded,
    /// What its person calls it.
    pub name: String,
    /// Where it was made, and where alone it counts.
    pub site: Site,
    /// How often it had signed when it was seen last; always 0 for keys that do not count.
    pub sign_count: u32,
}

/// What a passkey is asked to sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// To come in.
    Enter,
    /// To become a passkey of this person.
    Register { person: IdentityId },
    /// To approve this action, as it was shown to this person.
    Approve { person: IdentityId, action: ActionId, review: Digest },
    /// To change the doors of somebody, who may be the one who signs.
    Change { by: IdentityId, of: IdentityId, change: Change },
}

/// One question to an authenticator. The challenge follows from it, so whoever has the question can check the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub purpose: Purpose,
    pub asked_at: Timestamp,
    /// Made by whoever asks, so that no two questions are the same.
    pub nonce: Encoded,
}

impl Question {
    /// What the authenticator signs. Lines, the first of which say what for, so that nothing signed for one thing passes for another; what is
    /// recorded names who signs, so that nothing signed by one person passes for another's.
    pub fn challenge(&self) -> Digest {
        let about = match &self.purpose {
            Purpose::Enter => "v1\nenter\n-\n-".to_owned(),
            Purpose::Register { person } => format!("v1\nregister\n{person}\n-"),
            Purpose::Approve { person, action, review } => format!("v2\napprove\n{person}\n{action}\n{review}"),
            Purpose::Change { by, of, change } => {
                format!("v2\nchange\n{by}\n{of}\n{}\n{}", change.word(), change.subject())
            }
        };
        let (asked_at, nonce) = (self.asked_at.unix_ms(), &self.nonce);
        Digest::of(format!("placet/passkey/{about}\n{asked_at}\n{nonce}\n").as_bytes())
    }

    /// Whether an answer still counts.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.asked_at <= now && now <= self.asked_at.plus_ms(LONGEST_QUESTION_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_sites_are_what_browsers_let_passkeys_be_used_at() {
        for (origin, rp_id) in [
            ("http://localhost:7070", Some("localhost")),
            ("http://localhost", Some("localhost")),
            ("https://placet.example.org", Some("placet.example.org")),
            ("https://placet.example.org:8443", Some("placet.example.org")),
            ("http://placet.example.org", None),
            ("http://127.0.0.1:7070", None),
            ("https://127.0.0.1", None),
            ("https://[::1]:7070", None),
            ("https://Placet.example.org", None),
            ("https://placet.example.org/", None),
            ("https://user@placet.example.org", None),
            ("https://placet.example.org:0443", None),
            ("http://localhost:7070.evil.example", None),
            ("https://", None),
            ("null", None),
        ] {
            let site: Option<Site> = origin.parse().ok();
            assert_eq!(site.as_ref().map(Site::rp_id), rp_id, "{origin}");
        }
    }

    #[test]
    fn t8_no_two_questions_have_the_same_challenge() {
        let person = IdentityId::from_bytes([1; 16]);
        let (action, review) = (ActionId::from_bytes([1; 16]), Digest::of(b"review"));
        let nonce: Encoded = "AAEC".parse().unwrap();
        let ask = |purpose, at, nonce: &Encoded| {
            let asked_at = Timestamp::from_unix_ms(at);
            Question { purpose, asked_at, nonce: nonce.clone() }.challenge()
        };
        let approve = |review| Purpose::Approve { person, action, review };
        let other = IdentityId::from_bytes([2; 16]);
        let change = |by, of, change| ask(Purpose::Change { by, of, change }, 1, &nonce);
        let all = [
            ask(Purpose::Approve { person: other, action, review }, 1, &nonce),
            change(person, other, Change::Link),
            change(other, person, Change::Link),
            change(person, person, Change::Link),
            change(person, other, Change::Token),
            change(person, other, Change::Password),
            change(person, other, Change::Add { passkey: Digest::of(b"key") }),
            change(person, other, Change::Add { passkey: Digest::of(b"other key") }),
            change(person, other, Change::Remove { credential: nonce.clone() }),
            change(person, other, Change::Remove { credential: "AAED".parse().unwrap() }),
            ask(Purpose::Enter, 1, &nonce),
            ask(Purpose::Register { person }, 1, &nonce),
            ask(approve(review), 1, &nonce),
            ask(approve(Digest::of(b"other")), 1, &nonce),
            ask(approve(review), 2, &nonce),
            ask(approve(review), 1, &"AAED".parse().unwrap()),
        ];
        let distinct: std::collections::BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), all.len());
    }
}
