//! Proofs: they are those of RFC 6962, they hold, and whatever is changed about them, they no longer hold.

use placet_ledger::{
    ConsistencyProof, Hash, InclusionProof, ProofError, TreeHead, empty_root, verify_consistency, verify_inclusion,
};
use proptest::prelude::*;

use crate::reference;
use crate::support::{ORIGIN, grow, leaves};

#[test]
fn every_inclusion_proof_up_to_130_entries_is_the_defined_one_and_holds() {
    let all = leaves(130);
    for size in 1..=all.len() {
        let leaves = &all[..size];
        let (tree, tiles) = grow(leaves);
        for index in 0..size {
            let proof = InclusionProof::build(index as u64, size as u64, &tiles).expect("all tiles are there");
            assert_eq!(proof.path, reference::inclusion(index, leaves), "entry {index} of {size}");
            let held = verify_inclusion(&leaves[index], index as u64, size as u64, &tree.root(), &proof.path);
            assert_eq!(held, Ok(()), "entry {index} of {size}");
        }
    }
}

#[test]
fn every_consistency_proof_up_to_130_entries_is_the_defined_one_and_holds() {
    let all = leaves(130);
    let (_, tiles) = grow(&all);
    for new in 1..=all.len() {
        for old in 1..=new {
            let proof = ConsistencyProof::build(old as u64, new as u64, &tiles).expect("all tiles are there");
            assert_eq!(proof.path, reference::consistency(old, &all[..new]), "from {old} to {new}");
            let (old_root, new_root) = (reference::root(&all[..old]), reference::root(&all[..new]));
            let held = verify_consistency(old as u64, &old_root, new as u64, &new_root, &proof.path);
            assert_eq!(held, Ok(()), "from {old} to {new}");
        }
    }
}

/// Every way to change a path that a careless verifier might overlook.
fn mutations(path: &[Hash], foreign: Hash) -> Vec<Vec<Hash>> {
    let mut changed = Vec::new();
    for at in 0..path.len() {
        for bit in [0, 7, 100, 255] {
            let mut path = path.to_vec();
            path[at].0[bit / 8] ^= 1 << (bit % 8);
            changed.push(path);
        }
        let edit = |edit: &dyn Fn(&mut Vec<Hash>)| {
            let mut path = path.to_vec();
            edit(&mut path);
            path
        };
        changed.push([&path[..at], &path[at + 1..]].concat());
        changed.push(edit(&|path| path.insert(at, path[at])));
        changed.push(edit(&|path| path.insert(at, foreign)));
        let next = (at + 1) % path.len();
        changed.push(edit(&|path| path.swap(at, next)));
        changed.push(edit(&|path| path.truncate(at)));
    }
    changed.push([path, &[foreign]].concat());
    changed.push([path, &[empty_root()]].concat());
    changed.retain(|changed| changed != path);
    changed
}

#[test]
fn no_changed_inclusion_proof_holds() {
    let all = leaves(70);
    for size in [1, 2, 3, 5, 8, 13, 33, 64, 65, 70] {
        let leaves = &all[..size];
        let root = reference::root(leaves);
        for index in 0..size {
            let path = reference::inclusion(index, leaves);
            let holds = |index: usize, size: usize, leaf: &Hash, root: &Hash, path: &[Hash]| {
                verify_inclusion(leaf, index as u64, size as u64, root, path).is_ok()
            };
            for changed in mutations(&path, all[69]) {
                assert!(!holds(index, size, &leaves[index], &root, &changed), "entry {index} of {size}");
            }
            for other in (0..=size + 1).filter(|other| *other != index) {
                assert!(!holds(other, size, &leaves[index], &root, &path), "entry {index} as {other} of {size}");
            }
            assert!(!holds(index, size, &leaves[index], &empty_root(), &path));
            assert!(!holds(index, size, &empty_root(), &root, &path));
            assert!(!holds(usize::MAX, size, &leaves[index], &root, &path));
        }
    }
}

#[test]
fn no_changed_consistency_proof_holds() {
    let all = leaves(70);
    let root = |size: usize| reference::root(&all[..size]);
    let holds = |old: usize, old_root: &Hash, new: usize, new_root: &Hash, path: &[Hash]| {
        verify_consistency(old as u64, old_root, new as u64, new_root, path).is_ok()
    };
    for new in [1, 2, 3, 6, 8, 21, 64, 65] {
        for old in 1..=new {
            let path = reference::consistency(old, &all[..new]);
            for changed in mutations(&path, all[69]) {
                assert!(!holds(old, &root(old), new, &root(new), &changed), "from {old} to {new}");
            }
            assert!(!holds(old, &all[69], new, &root(new), &path), "other old root");
            assert!(!holds(old, &root(old), new, &all[69], &path), "other new root");
            assert!(!holds(old + 1, &root(old), new, &root(new), &path), "from {old} as {} to {new}", old + 1);
            assert!(!holds(old - 1, &root(old), new, &root(new), &path), "from {old} as {} to {new}", old - 1);
            assert!(!holds(new + 1, &root(new), old, &root(old), &path), "backwards");
        }
    }
}

#[test]
fn an_inclusion_proof_under_another_size_does_not_hold_against_a_head() {
    let leaves = leaves(8);
    let (tree, tiles) = grow(&leaves);
    let head = TreeHead::new(ORIGIN, 8, tree.root()).expect("a valid head");
    let proof = InclusionProof::build(3, 8, &tiles).expect("all tiles are there");
    assert_eq!(proof.verify(&leaves[3], &head), Ok(()));
    let other = InclusionProof { tree_size: 7, ..proof };
    assert_eq!(other.verify(&leaves[3], &head), Err(ProofError::OtherSize { proof: 7, head: 8 }));
}

#[test]
fn the_degenerate_claims_of_public_test_data_are_refused() {
    let (empty, one) = (empty_root(), leaves(1)[0]);
    assert_eq!(
        verify_inclusion(&one, 0, 0, &empty, &[]),
        Err(ProofError::BeyondEnd { index: 0, tree_size: 0 }),
        "nothing is in the empty tree"
    );
    assert!(verify_inclusion(&empty, 2, 1, &empty, &[]).is_err(), "beyond the end");
    assert!(verify_inclusion(&empty, 0, 1, &one, &[]).is_err(), "the empty root is no leaf");
    assert_eq!(verify_consistency(0, &empty, 1, &one, &[]), Err(ProofError::FromEmpty));
    assert_eq!(verify_consistency(0, &empty, 1, &empty, &[empty]), Err(ProofError::FromEmpty));
    assert_eq!(verify_consistency(0, &empty, 0, &empty, &[]), Ok(()), "equal and without a proof");
    assert!(verify_consistency(0, &empty, 0, &one, &[]).is_err(), "equal sizes, other roots");
    assert!(verify_consistency(0, &empty, 0, &empty, &[one]).is_err(), "equal sizes need no proof");
    assert!(verify_consistency(1, &one, 1, &one, &[one]).is_err(), "equal sizes need no proof");
    assert!(verify_consistency(1, &one, 1, &empty, &[]).is_err(), "equal sizes, other roots");
    assert!(verify_consistency(1, &one, 0, &empty, &[one]).is_err(), "backwards");
    assert!(verify_consistency(1, &one, 2, &one, &[]).is_err(), "growth needs a proof");
}

#[test]
fn no_proof_is_built_for_what_cannot_be_proven() {
    let (_, tiles) = grow(&leaves(5));
    assert!(InclusionProof::build(5, 5, &tiles).is_err());
    assert!(ConsistencyProof::build(0, 5, &tiles).is_err());
    assert!(ConsistencyProof::build(6, 5, &tiles).is_err());
    assert!(InclusionProof::build(5, 6, &tiles).is_err(), "the tile is too narrow");
}

#[test]
fn proofs_survive_json() {
    let (_, tiles) = grow(&leaves(5));
    let proof = InclusionProof::build(4, 5, &tiles).expect("all tiles are there");
    let json = serde_json::to_string(&proof).expect("JSON");
    assert!(json.starts_with(r#"{"index":4,"tree_size":5,"path":[""#), "{json}");
    assert_eq!(serde_json::from_str::<InclusionProof>(&json).expect("a proof"), proof);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn proofs_hold_in_larger_trees_and_only_there(
        size in 131_u64..4_000, a in any::<u64>(), b in any::<u64>(), bit in 0_usize..256,
    ) {
        let leaves = leaves(size);
        let (tree, tiles) = grow(&leaves);
        let index = a % size;
        let proof = InclusionProof::build(index, size, &tiles).expect("all tiles are there");
        let leaf = leaves[index as usize];
        prop_assert_eq!(verify_inclusion(&leaf, index, size, &tree.root(), &proof.path), Ok(()));
        let mut path = proof.path;
        let at = b as usize % path.len();
        path[at].0[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(verify_inclusion(&leaf, index, size, &tree.root(), &path).is_err());

        let old = 1 + b % size;
        let old_root = reference::root(&leaves[..old as usize]);
        let proof = ConsistencyProof::build(old, size, &tiles).expect("all tiles are there");
        prop_assert_eq!(verify_consistency(old, &old_root, size, &tree.root(), &proof.path), Ok(()));
        let mut path = proof.path;
        if !path.is_empty() {
            let at = a as usize % path.len();
            path[at].0[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(verify_consistency(old, &old_root, size, &tree.root(), &path).is_err());
        }
    }

    #[test]
    fn hostile_paths_and_sizes_are_refused_without_a_panic(
        index in any::<u64>(), size in any::<u64>(), old in any::<u64>(),
        path in prop::collection::vec(any::<[u8; 32]>(), 0..70),
    ) {
        let path: Vec<Hash> = path.into_iter().map(Hash).collect();
        let root = empty_root();
        prop_assert!(verify_inclusion(&root, index, size, &root, &path).is_err() || (size == 1 && path.is_empty()));
        prop_assert!(verify_consistency(old, &root, size, &root, &path).is_err() || old == size);
    }
}
