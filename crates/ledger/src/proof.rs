//! Proofs about a tree: that it holds an entry, and that it only grew.
//!
//! `build` makes proofs from tiles, `verify` checks them from nothing but hashes. A proof is worth as much as the tree
//! head it is checked against, which is why the methods here take heads and not loose sizes and roots.

mod build;
mod verify;

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::head::TreeHead;

pub use build::ProveError;
pub use verify::{ProofError, verify_consistency, verify_inclusion};

/// Shows that the entry number `index` is in a tree of `tree_size` entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InclusionProof {
    /// The number of the entry, counted from 0.
    pub index: u64,
    /// The size of the tree that the proof leads to.
    pub tree_size: u64,
    /// The hashes beside the way from the entry to the root, lowest first.
    pub path: Vec<Hash>,
}

impl InclusionProof {
    /// Checks that the entry with this leaf hash is what `head` holds at [`InclusionProof::index`].
    pub fn verify(&self, leaf: &Hash, head: &TreeHead) -> Result<(), ProofError> {
        if self.tree_size != head.size() {
            return Err(ProofError::OtherSize { proof: self.tree_size, head: head.size() });
        }
        verify_inclusion(leaf, self.index, head.size(), &head.root(), &self.path)
    }
}

/// Shows that a tree of `new_size` entries begins with the tree of `old_size` entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyProof {
    /// The size of the earlier tree.
    pub old_size: u64,
    /// The size of the later tree.
    pub new_size: u64,
    /// The hashes that both roots are recomputed from.
    pub path: Vec<Hash>,
}

impl ConsistencyProof {
    /// Checks that the ledger with head `new` is the ledger with head `old`, only longer.
    pub fn verify(&self, old: &TreeHead, new: &TreeHead) -> Result<(), ProofError> {
        if old.origin() != new.origin() {
            return Err(ProofError::OtherOrigin { old: old.origin().into(), new: new.origin().into() });
        }
        for (proof, head) in [(self.old_size, old.size()), (self.new_size, new.size())] {
            if proof != head {
                return Err(ProofError::OtherSize { proof, head });
            }
        }
        verify_consistency(old.size(), &old.root(), new.size(), &new.root(), &self.path)
    }
}
