//! Tiles: the unit in which a ledger is stored, exported and served (C2SP tlog-tiles).
//!
//! A tile holds up to 256 hashes of one level of the tree; a tile of level 0 has a bundle of the 256 entries beside it.
//! This file names tiles, turns them into bytes and back, and says how tiles are read; it neither stores nor checks them.

use std::fmt;
use std::str::FromStr;

use crate::hash::Hash;

/// How many hashes a full tile holds.
pub const TILE_WIDTH: u16 = 256;

/// How many levels of tiles a tree can have: each tile spans eight levels of the tree, and sizes have 64 bits.
pub const TILE_LEVELS: u8 = 8;

/// The longest entry that an entry bundle can carry, given its 16-bit lengths.
pub const MAX_ENTRY_BYTES: usize = 65_535;

/// Names one tile: its level (0 holds the leaves), its place in that level, and how many hashes it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    level: u8,
    index: u64,
    width: u16,
}

impl TileId {
    /// The tile at `level` and `index` as it is in a tree of `tree_size` entries; none if it would be empty.
    pub fn in_tree(level: u8, index: u64, tree_size: u64) -> Option<Self> {
        let hashes_in_level = tree_size.checked_shr(8 * u32::from(level)).unwrap_or(0);
        let before = index.checked_mul(u64::from(TILE_WIDTH))?;
        let rest = hashes_in_level.checked_sub(before)?;
        let width = u16::try_from(rest).unwrap_or(TILE_WIDTH).min(TILE_WIDTH);
        (width > 0).then_some(TileId { level, index, width })
    }

    /// The full tile at `level` and `index`.
    pub(crate) const fn full(level: u8, index: u64) -> Self {
        TileId { level, index, width: TILE_WIDTH }
    }

    /// The level: 0 holds leaf hashes, and each hash above stands for one full tile of the level below.
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// The place of the tile within its level.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// How many hashes the tile holds: 1 to 256.
    pub const fn width(&self) -> u16 {
        self.width
    }

    /// Whether the tile holds 256 hashes and so never changes again.
    pub const fn is_full(&self) -> bool {
        self.width == TILE_WIDTH
    }

    /// Where the hashes are kept, such as `tile/0/x001/234.p/5`.
    pub fn path(&self) -> String {
        format!("tile/{}/{}", self.level, self.place())
    }

    /// Where the entries below a tile of level 0 are kept, such as `tile/entries/x001/234.p/5`.
    pub fn entries_path(&self) -> String {
        format!("tile/entries/{}", self.place())
    }

    /// The entries that hash number `position` of this tile stands for, first and last.
    pub fn entries_below(&self, position: u16) -> (u64, u64) {
        let height = 8 * u32::from(self.level);
        let nth = self.index.saturating_mul(u64::from(TILE_WIDTH)).saturating_add(u64::from(position));
        let span = 1_u64.checked_shl(height).unwrap_or(u64::MAX);
        let first = nth.saturating_mul(span);
        (first, first.saturating_add(span - 1))
    }

    fn place(&self) -> String {
        let mut text = format!("{:03}", self.index % 1000);
        let mut rest = self.index / 1000;
        while rest > 0 {
            text = format!("x{:03}/{text}", rest % 1000);
            rest /= 1000;
        }
        if self.is_full() { text } else { format!("{text}.p/{}", self.width) }
    }
}

impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

/// What a path below a ledger names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TilePath {
    /// Hashes of one tile.
    Hashes(TileId),
    /// The entries below one tile of level 0.
    Entries(TileId),
}

impl TilePath {
    /// The tile, whichever of its two files is named.
    pub const fn tile(&self) -> TileId {
        match self {
            TilePath::Hashes(tile) | TilePath::Entries(tile) => *tile,
        }
    }
}

/// A path that names no tile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not the path of a tile, such as `tile/0/x001/234` or `tile/entries/005.p/17`")]
pub struct ParseTilePathError {
    path: String,
}

impl FromStr for TilePath {
    type Err = ParseTilePathError;

    /// Accepts the one spelling that [`TileId::path`] and [`TileId::entries_path`] produce, and no other.
    fn from_str(path: &str) -> Result<Self, Self::Err> {
        parse_path(path).ok_or_else(|| ParseTilePathError { path: path.chars().take(200).collect() })
    }
}

fn parse_path(path: &str) -> Option<TilePath> {
    let (kind, place) = path.strip_prefix("tile/")?.split_once('/')?;
    let (index, width) = parse_place(place)?;
    let tile = |level| TileId { level, index, width };
    let named = match kind {
        "entries" => TilePath::Entries(tile(0)),
        level => TilePath::Hashes(tile(level.parse().ok().filter(|level| *level < TILE_LEVELS)?)),
    };
    // Writing it back catches every second spelling (`+5`, `00`, a needless `x000/`) in one place.
    let written = match named {
        TilePath::Hashes(tile) => tile.path(),
        TilePath::Entries(tile) => tile.entries_path(),
    };
    (written == path).then_some(named)
}

fn parse_place(place: &str) -> Option<(u64, u16)> {
    let (digits, width) = match place.split_once(".p/") {
        Some((digits, width)) => (digits, width.parse().ok().filter(|width| (1..TILE_WIDTH).contains(width))?),
        None => (place, TILE_WIDTH),
    };
    let mut index = 0_u64;
    for group in digits.split('/') {
        let group: u64 = group.strip_prefix('x').unwrap_or(group).parse().ok()?;
        index = index.checked_mul(1000)?.checked_add(group)?;
    }
    Some((index, width))
}

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

/// Why a tile could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such tile, or it holds fewer hashes than asked for.
    #[error("the tile `{path}` is missing")]
    Missing {
        /// The path of the tile.
        path: String,
    },
    /// The tile was there and could not be read.
    #[error("the tile `{path}` could not be read")]
    Failed {
        /// The path of the tile.
        path: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Something that hands out tiles: a database, an export on disk, a map in a test.
pub trait TileReader {
    /// The first `width` hashes of the tile at `level` and `index`.
    ///
    /// A reader that holds a wider version of the tile cuts it: a tile only ever grows at its end.
    fn tile(&self, level: u8, index: u64, width: u16) -> Result<Vec<Hash>, ReadError>;
}

/// Reads a tile and refuses an answer of another width, so that no caller has to trust the reader with lengths.
pub(crate) fn read_tile(reader: &impl TileReader, id: TileId) -> Result<Vec<Hash>, ReadError> {
    let hashes = reader.tile(id.level, id.index, id.width)?;
    if hashes.len() == usize::from(id.width) {
        return Ok(hashes);
    }
    let bytes = hashes.len() * Hash::BYTES;
    Err(ReadError::Failed { path: id.path(), source: Box::new(TileError::Length { bytes, width: id.width }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::leaf_hash;

    #[test]
    fn paths_group_the_index_in_thousands() {
        assert_eq!(TileId::full(0, 1_234_067).path(), "tile/0/x001/x234/067");
        assert_eq!(TileId { level: 0, index: 1234, width: 5 }.path(), "tile/0/x001/234.p/5");
        assert_eq!(TileId::full(0, 5).entries_path(), "tile/entries/005");
    }

    #[test]
    fn a_tree_of_70_000_entries_has_the_tiles_that_the_format_names() {
        let width = |level, index| TileId::in_tree(level, index, 70_000).map(|tile| tile.width());
        assert_eq!([width(0, 272), width(0, 273), width(0, 274)], [Some(256), Some(112), None]);
        assert_eq!([width(1, 0), width(1, 1), width(2, 0)], [Some(256), Some(17), Some(1)]);
        assert_eq!([width(3, 0), width(8, 0), width(255, u64::MAX)], [None, None, None]);
    }

    #[test]
    fn only_the_one_spelling_of_a_path_is_accepted() {
        for index in [0, 7, 999, 1000, 1_234_067, u64::MAX / 256] {
            for width in [1, 255, 256] {
                let tile = TileId { level: 2, index, width };
                assert_eq!(tile.path().parse(), Ok(TilePath::Hashes(tile)));
                let leaves = TileId { level: 0, ..tile };
                assert_eq!(leaves.entries_path().parse(), Ok(TilePath::Entries(leaves)));
            }
        }
        for wrong in [
            "tile/0/5",
            "tile/0/x000/005",
            "tile/00/005",
            "tile/8/005",
            "tile/0/+05",
            "tile/0/005.p/256",
            "tile/0/005.p/0",
            "tile/0/005.p/05",
            "tile/0/001/005",
            "tile/0/x001/x005",
            "tile/0/../checkpoint",
            "tile/0/",
            "checkpoint",
            "/tile/0/005",
            "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        ] {
            assert!(wrong.parse::<TilePath>().is_err(), "`{wrong}` was accepted");
        }
    }

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
