//! Single sign-on (OpenID Connect): a provider vouches for somebody, and the settings say who that is.
//!
//! Pure: from the bytes of a token, the provider's keys and what was asked follows whether it is believed. A provider never makes an
//! identity, and nothing it says of roles or groups is read: who may do what is decided here. A [`Vouched`] is made by nothing but a token that
//! holds and a person whom the settings name.

mod jwk;
mod token;

use serde::{Deserialize, Serialize};

pub use jwk::{Keys, UnreadableKeys};
pub use token::{Claims, TokenFlaw, verify};

use crate::digest::Digest;
use crate::id::IdentityId;
use crate::time::Timestamp;

/// A sign-on is over in a few minutes, or it is another one.
pub const LONGEST_SIGN_ON_MS: u64 = 10 * 60 * 1_000;

/// What a provider is held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected<'e> {
    pub issuer: &'e str,
    pub client_id: &'e str,
    /// What was sent along with the question.
    pub nonce: &'e str,
    pub now: Timestamp,
}

/// Somebody whom the settings know at the provider: by its own name for them, or by an address that it says it has verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownPerson {
    pub identity: IdentityId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

impl KnownPerson {
    /// Exactly, letter by letter: two addresses that look alike are two people.
    fn is(&self, claims: &Claims) -> bool {
        let by_email = claims.email_verified && self.email.is_some() && self.email == claims.email;
        self.sub.as_ref() == Some(&claims.sub) || by_email
    }
}

/// Why these settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPeople {
    #[error("{identity} is named by nothing, or twice; give it one of `sub` and `email`")]
    Nameless { identity: IdentityId },
    #[error("`{name}` is two people; each name stands for one identity")]
    Twice { name: String },
}

/// Whom a provider may vouch for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownPeople(Vec<KnownPerson>);

impl KnownPeople {
    pub fn new(people: Vec<KnownPerson>) -> Result<Self, BadPeople> {
        let mut names = std::collections::BTreeSet::new();
        for person in &people {
            let name = match (&person.sub, &person.email) {
                (Some(name), None) | (None, Some(name)) if !name.trim().is_empty() => name,
                _ => return Err(BadPeople::Nameless { identity: person.identity }),
            };
            if !names.insert((person.sub.is_some(), name)) {
                return Err(BadPeople::Twice { name: name.clone() });
            }
        }
        Ok(Self(people))
    }

    /// Who that is. One person with two names that lead to different identities is nobody.
    pub fn find(&self, claims: &Claims, now: Timestamp) -> Option<Vouched> {
        let mut found = self.0.iter().filter(|person| person.is(claims)).map(|person| person.identity);
        let person = found.next()?;
        if found.any(|other| other != person) {
            return None;
        }
        let subject = Digest::of(format!("placet/oidc/v1\n{}\n{}\n", claims.iss, claims.sub).as_bytes());
        Some(Vouched { person, issuer: claims.iss.clone(), subject, at: now })
    }
}

/// That a provider vouched for a person just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    person: IdentityId,
    issuer: String,
    subject: Digest,
    at: Timestamp,
}

impl Vouched {
    pub const fn person(&self) -> IdentityId {
        self.person
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Of whom it spoke, without its name for them: the ledger is shown to strangers.
    pub(crate) const fn subject(&self) -> Digest {
        self.subject
    }

    pub(crate) fn is_recent(&self, now: Timestamp) -> bool {
        self.at <= now && now <= self.at.plus_ms(LONGEST_SIGN_ON_MS)
    }
}
