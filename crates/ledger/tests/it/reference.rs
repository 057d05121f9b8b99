//! The definitions of RFC 6962, section 2.1, written down as they are read: recursive, slow, and hard to get wrong.
//!
//! What the ledger computes is compared with these.

use placet_ledger::{Hash, empty_root, node_hash};

/// The Merkle tree hash of the leaves.
pub(crate) fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(middle(leaves.len()));
            node_hash(&root(left), &root(right))
        }
    }
}

/// The audit path of the leaf at `index`.
pub(crate) fn inclusion(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() <= 1 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(middle(leaves.len()));
    let (mut path, beside) = if index < left.len() {
        (inclusion(index, left), root(right))
    } else {
        (inclusion(index - left.len(), right), root(left))
    };
    path.push(beside);
    path
}

/// The consistency proof between the first `old` leaves and all of them.
pub(crate) fn consistency(old: usize, leaves: &[Hash]) -> Vec<Hash> {
    subproof(old, leaves, Known::Yes)
}

/// Whether the verifier knows the root of the leaves already.
#[derive(Clone, Copy)]
enum Known {
    Yes,
    No,
}

fn subproof(old: usize, leaves: &[Hash], known: Known) -> Vec<Hash> {
    if old == leaves.len() {
        return match known {
            Known::Yes => Vec::new(),
            Known::No => vec![root(leaves)],
        };
    }
    let (left, right) = leaves.split_at(middle(leaves.len()));
    let (mut path, beside) = if old <= left.len() {
        (subproof(old, left, known), root(right))
    } else {
        (subproof(old - left.len(), right, Known::No), root(left))
    };
    path.push(beside);
    path
}

/// The largest power of two below `length`.
fn middle(length: usize) -> usize {
    1 << (length - 1).ilog2()
}
