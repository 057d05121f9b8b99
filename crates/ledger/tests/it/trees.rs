//! The tree: its roots are those of RFC 6962, its tiles those of tlog-tiles, and it can be taken up again.

use placet_ledger::{Hash, TileId, Tree, leaf_hash};
use proptest::prelude::*;

use crate::reference;
use crate::support::{MemoryTiles, grow, leaves};

#[test]
fn the_roots_of_the_certificate_transparency_test_data_are_met() {
    let inputs: [&[u8]; 8] = [
        &[],
        &[0x00],
        &[0x10],
        &[0x20, 0x21],
        &[0x30, 0x31],
        &[0x40, 0x41, 0x42, 0x43],
        &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
        &[0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
    ];
    let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let mut tree = Tree::empty();
    for (input, root) in inputs.iter().zip(roots) {
        tree.append(leaf_hash(input));
        assert_eq!(tree.root().to_string(), root, "at size {}", tree.size());
    }
}

#[test]
fn every_root_up_to_600_entries_is_that_of_the_definition() {
    let leaves = leaves(600);
    let mut tree = Tree::empty();
    for size in 0..leaves.len() {
        assert_eq!(tree.root(), reference::root(&leaves[..size]), "at size {size}");
        tree.append(leaves[size]);
    }
}

#[test]
fn a_tree_taken_up_again_is_the_same_tree() {
    let leaves = leaves(1200);
    for size in [0, 1, 2, 255, 256, 257, 511, 512, 513, 1000, 1199] {
        let (mut tree, tiles) = grow(&leaves[..size]);
        let mut resumed = Tree::resume(size as u64, &tiles).expect("all tiles are there");
        assert_eq!(resumed, tree);
        for leaf in &leaves[size..] {
            assert_eq!(resumed.append(*leaf), tree.append(*leaf));
        }
        assert_eq!(resumed.root(), reference::root(&leaves));
    }
}

#[test]
fn a_tree_cannot_be_taken_up_from_missing_tiles() {
    assert!(Tree::resume(300, &MemoryTiles::default()).is_err());
    let (_, tiles) = grow(&leaves(299));
    let error = Tree::resume(300, &tiles).expect_err("one hash is missing");
    assert_eq!(error.to_string(), "the tile `0/1.p/44` is missing");
}

#[test]
fn a_batch_is_forgotten_by_dropping_the_clone() {
    let leaves = leaves(300);
    let (tree, _) = grow(&leaves[..250]);
    let mut batch = tree.clone();
    leaves[250..].iter().for_each(|leaf| drop(batch.append(*leaf)));
    assert_eq!((tree.size(), batch.size()), (250, 300));
    assert_eq!(tree.root(), reference::root(&leaves[..250]));
}

#[test]
fn tiles_come_out_as_soon_as_they_are_full_on_every_level() {
    let leaves = leaves(65_537);
    let mut tree = Tree::empty();
    let mut full: Vec<(u64, TileId)> = Vec::new();
    for leaf in &leaves {
        let tiles = tree.append(*leaf);
        full.extend(tiles.iter().map(|tile| (tree.size(), tile.id)));
        let own = |hashes: &[Hash]| reference::root(hashes);
        if let [below, above] = tiles.as_slice() {
            assert_eq!((below.id.level(), above.id.level()), (0, 1));
            assert_eq!(above.hashes[255], own(&below.hashes));
        }
    }
    assert_eq!(full.len(), 257);
    assert_eq!(full[0], (256, TileId::in_tree(0, 0, 256).expect("a tile")));
    assert_eq!(full[256], (65_536, TileId::in_tree(1, 0, 65_536).expect("a tile")));
    let partial: Vec<String> = tree.partial_tiles().map(|tile| tile.id.path()).collect();
    assert_eq!(partial, ["tile/0/256.p/1", "tile/2/000.p/1"]);
    assert_eq!(tree.root(), reference::root(&leaves));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn resuming_works_at_every_size(size in 0_u64..5_000) {
        let leaves = leaves(size);
        let (tree, tiles) = grow(&leaves);
        prop_assert_eq!(tree.root(), reference::root(&leaves));
        prop_assert_eq!(Tree::resume(size, &tiles).expect("all tiles are there"), tree);
    }
}
