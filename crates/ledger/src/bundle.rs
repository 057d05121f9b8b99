//! A ledger on disk that a stranger verifies with nothing but these files and a public key.
//!
//! ```text
//! checkpoint                 the signed tree head
//! tile/0/000                 256 leaf hashes
//! tile/0/001.p/44            the last 44 leaf hashes
//! tile/1/000.p/1             the hashes of the full tiles of level 0
//! tile/entries/000           256 entries, each after its 16-bit length
//! tile/entries/001.p/44      the last 44 entries
//! ```
//!
//! This is the layout of C2SP tlog-tiles, so a web server that serves the folder serves a transparency log. Writing and
//! verifying both stream: memory does not grow with the ledger. There is no index, no database and no second format.

mod files;
mod rebuild;
mod settle;
mod strays;
mod verify;
mod write;

pub use files::Tiles;
pub use verify::{Report, verify, verify_reading};
pub use write::{WriteError, write};

/// The file that holds the signed tree head.
pub const CHECKPOINT: &str = "checkpoint";
