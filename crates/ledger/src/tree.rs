//! The growing Merkle tree, of which only the right edge is kept.
//!
//! Memory is bounded by the depth of the tree, not by the number of entries: per level, the roots of the perfect
//! subtrees on the right edge and the hashes of the one tile that is not yet full. Full tiles are handed out and
//! forgotten. Storing them, and signing the root, is somebody else's work.

use crate::hash::{Hash, empty_root, node_hash, perfect_root};
use crate::tile::{ReadError, TILE_WIDTH, TileId, TileReader, read_tile};

/// A tile together with its hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Which tile it is.
    pub id: TileId,
    /// Its hashes, as many as [`TileId::width`] says.
    pub hashes: Vec<Hash>,
}

/// A Merkle tree that can only grow.
///
/// Cheap to clone, so that a batch whose transaction failed is forgotten by dropping the clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// Roots of the perfect subtrees that make up the tree, largest first: one for each bit that is set in `size`.
    edge: Vec<Hash>,
    /// The hashes of the tile that is not full, for each level.
    growing: Vec<Vec<Hash>>,
}

impl Tree {
    /// A tree without entries.
    pub const fn empty() -> Self {
        Tree { size: 0, edge: Vec::new(), growing: Vec::new() }
    }

    /// Takes up a stored tree of `size` entries again, reading one tile for each level.
    ///
    /// What was read proves nothing yet: compare [`Tree::root`] with a signed head before building on it.
    pub fn resume(size: u64, reader: &impl TileReader) -> Result<Self, ReadError> {
        let mut growing = Vec::new();
        let mut hashes_in_level = size;
        while hashes_in_level > 0 {
            let level = growing.len() as u8;
            let index = hashes_in_level / u64::from(TILE_WIDTH);
            let hashes = match TileId::in_tree(level, index, size) {
                Some(id) => read_tile(reader, id)?,
                None => Vec::new(),
            };
            growing.push(hashes);
            hashes_in_level = index;
        }
        Ok(Self::from_growing(growing))
    }

    /// A tree from the hashes of its tiles that are not full, lowest level first.
    pub(crate) fn from_growing(growing: Vec<Vec<Hash>>) -> Self {
        let mut size = 0;
        let mut edge = Vec::new();
        for hashes in growing.iter().rev() {
            size = size << 8 | hashes.len() as u64;
            push_perfect_roots(hashes, &mut edge);
        }
        Tree { size, edge, growing }
    }

    /// How many entries the tree has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root over all entries.
    pub fn root(&self) -> Hash {
        let mut roots = self.edge.iter().rev();
        let Some(smallest) = roots.next() else { return empty_root() };
        roots.fold(*smallest, |right, left| node_hash(left, &right))
    }

    /// Adds one leaf and hands out the tiles that it filled, lowest level first; mostly none.
    pub fn append(&mut self, leaf: Hash) -> Vec<Tile> {
        let mut full = Vec::new();
        let mut hash = leaf;
        let mut carries = self.size;
        let mut height = 0;
        loop {
            if height % 8 == 0 {
                full.extend(self.grow_tile(height / 8, hash));
            }
            if carries & 1 == 0 {
                break;
            }
            // As in binary addition: two subtrees of one height make one of the next.
            let left = self.edge.pop().expect("a subtree for every bit set in the size");
            hash = node_hash(&left, &hash);
            carries >>= 1;
            height += 1;
        }
        self.edge.push(hash);
        self.size += 1;
        full
    }

    /// The tiles that are not full yet, as a signed head of this size needs them, lowest level first.
    pub fn partial_tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        (0_u8..).zip(&self.growing).filter_map(|(level, hashes)| {
            let index = self.size >> (8 * u32::from(level)) >> 8;
            let id = TileId::in_tree(level, index, self.size)?;
            Some(Tile { id, hashes: hashes.clone() })
        })
    }

    fn grow_tile(&mut self, level: usize, hash: Hash) -> Option<Tile> {
        if self.growing.len() == level {
            self.growing.push(Vec::with_capacity(usize::from(TILE_WIDTH)));
        }
        let hashes = &mut self.growing[level];
        hashes.push(hash);
        if hashes.len() < usize::from(TILE_WIDTH) {
            return None;
        }
        let index = self.size >> (8 * level) >> 8;
        Some(Tile { id: TileId::full(level as u8, index), hashes: std::mem::take(hashes) })
    }
}

/// Splits the hashes of a tile that is not full into perfect subtrees, largest first.
fn push_perfect_roots(hashes: &[Hash], edge: &mut Vec<Hash>) {
    let mut rest = hashes;
    while !rest.is_empty() {
        let (perfect, after) = rest.split_at(1 << rest.len().ilog2());
        edge.push(perfect_root(perfect));
        rest = after;
    }
}
