//! Rebuilding the tree above the leaves, comparing every stored tile on the way up.
//!
//! One tile for each level is in memory. Leaves come in tile by tile; which entries they are is none of this file's
//! business.

use super::files::Folder;
use super::settle::{Evidence, Verdict};
use crate::fault::{Fault, Faults};
use crate::hash::{Hash, perfect_root};
use crate::tile::{TILE_WIDTH, TileId, decode_hashes};
use crate::tree::Tree;

/// A tree being rebuilt from the leaves up.
#[derive(Debug)]
pub(crate) struct Rebuild<'a> {
    folder: &'a Folder,
    size: u64,
    levels: Vec<Level>,
    buffer: Vec<u8>,
    pub(crate) faults: Faults,
}

#[derive(Debug, Default)]
struct Level {
    /// The hashes of the tile that is being filled, as far as they could be recomputed.
    growing: Vec<Option<Hash>>,
    /// How many tiles have been filled before it.
    filled: u64,
    /// The stored tile that was read last, with its index: the tiles of a level are asked for in order.
    read: Option<(u64, Option<Vec<Hash>>)>,
}

impl<'a> Rebuild<'a> {
    pub(crate) fn new(folder: &'a Folder, size: u64) -> Self {
        let levels = (0..8_u32).take_while(|level| size >> (8 * level) > 0).map(|_| Level::default()).collect();
        Rebuild { folder, size, levels, buffer: Vec::new(), faults: Faults::default() }
    }

    /// The hashes of a stored tile; reports it, once, if it cannot be used.
    pub(crate) fn stored(&mut self, level: u8, index: u64) -> Option<&Vec<Hash>> {
        let id = TileId::in_tree(level, index, self.size)?;
        let known = self.levels[usize::from(level)].read.as_ref();
        if known.is_none_or(|(read, _)| *read != index) {
            let hashes = self.read(id);
            self.levels[usize::from(level)].read = Some((index, hashes));
        }
        self.levels[usize::from(level)].read.as_ref()?.1.as_ref()
    }

    fn read(&mut self, id: TileId) -> Option<Vec<Hash>> {
        let path = id.path();
        let expected_bytes = usize::from(id.width()) * Hash::BYTES;
        if let Err(problem) = self.folder.read(&path, expected_bytes, &mut self.buffer) {
            self.faults.push(Fault::File { path, problem });
            return None;
        }
        let hashes = decode_hashes(&self.buffer, id.width()).ok();
        if hashes.is_none() {
            self.faults.push(Fault::TileLength { path, bytes: self.buffer.len(), expected_bytes });
        }
        hashes
    }

    /// Settles a full tile, reports what is wrong, and answers the hashes that are right.
    pub(crate) fn settle(&mut self, evidence: &Evidence) -> (Option<Vec<Hash>>, Option<Hash>) {
        let above = self.above(evidence.id);
        let verdict = evidence.judge(above);
        self.faults.extend(evidence.faults(verdict));
        let hashes = evidence.hashes(verdict);
        let root = hashes.as_deref().map(perfect_root);
        (hashes, root.or(above))
    }

    /// Adds the root of a full tile to the level above it.
    pub(crate) fn push(&mut self, level: u8, hash: Option<Hash>) {
        let state = &mut self.levels[usize::from(level)];
        state.growing.push(hash);
        if state.growing.len() < usize::from(TILE_WIDTH) {
            return;
        }
        let (computed, index) = (std::mem::take(&mut state.growing), state.filled);
        state.filled += 1;
        let stored = self.stored(level, index).cloned();
        let (_, root) = self.settle(&Evidence::new(TileId::full(level, index), computed, stored));
        self.push(level + 1, root);
    }

    /// The root of the tree that ends after `leaves`, which follow the full tiles added so far.
    pub(crate) fn root_after(&self, leaves: &[Hash]) -> Option<Hash> {
        let above = self.levels.iter().skip(1).map(|level| level.growing.iter().copied().collect());
        let growing: Option<Vec<_>> = std::iter::once(Some(leaves.to_vec())).chain(above).collect();
        Some(Tree::from_growing(growing?).root())
    }

    /// Settles the tiles at the right edge, which have nothing above them but the signed root.
    ///
    /// Answers the leaves of the last tile. `last` is that tile, unless the ledger ends with a full one.
    pub(crate) fn finish(&mut self, last: Option<Evidence>, signed: Hash) -> Option<Vec<Hash>> {
        let mut edge = vec![last];
        edge.extend((1..self.levels.len() as u8).map(|level| self.edge_of(level)));
        let verdicts = choose(&edge, signed);
        let mut leaves = Some(Vec::new());
        for (level, (evidence, verdict)) in edge.into_iter().zip(verdicts).enumerate() {
            let Some(evidence) = evidence else { continue };
            self.faults.extend(evidence.faults(verdict));
            let hashes = evidence.hashes(verdict);
            match level {
                0 => leaves = hashes,
                _ => self.levels[level].growing = hashes.map_or(evidence.computed, into_known),
            }
        }
        leaves
    }

    fn edge_of(&mut self, level: u8) -> Option<Evidence> {
        let index = self.levels[usize::from(level)].filled;
        let id = TileId::in_tree(level, index, self.size)?;
        let computed = self.levels[usize::from(level)].growing.clone();
        let stored = self.stored(level, index).cloned();
        Some(Evidence::new(id, computed, stored))
    }

    fn above(&mut self, id: TileId) -> Option<Hash> {
        let width = u64::from(TILE_WIDTH);
        let hashes = self.stored(id.level() + 1, id.index() / width)?;
        hashes.get((id.index() % width) as usize).copied()
    }
}

fn into_known(hashes: Vec<Hash>) -> Vec<Option<Hash>> {
    hashes.into_iter().map(Some).collect()
}

/// Finds out which sides of the tiles at the edge add up to the signed root. There are at most eight such tiles, so all
/// combinations of those that differ can be tried.
fn choose(edge: &[Option<Evidence>], signed: Hash) -> Vec<Verdict> {
    let differs: Vec<bool> = edge.iter().map(|tile| tile.as_ref().is_some_and(Evidence::differs)).collect();
    let count = differs.iter().filter(|differs| **differs).count();
    let tried = (0..1_u32 << count).map(|choice| verdicts(&differs, choice));
    let open = || differs.iter().map(|differs| if *differs { Verdict::Open } else { Verdict::Agreed }).collect();
    tried.into_iter().find(|verdicts| root_of(edge, verdicts) == Some(signed)).unwrap_or_else(open)
}

/// Reads the bits of `choice` as verdicts on the tiles that differ.
fn verdicts(differs: &[bool], choice: u32) -> Vec<Verdict> {
    let mut rest = choice;
    let mut verdict = |differs: &bool| {
        if !differs {
            return Verdict::Agreed;
        }
        let bit = rest & 1;
        rest >>= 1;
        if bit == 0 { Verdict::TileChanged } else { Verdict::BelowChanged }
    };
    differs.iter().map(&mut verdict).collect()
}

fn root_of(edge: &[Option<Evidence>], verdicts: &[Verdict]) -> Option<Hash> {
    let hashes = |(tile, verdict): (&Option<Evidence>, &Verdict)| match tile {
        Some(tile) => tile.hashes(*verdict),
        None => Some(Vec::new()),
    };
    let growing: Option<Vec<_>> = edge.iter().zip(verdicts).map(hashes).collect();
    Some(Tree::from_growing(growing?).root())
}
