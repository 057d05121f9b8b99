//! The ledger's tiles, read from the database: full ones as they are stored, the others from what they stand for.

use placet_ledger::tile::decode_hashes;
use placet_ledger::{Hash, ReadError, TILE_WIDTH, TileReader, Tree};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Reads tiles within the snapshot of one connection.
pub(crate) struct Tiles<'a>(pub(crate) &'a Connection);

impl TileReader for Tiles<'_> {
    fn tile(&self, level: u8, index: u64, width: u16) -> Result<Vec<Hash>, ReadError> {
        let path = || format!("tile/{level}, number {index}");
        let failed = |error: rusqlite::Error| ReadError::Failed { path: path(), source: error.into() };
        let mut hashes = match self.stored(level, index).map_err(failed)? {
            Some(bytes) => decode_hashes(&bytes, TILE_WIDTH)
                .map_err(|error| ReadError::Failed { path: path(), source: error.into() })?,
            None => self.growing(level, index, width).map_err(failed)?,
        };
        hashes.truncate(usize::from(width));
        if hashes.len() < usize::from(width) { Err(ReadError::Missing { path: path() }) } else { Ok(hashes) }
    }
}

impl Tiles<'_> {
    /// A full tile as it is stored.
    pub(crate) fn stored(&self, level: u8, number: u64) -> rusqlite::Result<Option<Vec<u8>>> {
        let sql = "SELECT hashes FROM tile WHERE level = ?1 AND number = ?2";
        self.0.prepare_cached(sql)?.query_row(params![level, number], |row| row.get(0)).optional()
    }

    /// The first hashes of a tile, from the leaves or from the roots of the tiles below.
    pub(crate) fn growing(&self, level: u8, number: u64, width: u16) -> rusqlite::Result<Vec<Hash>> {
        let first = number * u64::from(TILE_WIDTH);
        let end = first + u64::from(width);
        let hash = |row: &rusqlite::Row<'_>| row.get(0).map(Hash);
        match level.checked_sub(1) {
            None => {
                let sql = "SELECT leaf FROM ledger WHERE seq >= ?1 AND seq < ?2 ORDER BY seq";
                self.0.prepare_cached(sql)?.query_map(params![first, end], hash)?.collect()
            }
            Some(below) => {
                let sql = "SELECT root FROM tile WHERE level = ?3 AND number >= ?1 AND number < ?2 ORDER BY number";
                self.0.prepare_cached(sql)?.query_map(params![first, end, below], hash)?.collect()
            }
        }
    }
}

/// The root over the hashes of a full tile.
pub(crate) fn root_over(hashes: &[Hash]) -> Hash {
    let mut tree = Tree::empty();
    for hash in hashes {
        tree.append(*hash);
    }
    tree.root()
}
