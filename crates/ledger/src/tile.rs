//! Tiles: the unit in which a ledger is stored, exported and served (C2SP tlog-tiles).
//!
//! A tile holds up to 256 hashes of one level of the tree; a tile of level 0 has a bundle of the 256 entries beside it.
//! This file names tiles and says how they are read, `codec` turns them into bytes and back; neither stores or checks
//! them.

mod codec;

use std::fmt;
use std::str::FromStr;

use crate::hash::Hash;

pub(crate) use codec::split_entries;
pub use codec::{TileError, decode_entries, decode_hashes, encode_hashes, push_entry};

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
    /// The tile at `level` and `index` with `width` hashes; none if no tile can be like that.
    pub fn new(level: u8, index: u64, width: u16) -> Option<Self> {
        let possible = level < TILE_LEVELS && (1..=TILE_WIDTH).contains(&width);
        possible.then_some(TileId { level, index, width })
    }

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
    let named = match kind {
        "entries" => TilePath::Entries(TileId::new(0, index, width)?),
        level => TilePath::Hashes(TileId::new(level.parse().ok()?, index, width)?),
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
}
