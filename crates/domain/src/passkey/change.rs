//! Changes of somebody's doors that a passkey signs: as exactly as they are recorded, so that an answer is for one change and no other.
//!
//! The secrets that are made by some of them (a link, a token, a password) are not named: they are made after the signature, and the answer
//! counts once.

use super::{Encoded, Passkey};
use crate::canonical;
use crate::digest::Digest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This passkey is added.
    Add { passkey: Digest },
    /// This one is taken away.
    Remove { credential: Encoded },
    /// A link is made that lets in once.
    Link,
    /// There is a new token, and every door is closed.
    Token,
    /// There is a new password.
    Password,
}

impl Change {
    /// To add this one, with all that is recorded of it.
    pub fn adding(passkey: &Passkey) -> Self {
        Self::Add { passkey: Digest::of(&canonical::to_bytes(&serde_json::json!(passkey))) }
    }

    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Remove { .. } => "remove",
            Self::Link => "link",
            Self::Token => "token",
            Self::Password => "password",
        }
    }

    pub(super) fn subject(&self) -> String {
        match self {
            Self::Add { passkey } => passkey.to_string(),
            Self::Remove { credential } => credential.to_string(),
            Self::Link | Self::Token | Self::Password => "-".to_owned(),
        }
    }
}
