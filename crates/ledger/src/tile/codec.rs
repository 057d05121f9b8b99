//! The files of a tile: hashes one after the other, and entries each after its 16-bit length.
//!
//! Reading is strict about lengths and says nothing about contents: whether a hash belongs to an entry is checked by
//! those who have both.

use super::MAX_ENTRY_BYTES;
use crate::hash::Hash;

/// A file that is not what a tile or an entry bundle looks like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// The hashes do not fill the file exactly.
    #[error("{bytes} bytes do not hold the {width} hashes of this tile")]
    Length {
        /// How long the file is.
        bytes: usize,
        /// How many hashes the tile should hold.
        width: u16,
    },
    /// The bundle ends before its entries do.
    #[error("the bundle ends inside or before its entry number {entry}, counted from 0")]
    CutShort {
        /// The first entry of the bundle that is incomplete.
        entry: usize,
    },
    /// The bundle goes on after its entries.
    #[error("{bytes} bytes follow the last entry of the bundle")]
    Trailing {
        /// How many bytes are too many.
        bytes: usize,
    },
    /// An entry is too long for its 16-bit length.
    #[error("an entry of {bytes} bytes does not fit: at most {MAX_ENTRY_BYTES} are allowed")]
    EntryTooLong {
        /// How long the entry is.
        bytes: usize,
    },
}

/// The file of a tile of hashes: the hashes, one after the other.
pub fn encode_hashes(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

/// Reads the file of a tile that must hold `width` hashes.
pub fn decode_hashes(bytes: &[u8], width: u16) -> Result<Vec<Hash>, TileError> {
    let (chunks, rest) = bytes.as_chunks::<{ Hash::BYTES }>();
    if chunks.len() != usize::from(width) || !rest.is_empty() {
        return Err(TileError::Length { bytes: bytes.len(), width });
    }
    Ok(chunks.iter().copied().map(Hash).collect())
}

/// Appends one entry to the bytes of an entry bundle: a big-endian 16-bit length, then the entry.
pub fn push_entry(bundle: &mut Vec<u8>, entry: &[u8]) -> Result<(), TileError> {
    let length = u16::try_from(entry.len()).map_err(|_| TileError::EntryTooLong { bytes: entry.len() })?;
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(entry);
    Ok(())
}

/// Splits an entry bundle that must hold `width` entries.
pub fn decode_entries(bundle: &[u8], width: u16) -> Result<Vec<&[u8]>, TileError> {
    let split = split_entries(bundle, width);
    if split.entries.len() < usize::from(width) {
        return Err(TileError::CutShort { entry: split.entries.len() });
    }
    if split.rest > 0 {
        return Err(TileError::Trailing { bytes: split.rest });
    }
    Ok(split.entries)
}

/// As much of a bundle as can be split into entries.
#[derive(Debug)]
pub(crate) struct Split<'a> {
    pub(crate) entries: Vec<&'a [u8]>,
    /// How many bytes belong to no whole entry.
    pub(crate) rest: usize,
}

/// Splits off whole entries, at most `width` of them; never fails, so that a verifier can say where damage begins.
pub(crate) fn split_entries(bundle: &[u8], width: u16) -> Split<'_> {
    let mut entries = Vec::with_capacity(usize::from(width));
    let mut rest = bundle;
    while entries.len() < usize::from(width) {
        let Some((entry, after)) = split_first_entry(rest) else { break };
        entries.push(entry);
        rest = after;
    }
    Split { entries, rest: rest.len() }
}

fn split_first_entry(bundle: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bundle.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::leaf_hash;

    #[test]
    fn hashes_and_entries_survive_their_files() {
        let hashes = [leaf_hash(b"a"), leaf_hash(b"b")];
        assert_eq!(decode_hashes(&encode_hashes(&hashes), 2), Ok(hashes.to_vec()));
        assert_eq!(decode_hashes(&encode_hashes(&hashes)[1..], 2), Err(TileError::Length { bytes: 63, width: 2 }));

        let mut bundle = Vec::new();
        for entry in [&b"one"[..], b"", &[7; MAX_ENTRY_BYTES]] {
            push_entry(&mut bundle, entry).expect("short enough");
        }
        assert_eq!(decode_entries(&bundle, 3).expect("whole")[0], b"one");
        assert_eq!(decode_entries(&bundle, 4), Err(TileError::CutShort { entry: 3 }));
        assert_eq!(decode_entries(&bundle[..bundle.len() - 1], 3), Err(TileError::CutShort { entry: 2 }));
        assert_eq!(decode_entries(&bundle[..7], 1), Err(TileError::Trailing { bytes: 2 }));
        assert!(push_entry(&mut bundle, &[0; MAX_ENTRY_BYTES + 1]).is_err());
    }
}
