//! Keys that sign notes: their names, their short ids and the text form that verifiers are configured with.
//!
//! A verifier key is written `name+id+base64(type || public key)` (C2SP signed-note). The type byte keeps the keys of a
//! ledger (0x01) and of a witness (0x04) apart even when somebody uses the same secret for both. Where secrets are kept
//! and how they are made is decided elsewhere: this file takes 32 bytes and wipes them when done.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// How long an Ed25519 signature is.
pub(crate) const SIGNATURE_BYTES: usize = Signature::BYTE_SIZE;

/// The name of a key, such as `example.com/ledger`: no white space, no control characters, no plus.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName(String);

impl KeyName {
    /// Longer names serve nobody and would let a note grow without bound.
    const MAX_BYTES: usize = 255;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = KeyError;

    fn from_str(name: &str) -> Result<Self, KeyError> {
        let unfit = |c: char| c.is_whitespace() || c.is_control() || c == '+';
        if name.is_empty() || name.len() > Self::MAX_BYTES || name.contains(unfit) {
            return Err(KeyError::Name { name: shortened(name) });
        }
        Ok(KeyName(name.into()))
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The short id of a key: tells keys of one name apart, and proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 4]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a key signs, and so how: the type byte of C2SP signed-note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyType {
    /// Signs the text of a note.
    Ledger = 0x01,
    /// Signs the text of a note together with a time.
    Witness = 0x04,
}

/// A public key with its name, for either type.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    pub(crate) name: KeyName,
    pub(crate) id: KeyId,
    key_type: KeyType,
    key: ed25519_dalek::VerifyingKey,
}

impl PublicKey {
    fn new(name: KeyName, key_type: KeyType, key: ed25519_dalek::VerifyingKey) -> Self {
        let id = key_id(&name, key_type, key.as_bytes());
        PublicKey { name, id, key_type, key }
    }

    /// Strict verification: one key, one message, one signature; no malleable encodings and no weak keys.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }

    /// Reads the text form, whose type must be the one that is needed and whose id must be the right one.
    pub(crate) fn parse(text: &str, key_type: KeyType) -> Result<Self, KeyError> {
        let not_a_key = || KeyError::Form { key: shortened(text) };
        let (name, rest) = text.split_once('+').ok_or_else(not_a_key)?;
        let (id, encoded) = rest.split_once('+').ok_or_else(not_a_key)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| not_a_key())?;
        let (found_type, key) = bytes.split_first().ok_or_else(not_a_key)?;
        if *found_type != key_type as u8 {
            return Err(KeyError::Type { found: *found_type, needed: key_type as u8 });
        }
        let key: &[u8; 32] = key.try_into().map_err(|_| not_a_key())?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(key).map_err(|_| not_a_key())?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        let public = PublicKey::new(name.parse()?, key_type, key);
        if public.id.to_string() != id {
            return Err(KeyError::Id { found: shortened(id), computed: public.id });
        }
        Ok(public)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![self.key_type as u8];
        bytes.extend_from_slice(self.key.as_bytes());
        write!(f, "{}+{}+{}", self.name, self.id, STANDARD.encode(bytes))
    }
}

/// A secret key with its name, for either type. Wiped from memory when dropped.
pub(crate) struct SecretKey {
    pub(crate) public: PublicKey,
    key: ed25519_dalek::SigningKey,
}

impl SecretKey {
    pub(crate) fn from_seed(name: KeyName, key_type: KeyType, seed: &[u8; 32]) -> Self {
        let seed = Zeroizing::new(*seed);
        let key = ed25519_dalek::SigningKey::from_bytes(&seed);
        SecretKey { public: PublicKey::new(name, key_type, key.verifying_key()), key }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.key.sign(message).to_bytes()
    }
}

fn key_id(name: &KeyName, key_type: KeyType, key: &[u8; 32]) -> KeyId {
    let mut hasher = Sha256::new();
    hasher.update(name.as_str());
    hasher.update([b'\n', key_type as u8]);
    hasher.update(key);
    let [a, b, c, d, ..]: [u8; 32] = hasher.finalize().into();
    KeyId([a, b, c, d])
}

/// Signs tree heads. Shows its name and never its secret.
pub struct SigningKey(pub(crate) SecretKey);

impl SigningKey {
    /// A key from its 32 secret bytes. The caller wipes its own copy.
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Self {
        SigningKey(SecretKey::from_seed(name, KeyType::Ledger, seed))
    }

    /// The name of the key.
    pub fn name(&self) -> &KeyName {
        &self.0.public.name
    }

    /// What others need to check signatures of this key.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey(self.0.public.clone())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}+{}, secret)", self.0.public.name, self.0.public.id)
    }
}

/// Checks tree heads. Written and read as `name+id+base64`.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey(pub(crate) PublicKey);

impl VerifierKey {
    /// The name of the key.
    pub fn name(&self) -> &KeyName {
        &self.0.name
    }

    /// The short id of the key.
    pub fn id(&self) -> KeyId {
        self.0.id
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        PublicKey::parse(text, KeyType::Ledger).map(VerifierKey)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifierKey({self})")
    }
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A name that would break the text forms.
    #[error(
        "`{name}` cannot name a key: 1 to 255 bytes without spaces, control characters or `+` are needed, \
         such as `example.com/ledger`"
    )]
    Name {
        /// The name, shortened.
        name: String,
    },
    /// Not the text form of a key.
    #[error("`{key}` is not a verifier key: the form is `name+id+base64`")]
    Form {
        /// The text, shortened.
        key: String,
    },
    /// A key for something else.
    #[error(
        "the key has type 0x{found:02x}, but 0x{needed:02x} is needed here (0x01 signs ledgers, 0x04 is a witness)"
    )]
    Type {
        /// The type in the text.
        found: u8,
        /// The type that is needed.
        needed: u8,
    },
    /// Name, key and id do not belong together.
    #[error("the key has the id `{computed}`, but its text says `{found}`: it was changed or mistyped")]
    Id {
        /// The id in the text, shortened.
        found: String,
        /// The id that name and key have.
        computed: KeyId,
    },
    /// A key for which anybody can make signatures.
    #[error("the key is one of the few weak Ed25519 keys, for which anybody can sign")]
    Weak,
}

/// Bounded, because it may come from a stranger and ends up in a message.
fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}
