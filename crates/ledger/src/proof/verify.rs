//! Checking proofs, by the algorithms of RFC 9162, sections 2.1.3.2 and 2.1.4.2.
//!
//! Those algorithms leave some degenerate claims undefined or true; here they are refused, because a proof that proves
//! nothing must not read like one: an entry beyond the end, growth from the empty tree, hashes that are not used up.

use crate::hash::{Hash, node_hash};

/// Why a proof does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The entry would lie beyond the end of the tree.
    #[error("entry {index} is not in a ledger of {tree_size} entries")]
    BeyondEnd {
        /// The number of the entry.
        index: u64,
        /// The size of the tree.
        tree_size: u64,
    },
    /// The later tree is smaller than the earlier one.
    #[error("a ledger of {new_size} entries cannot have grown from one of {old_size}")]
    Backwards {
        /// The size that should be the earlier one.
        old_size: u64,
        /// The size that should be the later one.
        new_size: u64,
    },
    /// Growth from the empty tree says nothing about the later one.
    #[error("growth from the empty ledger proves nothing: every ledger begins with it")]
    FromEmpty,
    /// The proof has too few or too many hashes for its sizes.
    #[error("the proof has {hashes} hashes, which is the wrong number for its sizes")]
    WrongLength {
        /// How many hashes the proof has.
        hashes: usize,
    },
    /// The proof leads to another root.
    #[error("the proof leads to the root `{computed}`, but the ledger has the root `{expected}`")]
    WrongRoot {
        /// The root that the proof leads to.
        computed: Hash,
        /// The root that it should lead to.
        expected: Hash,
    },
    /// The proof was made for a tree of another size than the head.
    #[error("the proof is about a ledger of {proof} entries, but the tree head has {head}")]
    OtherSize {
        /// The size that the proof is about.
        proof: u64,
        /// The size in the head.
        head: u64,
    },
    /// The two heads belong to different ledgers.
    #[error("the tree heads belong to different ledgers, `{old}` and `{new}`")]
    OtherOrigin {
        /// The origin of the earlier head.
        old: String,
        /// The origin of the later head.
        new: String,
    },
}

/// Checks that the tree of `tree_size` entries with this root holds `leaf` at `index`.
pub fn verify_inclusion(leaf: &Hash, index: u64, tree_size: u64, root: &Hash, path: &[Hash]) -> Result<(), ProofError> {
    if index >= tree_size {
        return Err(ProofError::BeyondEnd { index, tree_size });
    }
    let mut walk = Walk { node: index, last: tree_size - 1 };
    let mut hash = *leaf;
    for beside in path {
        hash = match walk.step().ok_or(ProofError::WrongLength { hashes: path.len() })? {
            Side::Left => node_hash(beside, &hash),
            Side::Right => node_hash(&hash, beside),
        };
    }
    walk.must_be_at_root(path)?;
    must_equal(hash, root)
}

/// Checks that the tree of `new_size` entries begins with the tree of `old_size` entries.
pub fn verify_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    new_root: &Hash,
    path: &[Hash],
) -> Result<(), ProofError> {
    let wrong_length = || ProofError::WrongLength { hashes: path.len() };
    if old_size > new_size {
        return Err(ProofError::Backwards { old_size, new_size });
    }
    if old_size == new_size {
        return if path.is_empty() { must_equal(*old_root, new_root) } else { Err(wrong_length()) };
    }
    if old_size == 0 {
        return Err(ProofError::FromEmpty);
    }
    // The largest perfect subtree at the end of the old tree; when it is the whole old tree, the proof leaves it out.
    let (start, path) = match path.split_first() {
        Some(_) if old_size.is_power_of_two() => (old_root, path),
        Some((first, rest)) => (first, rest),
        None => return Err(wrong_length()),
    };
    let skipped = old_size.trailing_zeros();
    let mut walk = Walk { node: (old_size - 1) >> skipped, last: (new_size - 1) >> skipped };
    let (mut old, mut new) = (*start, *start);
    for beside in path {
        match walk.step().ok_or_else(wrong_length)? {
            Side::Left => {
                old = node_hash(beside, &old);
                new = node_hash(beside, &new);
            }
            Side::Right => new = node_hash(&new, beside),
        }
    }
    walk.must_be_at_root(path)?;
    must_equal(old, old_root)?;
    must_equal(new, new_root)
}

/// On which side of the way up a hash of the path stands.
enum Side {
    Left,
    Right,
}

/// The way from a node up to the root: the node's number in its level, and the number of the last node there.
struct Walk {
    node: u64,
    last: u64,
}

impl Walk {
    /// Goes up past one hash of the path; none at the root, where no hash can be left.
    fn step(&mut self) -> Option<Side> {
        if self.last == 0 {
            return None;
        }
        let side = if self.node & 1 == 1 || self.node == self.last { Side::Left } else { Side::Right };
        if let Side::Left = side {
            // A last node without a sibling is lifted until it has one: it is its own parent.
            self.up(self.node.trailing_zeros());
        }
        self.up(1);
        Some(side)
    }

    fn up(&mut self, levels: u32) {
        self.node >>= levels;
        self.last >>= levels;
    }

    fn must_be_at_root(&self, path: &[Hash]) -> Result<(), ProofError> {
        if self.last == 0 { Ok(()) } else { Err(ProofError::WrongLength { hashes: path.len() }) }
    }
}

fn must_equal(computed: Hash, expected: &Hash) -> Result<(), ProofError> {
    if computed == *expected { Ok(()) } else { Err(ProofError::WrongRoot { computed, expected: *expected }) }
}
