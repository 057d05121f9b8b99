//! Building proofs from tiles, by the recursive definitions of RFC 6962, sections 2.1.1 and 2.1.2.
//!
//! Each tile is read once for a proof. Nothing is verified here: a proof from a damaged store simply fails to verify.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{ConsistencyProof, InclusionProof};
use crate::hash::{Hash, node_hash, perfect_root};
use crate::tile::{ReadError, TILE_WIDTH, TileId, TileReader, read_tile};

/// Why no proof could be built.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The entry is not in the tree.
    #[error("entry {index} is not in a ledger of {tree_size} entries")]
    NoSuchEntry {
        /// The number asked for.
        index: u64,
        /// The size of the tree.
        tree_size: u64,
    },
    /// A tree cannot have grown from a later one.
    #[error("a ledger of {new_size} entries cannot have grown from one of {old_size}")]
    Backwards {
        /// The size that should be the earlier one.
        old_size: u64,
        /// The size that should be the later one.
        new_size: u64,
    },
    /// Every tree grows from the empty one, so there is nothing that a proof could show.
    #[error("there is nothing to prove about the empty ledger: every ledger begins with it")]
    FromEmpty,
    /// A tile is not there.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl InclusionProof {
    /// Builds the proof that entry `index` is in the tree of `tree_size` entries.
    pub fn build(index: u64, tree_size: u64, reader: &impl TileReader) -> Result<Self, ProveError> {
        if index >= tree_size {
            return Err(ProveError::NoSuchEntry { index, tree_size });
        }
        let mut path = Vec::new();
        Nodes::new(reader, tree_size).inclusion(index, 0..tree_size, &mut path)?;
        Ok(InclusionProof { index, tree_size, path })
    }
}

impl ConsistencyProof {
    /// Builds the proof that the tree of `new_size` entries begins with that of `old_size` entries.
    pub fn build(old_size: u64, new_size: u64, reader: &impl TileReader) -> Result<Self, ProveError> {
        if old_size > new_size {
            return Err(ProveError::Backwards { old_size, new_size });
        }
        if old_size == 0 && new_size > 0 {
            return Err(ProveError::FromEmpty);
        }
        let mut path = Vec::new();
        if old_size < new_size {
            Nodes::new(reader, new_size).consistency(old_size, 0..new_size, &mut path)?;
        }
        Ok(ConsistencyProof { old_size, new_size, path })
    }
}

/// The nodes of one tree, computed from its tiles.
struct Nodes<'a, R> {
    reader: &'a R,
    tree_size: u64,
    tiles: BTreeMap<TileId, Vec<Hash>>,
}

impl<'a, R: TileReader> Nodes<'a, R> {
    fn new(reader: &'a R, tree_size: u64) -> Self {
        Nodes { reader, tree_size, tiles: BTreeMap::new() }
    }

    fn inclusion(&mut self, index: u64, tree: Range<u64>, path: &mut Vec<Hash>) -> Result<(), ReadError> {
        if tree.end - tree.start == 1 {
            return Ok(());
        }
        let (left, right) = split(&tree);
        let (with, beside) = if index < left.end { (left, right) } else { (right, left) };
        self.inclusion(index, with, path)?;
        path.push(self.root_of(beside)?);
        Ok(())
    }

    fn consistency(&mut self, old_size: u64, tree: Range<u64>, path: &mut Vec<Hash>) -> Result<(), ReadError> {
        if old_size == tree.end {
            // The verifier knows the old root itself; it needs this subtree only when it is a part of the old tree.
            if tree.start > 0 {
                path.push(self.root_of(tree)?);
            }
            return Ok(());
        }
        let (left, right) = split(&tree);
        let (with, beside) = if old_size <= left.end { (left, right) } else { (right, left) };
        self.consistency(old_size, with, path)?;
        path.push(self.root_of(beside)?);
        Ok(())
    }

    /// The root over the entries in `tree`, which is one of the ranges that [`split`] produces.
    fn root_of(&mut self, tree: Range<u64>) -> Result<Hash, ReadError> {
        let length = tree.end - tree.start;
        if length.is_power_of_two() {
            return self.perfect(length.ilog2(), tree.start);
        }
        let (left, right) = split(&tree);
        Ok(node_hash(&self.root_of(left)?, &self.root_of(right)?))
    }

    /// The root of the perfect subtree of this height whose first entry is `start`.
    fn perfect(&mut self, height: u32, start: u64) -> Result<Hash, ReadError> {
        let level = height / 8;
        let first = start >> (8 * level);
        let offset = (first % u64::from(TILE_WIDTH)) as usize;
        let hashes = self.tile(level as u8, first / u64::from(TILE_WIDTH))?;
        Ok(perfect_root(&hashes[offset..offset + (1 << (height % 8))]))
    }

    fn tile(&mut self, level: u8, index: u64) -> Result<&[Hash], ReadError> {
        let id = TileId::in_tree(level, index, self.tree_size)
            .expect("a subtree inside the tree lies in a tile of the tree");
        if !self.tiles.contains_key(&id) {
            self.tiles.insert(id, read_tile(self.reader, id)?);
        }
        Ok(&self.tiles[&id])
    }
}

/// Splits a tree into its two subtrees: the left one is perfect and as large as possible.
fn split(tree: &Range<u64>) -> (Range<u64>, Range<u64>) {
    let length = tree.end - tree.start;
    let middle = tree.start + (1 << (length - 1).ilog2());
    (tree.start..middle, middle..tree.end)
}
