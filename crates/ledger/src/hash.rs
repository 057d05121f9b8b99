//! The hashes of the Merkle tree (RFC 6962, section 2.1).
//!
//! Leaves and inner nodes are hashed under different prefixes, so that no inner node can be passed off as an entry.
//! This file knows nothing of trees or files; it is the whole of the cryptography that history rests on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// A SHA-256 hash. Shown, parsed and serialised as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; Hash::BYTES]);

impl Hash {
    /// The length of a hash in bytes.
    pub const BYTES: usize = 32;

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

/// The hash of one entry: SHA-256 over `0x00` and the entry's bytes.
pub fn leaf_hash(entry: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([0x00]);
    hasher.update(entry);
    Hash(hasher.finalize().into())
}

/// The hash of an inner node: SHA-256 over `0x01` and the hashes of its two children.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut message = [0x01; 1 + 2 * Hash::BYTES];
    message[1..33].copy_from_slice(&left.0);
    message[33..].copy_from_slice(&right.0);
    Hash(Sha256::digest(message).into())
}

/// The root of a tree without entries: SHA-256 over nothing.
pub fn empty_root() -> Hash {
    Hash(Sha256::digest([]).into())
}

/// The root over `hashes` when their number is a power of two: a perfect subtree.
///
/// Halves one copy in place instead of recursing, because this runs once for every 256 entries.
pub(crate) fn perfect_root(hashes: &[Hash]) -> Hash {
    debug_assert!(hashes.len().is_power_of_two());
    let mut row = hashes.to_vec();
    while row.len() > 1 {
        let half = row.len() / 2;
        for i in 0..half {
            row[i] = node_hash(&row[2 * i], &row[2 * i + 1]);
        }
        row.truncate(half);
    }
    row[0]
}

/// Text that is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a hash: 64 lowercase hexadecimal digits are needed")]
pub struct ParseHashError {
    input: String,
}

impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_hex(text.as_bytes()).map(Hash).ok_or_else(|| ParseHashError {
            // Bounded, because the text may come from a stranger and ends up in a message.
            input: text.chars().take(80).collect(),
        })
    }
}

fn parse_hex(text: &[u8]) -> Option<[u8; Hash::BYTES]> {
    if text.len() != 2 * Hash::BYTES {
        return None;
    }
    let mut bytes = [0; Hash::BYTES];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(bytes)
}

/// Only lowercase: two spellings of one hash would make two different canonical documents.
fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_those_of_certificate_transparency() {
        assert_eq!(empty_root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(leaf_hash(b"").to_string(), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        let two = node_hash(&leaf_hash(b""), &leaf_hash(&[0x00]));
        assert_eq!(two.to_string(), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
    }

    #[test]
    fn a_hash_survives_text_and_json() {
        let hash = leaf_hash(b"x");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let json = serde_json::to_string(&hash).expect("a string");
        assert_eq!(json, format!("\"{hash}\""));
        assert_eq!(serde_json::from_str::<Hash>(&json).expect("a hash"), hash);
    }

    #[test]
    fn other_spellings_of_a_hash_are_refused() {
        let text = leaf_hash(b"x").to_string();
        for wrong in [&text[1..], &text.to_uppercase(), &format!("{text}0"), "", "g"] {
            assert!(wrong.parse::<Hash>().is_err(), "`{wrong}` was accepted");
        }
    }
}
