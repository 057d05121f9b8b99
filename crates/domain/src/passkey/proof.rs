//! Answers of authenticators, and what they prove. Whatever could be wrong with one is a flaw of its own, and each flaw is enough.

use serde::{Deserialize, Serialize};

use super::cbor::{self, Value};
use super::cose::PublicKey;
use super::data::{Authenticated, Ceremony, Made, check_authenticator, check_client};
use super::{Encoded, Passkey, Question, Site};
use crate::digest::Digest;
use crate::id::IdentityId;
use crate::identity::Identity;
use crate::refusal::PasskeyFlaw;
use crate::time::Timestamp;

/// What a browser sends when a passkey was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    pub client_data: Encoded,
    pub attestation: Encoded,
}

/// A credential that was really made for a question, at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attested {
    question: Question,
    site: Site,
    credential: Encoded,
    key: Encoded,
    sign_count: u32,
}

impl Creation {
    /// Checks it against the question. The key is one that can be checked with later, or it is none.
    pub fn attest(&self, question: Question, site: Site) -> Result<Attested, PasskeyFlaw> {
        check_client(self.client_data.as_bytes(), Ceremony::Create, &site, question.challenge())?;
        let object = cbor::read(self.attestation.as_bytes()).map_err(|_| PasskeyFlaw::Malformed)?;
        let is_none = object.get(&Value::Text("fmt")) == Some(&Value::Text("none"))
            && object.get(&Value::Text("attStmt")) == Some(&Value::Map(Vec::new()));
        if !is_none {
            return Err(PasskeyFlaw::Attested);
        }
        let data = object.get(&Value::Text("authData")).and_then(Value::as_bytes).ok_or(PasskeyFlaw::Malformed)?;
        let Authenticated { sign_count, made } = check_authenticator(data, &site)?;
        let Made { credential, key } = made.ok_or(PasskeyFlaw::Malformed)?;
        PublicKey::read(key.as_bytes())?;
        Ok(Attested { question, site, credential, key, sign_count })
    }
}

impl Attested {
    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    /// Whether one of these is the same key, or is called the same by its authenticator.
    pub fn is_among(&self, passkeys: &[Passkey]) -> bool {
        passkeys.iter().any(|known| known.credential == self.credential || known.key == self.key)
    }

    /// The passkey that it becomes under this name.
    pub fn named(&self, name: &str) -> Passkey {
        Passkey {
            credential: self.credential.clone(),
            key: self.key.clone(),
            name: name.to_owned(),
            site: self.site.clone(),
            sign_count: self.sign_count,
        }
    }
}

/// What a browser sends when a passkey signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assertion {
    pub credential: Encoded,
    pub client_data: Encoded,
    pub authenticator_data: Encoded,
    pub signature: Encoded,
}

/// How a passkey signed an approval or a change of doors: with what the entry says besides, all that a stranger needs to check it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    pub asked_at: Timestamp,
    pub nonce: Encoded,
    pub assertion: Assertion,
}

/// That a passkey of a person signed a question. Made by [`Identity::prove`] and by nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    by: IdentityId,
    key: Encoded,
    question: Question,
    assertion: Assertion,
    sign_count: u32,
}

impl Passkey {
    /// Whether this key signed the question; how often it has signed by now.
    pub(super) fn signed(&self, question: &Question, assertion: &Assertion) -> Result<u32, PasskeyFlaw> {
        let (client_data, data) = (assertion.client_data.as_bytes(), assertion.authenticator_data.as_bytes());
        if assertion.credential != self.credential {
            return Err(PasskeyFlaw::Unknown);
        }
        check_client(client_data, Ceremony::Get, &self.site, question.challenge())?;
        let said = check_authenticator(data, &self.site)?;
        let message = [data, Digest::of(client_data).as_bytes()].concat();
        if !PublicKey::read(self.key.as_bytes())?.signed(&message, assertion.signature.as_bytes()) {
            return Err(PasskeyFlaw::Forged);
        }
        Ok(said.sign_count)
    }

    /// A key that counts has counted on. One that did not is another one that pretends to be it.
    pub(super) const fn has_moved_on(&self, sign_count: u32) -> bool {
        sign_count > self.sign_count || (sign_count == 0 && self.sign_count == 0)
    }
}

impl Identity {
    /// Checks that a passkey of this person signed the question.
    pub fn prove(&self, question: Question, assertion: Assertion) -> Result<Proof, PasskeyFlaw> {
        let passkey = self.doors.passkey(&assertion.credential).ok_or(PasskeyFlaw::Unknown)?;
        let sign_count = passkey.signed(&question, &assertion)?;
        if !passkey.has_moved_on(sign_count) {
            return Err(PasskeyFlaw::Copied);
        }
        Ok(Proof { by: self.id, key: passkey.key.clone(), question, assertion, sign_count })
    }
}

impl Proof {
    pub const fn by(&self) -> IdentityId {
        self.by
    }

    pub(crate) const fn question(&self) -> &Question {
        &self.question
    }

    pub(crate) const fn credential(&self) -> &Encoded {
        &self.assertion.credential
    }

    pub(crate) const fn sign_count(&self) -> u32 {
        self.sign_count
    }

    /// What is recorded of it.
    pub(crate) fn signing(&self) -> Signing {
        let Question { asked_at, nonce, .. } = &self.question;
        Signing { asked_at: *asked_at, nonce: nonce.clone(), assertion: self.assertion.clone() }
    }

    /// Whether it counts for this person as they are now, who may have lost the passkey since.
    pub(crate) fn counts_for(&self, person: &Identity, now: Timestamp) -> Result<(), PasskeyFlaw> {
        let known = || person.doors.passkey(self.credential()).filter(|passkey| passkey.key == self.key);
        if self.by != person.id || person.revoked {
            return Err(PasskeyFlaw::Unknown);
        }
        let passkey = known().ok_or(PasskeyFlaw::Unknown)?;
        if !passkey.has_moved_on(self.sign_count) {
            return Err(PasskeyFlaw::Copied);
        }
        if self.question.is_open(now) { Ok(()) } else { Err(PasskeyFlaw::Late) }
    }
}
