//! What the scenarios share: a small ledger with its key, tiles in memory, and a random generator with a fixed seed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

use placet_ledger::tile::TileReader;
use placet_ledger::{
    Entry, Hash, ReadError, SignedTreeHead, SigningKey, Tile, Tree, TreeHead, VerifierKey, bundle, leaf_hash,
};
use serde_json::json;

pub(crate) const ORIGIN: &str = "example.com/ledger";

/// A ledger in memory, its entries being what a run would record.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) entries: Vec<Vec<u8>>,
}

impl Ledger {
    pub(crate) fn of(size: u64) -> Self {
        Ledger { entries: (0..size).map(|seq| bytes(&entry(seq))).collect() }
    }

    pub(crate) fn leaves(&self) -> Vec<Hash> {
        self.entries.iter().map(|entry| leaf_hash(entry)).collect()
    }

    pub(crate) fn head(&self) -> SignedTreeHead {
        let (tree, _) = grow(&self.leaves());
        signed(tree.size(), tree.root())
    }

    /// Signs the first `size` entries.
    pub(crate) fn head_at(&self, size: usize) -> SignedTreeHead {
        Ledger { entries: self.entries[..size].to_vec() }.head()
    }

    pub(crate) fn export(&self, dir: &Path) {
        let entries = self.entries.iter().map(Ok::<_, Infallible>);
        bundle::write(dir, &self.head(), entries).expect("the export is written");
    }
}

pub(crate) fn signed(size: u64, root: Hash) -> SignedTreeHead {
    let head = TreeHead::new(ORIGIN, size, root).expect("a valid head");
    head.sign(&key()).expect("the key bears the name of the ledger")
}

pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(ORIGIN.parse().expect("a valid name"), &[7; 32])
}

pub(crate) fn verifier() -> VerifierKey {
    key().verifier()
}

pub(crate) fn entry(seq: u64) -> Entry {
    Entry {
        v: Entry::VERSION,
        seq,
        at: format!("2026-01-31T09:{:02}:{:02}.{:03}Z", seq / 60_000 % 60, seq / 1000 % 60, seq % 1000),
        project: None,
        run: Some("r1".into()),
        action: None,
        actor: "agent".into(),
        kind: "note".into(),
        body: json!({ "n": seq * 7 }),
    }
}

pub(crate) fn bytes(entry: &Entry) -> Vec<u8> {
    entry.to_bytes().expect("a valid entry")
}

/// Tiles in memory, as a store would keep them.
#[derive(Default)]
pub(crate) struct MemoryTiles(BTreeMap<(u8, u64), Vec<Hash>>);

impl MemoryTiles {
    pub(crate) fn put(&mut self, tile: Tile) {
        self.0.insert((tile.id.level(), tile.id.index()), tile.hashes);
    }
}

impl TileReader for MemoryTiles {
    fn tile(&self, level: u8, index: u64, width: u16) -> Result<Vec<Hash>, ReadError> {
        let hashes = self.0.get(&(level, index)).and_then(|hashes| hashes.get(..usize::from(width)));
        let missing = || ReadError::Missing { path: format!("{level}/{index}.p/{width}") };
        hashes.map(<[Hash]>::to_vec).ok_or_else(missing)
    }
}

/// A tree over the leaves, and all its tiles.
pub(crate) fn grow(leaves: &[Hash]) -> (Tree, MemoryTiles) {
    let mut tree = Tree::empty();
    let mut tiles = MemoryTiles::default();
    for leaf in leaves {
        tree.append(*leaf).into_iter().for_each(|tile| tiles.put(tile));
    }
    tree.partial_tiles().for_each(|tile| tiles.put(tile));
    (tree, tiles)
}

/// Leaves that are all different.
pub(crate) fn leaves(count: u64) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}
