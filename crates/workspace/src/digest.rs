//! SHA-256 digests, in the one spelling that is used everywhere: `sha256:` and 64 lowercase hex digits.
//!
//! The domain has a type of the same name and spelling. This crate knows none of ours, so it has its own.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// Large enough that reading costs more than calling, small enough for a stack.
const CHUNK_BYTES: usize = 1 << 16;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a digest; one looks like `sha256:` followed by 64 lowercase hex digits")]
pub struct BadDigest;

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of everything that can be read, and its length.
    pub(crate) fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let (mut hasher, mut length, mut chunk) = (Hasher::default(), 0, [0; CHUNK_BYTES]);
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => return Ok((hasher.finish(), length)),
                Ok(read) => {
                    hasher.update(&chunk[..read]);
                    length += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hashes bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Hashes a list of fields so that no two lists have the same bytes: each field is preceded by its length.
#[derive(Debug)]
pub(crate) struct Fields(Sha256);

impl Fields {
    /// The purpose keeps digests of different things apart.
    pub(crate) fn new(purpose: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.add(purpose.as_bytes());
        fields
    }

    pub(crate) fn add(&mut self, field: &[u8]) {
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    pub(crate) fn add_number(&mut self, number: u64) {
        self.add(&number.to_be_bytes());
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        f.write_str("sha256:")?;
        f.write_str(std::str::from_utf8(&hex).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64).ok_or(BadDigest)?.as_bytes();
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0]).zip(nibble(pair[1])).map(|(high, low)| high << 4 | low).ok_or(BadDigest)?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_back_from_its_one_spelling_and_from_no_other() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for wrong in ["", "sha256:", &digest.to_string().to_uppercase(), &digest.to_string()[7..], "sha256:zz"] {
            assert_eq!(wrong.parse::<Digest>(), Err(BadDigest), "{wrong}");
        }
    }

    #[test]
    fn fields_that_only_run_together_alike_have_different_digests() {
        let of = |fields: &[&str]| {
            let mut all = Fields::new("test");
            fields.iter().for_each(|field| all.add(field.as_bytes()));
            all.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["abc"]), of(&["abc", ""]));
    }
}
