//! Signed notes (C2SP signed-note): a text, an empty line, and a line for each signature.
//!
//! A note is only a container. Signatures by unknown keys are kept, because witnesses add theirs, and believed by
//! nobody. The parser is strict: what it accepts is written back byte for byte, so nothing can hide in a second
//! spelling.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::key::{KeyError, KeyId, KeyName, PublicKey, SIGNATURE_BYTES, SigningKey, VerifierKey};

/// How many signatures a note may carry: what the format obliges every reader to accept.
pub const MAX_SIGNATURES: usize = 16;

/// The longest note that is read: 16 of the largest signatures in use, and a text.
pub const MAX_NOTE_BYTES: usize = 256 * 1024;

/// A text with signatures, of which none has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// One signature line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature {
    name: KeyName,
    id: KeyId,
    bytes: Vec<u8>,
}

impl NoteSignature {
    pub(crate) fn new(key: &PublicKey, bytes: Vec<u8>) -> Self {
        NoteSignature { name: key.name.clone(), id: key.id, bytes }
    }

    /// The name of the key that is said to have signed.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The id of the key that is said to have signed.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The signature without the id; what it looks like depends on the type of the key.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn parse(line: &str) -> Option<Result<Self, KeyError>> {
        let (name, encoded) = line.strip_prefix("— ")?.split_once(' ')?;
        let decoded = STANDARD.decode(encoded).ok()?;
        let (id, bytes) = decoded.split_first_chunk::<4>()?;
        if bytes.is_empty() {
            return None;
        }
        let named = |name| NoteSignature { name, id: KeyId(*id), bytes: bytes.to_vec() };
        Some(name.parse().map(named))
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.id.0[..], &self.bytes].concat();
        writeln!(f, "— {} {}", self.name, STANDARD.encode(bytes))
    }
}

impl Note {
    /// Signs a text, which must end with a line break.
    pub fn sign(text: String, key: &SigningKey) -> Result<Self, NoteError> {
        check_text(&text)?;
        let signature = NoteSignature::new(&key.0.public, key.0.sign(text.as_bytes()).to_vec());
        Ok(Note { text, signatures: vec![signature] })
    }

    /// Reads a note without believing it: call [`Note::verify`] before using its text.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > MAX_NOTE_BYTES {
            return Err(NoteError::TooLong { bytes: bytes.len() });
        }
        let note = std::str::from_utf8(bytes).map_err(|_| NoteError::Text)?;
        let blank = note.rfind("\n\n").ok_or(NoteError::NoSignatures)?;
        let (text, signatures) = (&note[..=blank], &note[blank + 2..]);
        check_text(text)?;
        let mut parsed = Note { text: text.into(), signatures: Vec::new() };
        for (number, line) in signatures.split_inclusive('\n').enumerate() {
            parsed.add(parse_line(line, number + 1)?)?;
        }
        if parsed.signatures.is_empty() { Err(NoteError::NoSignatures) } else { Ok(parsed) }
    }

    /// The text, with the line break that ends it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All signatures, checked or not, known or not.
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Checks the signature of one key.
    pub fn verify(&self, key: &VerifierKey) -> Result<(), NoteError> {
        let signature = self.signature_of(&key.0)?;
        let bytes: &[u8; SIGNATURE_BYTES] = signature.bytes.as_slice().try_into().map_err(|_| bad(&key.0))?;
        if key.0.verifies(self.text.as_bytes(), bytes) { Ok(()) } else { Err(bad(&key.0)) }
    }

    /// Adds a signature line, at most one for each key.
    pub(crate) fn add(&mut self, signature: NoteSignature) -> Result<(), NoteError> {
        if self.signatures.len() == MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        if self.find(&signature.name, signature.id).is_some() {
            return Err(NoteError::Duplicate { name: signature.name, id: signature.id });
        }
        self.signatures.push(signature);
        Ok(())
    }

    /// Replaces what the same key signed before, or adds the line.
    pub(crate) fn replace(&mut self, signature: NoteSignature) -> Result<(), NoteError> {
        self.signatures.retain(|other| (&other.name, other.id) != (&signature.name, signature.id));
        self.add(signature)
    }

    pub(crate) fn signature_of(&self, key: &PublicKey) -> Result<&NoteSignature, NoteError> {
        self.find(&key.name, key.id).ok_or_else(|| NoteError::NotSignedBy { name: key.name.clone(), id: key.id })
    }

    fn find(&self, name: &KeyName, id: KeyId) -> Option<&NoteSignature> {
        self.signatures.iter().find(|signature| signature.name == *name && signature.id == id)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| signature.fmt(f))
    }
}

pub(crate) fn bad(key: &PublicKey) -> NoteError {
    NoteError::BadSignature { name: key.name.clone(), id: key.id }
}

fn check_text(text: &str) -> Result<(), NoteError> {
    let unfit = |byte: u8| byte < 0x20 && byte != b'\n';
    if !text.ends_with('\n') || text.bytes().any(unfit) { Err(NoteError::Text) } else { Ok(()) }
}

fn parse_line(line: &str, number: usize) -> Result<NoteSignature, NoteError> {
    let line = line.strip_suffix('\n').ok_or(NoteError::SignatureLine { line: number })?;
    let signature = NoteSignature::parse(line).ok_or(NoteError::SignatureLine { line: number })?;
    Ok(signature?)
}

/// Why a note is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Longer than any honest note.
    #[error("a note of {bytes} bytes is too long: at most {MAX_NOTE_BYTES} are read")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A text that a note cannot carry.
    #[error("the text of a note must be UTF-8, end with a line break and have no other control characters")]
    Text,
    /// Nothing that looks like a signature.
    #[error("the note has no signatures after an empty line")]
    NoSignatures,
    /// A line that is not a signature.
    #[error("signature line {line} of the note does not have the form `— name base64`")]
    SignatureLine {
        /// Which line, counted from 1 after the empty line.
        line: usize,
    },
    /// A signature by a key that cannot exist.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// More signatures than a note may have.
    #[error("the note has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
    /// Two signatures of one key.
    #[error("the note has two signatures by the key `{name}+{id}`")]
    Duplicate {
        /// The name of the key.
        name: KeyName,
        /// The id of the key.
        id: KeyId,
    },
    /// The key that is trusted has not signed.
    #[error("the note is not signed by the key `{name}+{id}`")]
    NotSignedBy {
        /// The name of the key.
        name: KeyName,
        /// The id of the key.
        id: KeyId,
    },
    /// The key that is trusted has signed something else.
    #[error("the signature by the key `{name}+{id}` is not valid for this text: the text or the signature was changed")]
    BadSignature {
        /// The name of the key.
        name: KeyName,
        /// The id of the key.
        id: KeyId,
    },
}
