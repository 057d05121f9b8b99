//! Tree heads: what a ledger says about itself at one size, signed (C2SP tlog-checkpoint).
//!
//! A head is three lines (origin, size, root) and perhaps extension lines. A [`SignedTreeHead`] exists only after its
//! signature was made or checked, so whoever holds one need not ask again. Whether two heads belong to one history is
//! the business of `proof`; when a head may be signed at all is the business of whoever holds the key.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::hash::{Hash, empty_root};
use crate::key::{SigningKey, VerifierKey};
use crate::note::{Note, NoteError, NoteSignature};

/// Size and root of a ledger, not yet signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeHead {
    origin: String,
    size: u64,
    root: Hash,
    extensions: Vec<String>,
}

impl TreeHead {
    /// The head of the ledger `origin` at `size` entries. The empty ledger has exactly one possible root.
    pub fn new(origin: impl Into<String>, size: u64, root: Hash) -> Result<Self, HeadError> {
        let origin = origin.into();
        if !is_line(&origin) {
            return Err(HeadError::Line { line: origin.chars().take(120).collect() });
        }
        if size == 0 && root != empty_root() {
            return Err(HeadError::EmptyRoot);
        }
        Ok(TreeHead { origin, size, root, extensions: Vec::new() })
    }

    /// The same head with one more extension line: opaque text that is signed along.
    pub fn with_extension(mut self, line: impl Into<String>) -> Result<Self, HeadError> {
        let line = line.into();
        if !is_line(&line) {
            return Err(HeadError::Line { line: line.chars().take(120).collect() });
        }
        self.extensions.push(line);
        Ok(self)
    }

    /// Reads the text of a head, which is signed by nobody yet.
    pub fn parse(text: &str) -> Result<Self, HeadError> {
        let mut lines = text.strip_suffix('\n').ok_or(HeadError::Form)?.split('\n');
        let mut line = || lines.next().ok_or(HeadError::Form);
        let (origin, size, root) = (line()?, line()?, line()?);
        let size = parse_size(size).ok_or(HeadError::Form)?;
        let root = STANDARD.decode(root).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(HeadError::Form)?;
        lines.try_fold(TreeHead::new(origin, size, Hash(root))?, TreeHead::with_extension)
    }

    /// Which ledger it is.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// How many entries the ledger has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root over these entries.
    pub const fn root(&self) -> Hash {
        self.root
    }

    /// The extension lines.
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// Signs the head. The key bears the name of the ledger, so that a verifier who has the key knows the origin too.
    pub fn sign(self, key: &SigningKey) -> Result<SignedTreeHead, HeadError> {
        check_name(&self, key.name().as_str())?;
        let note = Note::sign(self.to_string(), key)?;
        Ok(SignedTreeHead { head: self, note })
    }
}

impl fmt::Display for TreeHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, STANDARD.encode(self.root.0))?;
        self.extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// A tree head whose signature by the ledger is known to be good, perhaps with cosignatures of witnesses.
///
/// Its text form ([`fmt::Display`]) is the signed note that goes into a file named `checkpoint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTreeHead {
    head: TreeHead,
    note: Note,
}

impl SignedTreeHead {
    /// Reads a signed head and checks that this key signed it, for the ledger that the key is named after.
    pub fn verify(bytes: &[u8], key: &VerifierKey) -> Result<Self, HeadError> {
        let note = Note::parse(bytes)?;
        note.verify(key)?;
        let head = TreeHead::parse(note.text())?;
        check_name(&head, key.name().as_str())?;
        Ok(SignedTreeHead { head, note })
    }

    /// The head.
    pub const fn head(&self) -> &TreeHead {
        &self.head
    }

    /// How many entries the ledger has.
    pub const fn size(&self) -> u64 {
        self.head.size
    }

    /// The root over these entries.
    pub const fn root(&self) -> Hash {
        self.head.root
    }

    /// The note with all signatures.
    pub const fn note(&self) -> &Note {
        &self.note
    }

    pub(crate) fn add_signature(&mut self, signature: NoteSignature) -> Result<(), NoteError> {
        self.note.replace(signature)
    }
}

impl fmt::Display for SignedTreeHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.note.fmt(f)
    }
}

/// Why something is not a tree head of this ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Not the three lines.
    #[error("a tree head has at least three lines: origin, size in decimal digits, root in base64")]
    Form,
    /// An origin or extension that would not be one line.
    #[error("`{line}` cannot stand in a tree head: it must be one line, not empty, without control characters")]
    Line {
        /// The line, shortened.
        line: String,
    },
    /// A ledger without entries, but not with the root of one.
    #[error("the head of an empty ledger must have the root of the empty tree")]
    EmptyRoot,
    /// The key belongs to another ledger.
    #[error("the tree head is for the ledger `{origin}`, but the key is for `{key}`")]
    OtherOrigin {
        /// The origin in the head.
        origin: String,
        /// The name of the key.
        key: String,
    },
    /// The note around the head is refused.
    #[error(transparent)]
    Note(#[from] NoteError),
}

fn check_name(head: &TreeHead, key: &str) -> Result<(), HeadError> {
    if head.origin == key {
        return Ok(());
    }
    Err(HeadError::OtherOrigin { origin: head.origin.clone(), key: key.into() })
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c < ' ')
}

/// Decimal digits without leading zeroes; `parse` alone would accept `+5` and `05`.
fn parse_size(text: &str) -> Option<u64> {
    let size: u64 = text.parse().ok()?;
    (size.to_string() == text).then_some(size)
}
