//! Witnesses: others who vouch that a ledger only grows (C2SP tlog-cosignature, `cosignature/v1`).
//!
//! A ledger that keeps its own key can show different histories to different people. A witness remembers the last head
//! it saw and cosigns only what continues it, so two histories would need two witnesses. This file decides and signs;
//! it keeps no state and has no clock: the witness stores the head it cosigned *before* it hands the cosignature out.

use std::fmt;
use std::str::FromStr;

use crate::hash::Hash;
use crate::head::{SignedTreeHead, TreeHead};
use crate::key::{KeyError, KeyName, KeyType, PublicKey, SIGNATURE_BYTES, SecretKey};
use crate::note::{NoteError, NoteSignature, bad};
use crate::proof::{ProofError, verify_consistency};

/// Times beyond this are refused by the format.
const MAX_TIME_S: u64 = i64::MAX as u64;

/// The secret key of a witness. Shows its name and never its secret.
pub struct WitnessKey(SecretKey);

impl WitnessKey {
    /// A key from its 32 secret bytes. The caller wipes its own copy.
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Self {
        WitnessKey(SecretKey::from_seed(name, KeyType::Witness, seed))
    }

    /// What others need to check cosignatures of this key.
    pub fn verifier(&self) -> WitnessVerifierKey {
        WitnessVerifierKey(self.0.public.clone())
    }

    /// Cosigns `new` at `at_unix_s` if it continues `last_seen`, the last head that this witness cosigned.
    ///
    /// `consistency` is the path of the proof from `last_seen` to `new`; it is empty for the first head of a ledger,
    /// for a head of the same size, and after the empty ledger. Answers the head with the cosignature added.
    pub fn cosign(
        &self,
        last_seen: Option<&TreeHead>,
        new: &SignedTreeHead,
        consistency: &[Hash],
        at_unix_s: u64,
    ) -> Result<SignedTreeHead, WitnessRefusal> {
        check_continues(last_seen, new.head(), consistency)?;
        if at_unix_s > MAX_TIME_S {
            return Err(WitnessRefusal::Time { at_unix_s });
        }
        let signature = self.0.sign(&message(at_unix_s, new.note().text()));
        let mut bytes = at_unix_s.to_be_bytes().to_vec();
        bytes.extend_from_slice(&signature);
        let mut cosigned = new.clone();
        cosigned.add_signature(NoteSignature::new(&self.0.public, bytes))?;
        Ok(cosigned)
    }
}

impl fmt::Debug for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessKey({}+{}, secret)", self.0.public.name, self.0.public.id)
    }
}

/// Checks cosignatures. Written and read as `name+id+base64`, with type 0x04.
#[derive(Clone, PartialEq, Eq)]
pub struct WitnessVerifierKey(PublicKey);

impl WitnessVerifierKey {
    /// The name of the witness.
    pub fn name(&self) -> &KeyName {
        &self.0.name
    }

    /// Checks that this witness cosigned the head, and answers when it did, in seconds since 1970.
    pub fn verify(&self, head: &SignedTreeHead) -> Result<u64, NoteError> {
        let signature = head.note().signature_of(&self.0)?;
        let (time, rest) = signature.bytes().split_first_chunk::<8>().ok_or_else(|| bad(&self.0))?;
        let at_unix_s = u64::from_be_bytes(*time);
        let signature: &[u8; SIGNATURE_BYTES] = rest.try_into().map_err(|_| bad(&self.0))?;
        let good = at_unix_s <= MAX_TIME_S && self.0.verifies(&message(at_unix_s, head.note().text()), signature);
        if good { Ok(at_unix_s) } else { Err(bad(&self.0)) }
    }
}

impl FromStr for WitnessVerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        PublicKey::parse(text, KeyType::Witness).map(WitnessVerifierKey)
    }
}

impl fmt::Display for WitnessVerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for WitnessVerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessVerifierKey({self})")
    }
}

/// Why a witness does not cosign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessRefusal {
    /// Another ledger than the one the witness remembers.
    #[error("the head is for the ledger `{new}`, but the last head seen is for `{last}`")]
    OtherOrigin {
        /// The origin of the last head seen.
        last: String,
        /// The origin of the new head.
        new: String,
    },
    /// The ledger has fewer entries than before.
    #[error("the ledger went back from {last_size} to {new_size} entries")]
    Backwards {
        /// The size of the last head seen.
        last_size: u64,
        /// The size of the new head.
        new_size: u64,
    },
    /// The new history does not contain the old one, or the proof does not show it.
    #[error("the head does not continue the last head seen: {0}")]
    Fork(ProofError),
    /// A proof where none is possible.
    #[error("the first head of a ledger needs no proof, but one with {hashes} hashes was given")]
    NeedlessProof {
        /// How many hashes were given.
        hashes: usize,
    },
    /// A time that the format cannot express.
    #[error("the time {at_unix_s} s is beyond what a cosignature can express")]
    Time {
        /// The time.
        at_unix_s: u64,
    },
    /// The note has no room for another signature.
    #[error(transparent)]
    Note(#[from] NoteError),
}

fn check_continues(last: Option<&TreeHead>, new: &TreeHead, path: &[Hash]) -> Result<(), WitnessRefusal> {
    let Some(last) = last else { return check_no_proof(path) };
    if last.origin() != new.origin() {
        return Err(WitnessRefusal::OtherOrigin { last: last.origin().into(), new: new.origin().into() });
    }
    if new.size() < last.size() {
        return Err(WitnessRefusal::Backwards { last_size: last.size(), new_size: new.size() });
    }
    if last.size() == 0 {
        return check_no_proof(path);
    }
    verify_consistency(last.size(), &last.root(), new.size(), &new.root(), path).map_err(WitnessRefusal::Fork)
}

fn check_no_proof(path: &[Hash]) -> Result<(), WitnessRefusal> {
    if path.is_empty() { Ok(()) } else { Err(WitnessRefusal::NeedlessProof { hashes: path.len() }) }
}

/// What a cosignature signs: a line for the format, a line for the time, and the whole text of the head.
fn message(at_unix_s: u64, head: &str) -> Vec<u8> {
    format!("cosignature/v1\ntime {at_unix_s}\n{head}").into_bytes()
}
