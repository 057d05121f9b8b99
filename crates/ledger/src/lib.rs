//! The tamper-evident ledger of Placet.
//!
//! Everything that a governed run does is recorded as an [`Entry`]. The entries are the leaves of a Merkle tree
//! (RFC 6962), and the ledger signs the root of that tree as a [`SignedTreeHead`]. From then on, nobody can change,
//! insert, exchange or remove an entry without the root changing, not even whoever runs the ledger.
//!
//! # Whom to trust
//!
//! With an export ([`bundle`]) and the public key of the ledger, a stranger finds out offline whether these are the
//! entries that were signed. That leaves two things open, and both need somebody who remembers:
//!
//! - **Rollback.** An old export is still an honest one. Who keeps the last head they saw, and passes it to
//!   [`bundle::verify`], notices that the ledger has become shorter.
//! - **Fork.** Who holds the signing key can sign two histories and show each to somebody else. A [`witness`] that
//!   cosigns only what continues the last head it saw makes that impossible to do unnoticed.
//!
//! That an entry is *true* is not something that hashes can show; they show that it has not been changed since.
//!
//! # Formats
//!
//! All are public, so other tools can check what is written here, and none of this crate's code is needed to do so:
//!
//! | what | format | module |
//! | --- | --- | --- |
//! | entry | RFC 8785 canonical JSON | [`entry`] |
//! | hashes, proofs | RFC 6962 section 2.1, RFC 9162 section 2.1 | [`hash`], [`tree`], [`proof`] |
//! | files | C2SP tlog-tiles | [`tile`], [`bundle`] |
//! | signatures, keys | C2SP signed-note, Ed25519 | [`note`], [`key`] |
//! | tree head | C2SP tlog-checkpoint | [`head`] |
//! | cosignature | C2SP tlog-cosignature, `cosignature/v1` | [`witness`] |
//!
//! # What this crate does not do
//!
//! It has no storage, no clock, no randomness, no network and no policy. It does not know what the kinds of entries
//! mean. Only [`bundle`] touches files. When to sign, where the key lies and who the witnesses are is decided by
//! whoever uses it; [`verify_entries`] is there to make sure, before signing, that the bytes on disk are those that
//! were hashed.
//!
//! # Example
//!
//! ```
//! use placet_ledger::{Entry, InclusionProof, SigningKey, Tree, TreeHead, leaf_hash};
//!
//! let entry = Entry {
//!     v: Entry::VERSION,
//!     seq: 0,
//!     at: "2026-01-31T09:30:00.000Z".into(),
//!     project: None,
//!     run: None,
//!     action: None,
//!     actor: "human:ada".into(),
//!     kind: "gate.approved".into(),
//!     body: serde_json::json!({ "digest": "…" }),
//! };
//! let leaf = leaf_hash(&entry.to_bytes()?);
//!
//! let mut tree = Tree::empty();
//! tree.append(leaf);
//!
//! let key = SigningKey::from_seed("example.com/ledger".parse()?, &[7; 32]);
//! let head = TreeHead::new("example.com/ledger", tree.size(), tree.root())?.sign(&key)?;
//!
//! // A ledger of one entry: the way from the leaf to the root is empty.
//! let proof = InclusionProof { index: 0, tree_size: 1, path: vec![] };
//! proof.verify(&leaf, head.head())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bundle;
mod canonical;
pub mod entry;
pub mod fault;
pub mod hash;
pub mod head;
pub mod key;
pub mod note;
pub mod proof;
pub mod scan;
mod spell;
pub mod tile;
mod timestamp;
pub mod tree;
pub mod witness;

pub use bundle::Report;
pub use entry::{Entry, EntryError};
pub use fault::{Fault, FileProblem};
pub use hash::{Hash, ParseHashError, empty_root, leaf_hash, node_hash};
pub use head::{HeadError, SignedTreeHead, TreeHead};
pub use key::{KeyError, KeyId, KeyName, SigningKey, VerifierKey};
pub use note::{Note, NoteError, NoteSignature};
pub use proof::{ConsistencyProof, InclusionProof, ProofError, ProveError, verify_consistency, verify_inclusion};
pub use scan::{Scan, StoredEntry, verify_entries};
pub use tile::{MAX_ENTRY_BYTES, ReadError, TILE_WIDTH, TileId, TileReader};
pub use tree::{Tile, Tree};
pub use witness::{WitnessKey, WitnessRefusal, WitnessVerifierKey};
