//! Encryption at rest: AES-256-GCM, in chunks, under a key of the content's own that only the given key opens. For whatever is kept by its
//! digest: evidence in a store, content of snapshots on a worker.
//!
//! ```text
//! magic (8) | id of the key (8) | nonce (12) | content key, encrypted (32 + 16) | chunk | chunk | …
//! chunk: up to 64 KiB, encrypted, + 16 bytes of tag; nonce: 0000000 | last? | number
//! ```
//!
//! The content key is bound to the digest of the plain bytes, so a sealed file under another name does not open. Each chunk is bound to its
//! place and the last one says so: chunks can be neither exchanged, nor dropped, nor added. Since every content has its own random key,
//! counting nonces are never used twice.
//!
//! What this hides is the content. Its digest, its length and that it is there are not hidden.

mod open;
mod sealer;

use std::fmt;

use aes_gcm::{Aes256Gcm, KeyInit as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

pub use open::{OpenError, open};
pub use sealer::{NoRandomness, Sealer};

const MAGIC: &[u8; 8] = b"PLACETE1";
const KEY_ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const WRAPPED_BYTES: usize = 32 + TAG_BYTES;
/// Large enough that the tags cost nothing, small enough that a stream holds little in memory.
const CHUNK_BYTES: usize = 64 * 1024;

/// How long what comes before the content is. It is written last, because it names the digest.
pub const HEADER_BYTES: usize = MAGIC.len() + KEY_ID_BYTES + NONCE_BYTES + WRAPPED_BYTES;

/// The SHA-256 of the plain bytes.
pub type Name = [u8; 32];

type Nonce = [u8; NONCE_BYTES];

/// The key that opens what was sealed with it. Shows its id and never itself; wiped from memory when dropped.
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    /// A key from 32 random bytes.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(Zeroizing::new(key))
    }

    /// Tells keys apart and says nothing about them.
    fn id(&self) -> [u8; KEY_ID_BYTES] {
        let digest = Sha256::new().chain_update(b"placet/evidence-key/v1\n").chain_update(self.0.as_slice()).finalize();
        let digest: Name = digest.into();
        *digest.first_chunk().expect("a digest is longer than a key id")
    }

    /// The same, for people and for files.
    #[must_use]
    pub fn name(&self) -> String {
        hex(&self.id())
    }

    fn cipher(&self) -> Aes256Gcm {
        cipher(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, secret)", self.name())
    }
}

/// How many plain bytes a sealed file of this length holds.
#[must_use]
pub const fn plain_length(file_bytes: u64) -> u64 {
    let body = file_bytes.saturating_sub(HEADER_BYTES as u64);
    let chunk = (CHUNK_BYTES + TAG_BYTES) as u64;
    body.saturating_sub(body.div_ceil(chunk) * TAG_BYTES as u64)
}

fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    Aes256Gcm::new(&(*key).into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn chunk_nonce(number: u32, last: bool) -> Nonce {
    let mut nonce = [0; NONCE_BYTES];
    nonce[7] = u8::from(last);
    nonce[8..].copy_from_slice(&number.to_be_bytes());
    nonce
}

#[cfg(test)]
mod tests;
