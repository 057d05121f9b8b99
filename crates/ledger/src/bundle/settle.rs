//! Deciding, when a tile and what lies below it disagree, which of the two was changed.
//!
//! Every tile is seen from two sides: its stored hashes, and the hashes recomputed from below. Where they differ, the
//! hash one level above (in the end, the signed root) agrees with one of them, and the other is the damage.

use crate::fault::Fault;
use crate::hash::{Hash, perfect_root};
use crate::tile::TileId;

/// One tile, seen from both sides.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) id: TileId,
    /// What was recomputed from below; nothing where that was not possible.
    pub(crate) computed: Vec<Option<Hash>>,
    /// What the tile says, if it could be read.
    pub(crate) stored: Option<Vec<Hash>>,
    /// For leaves that differ from the tile: what is wrong with their entries besides.
    pub(crate) contents: Vec<(u16, Vec<Fault>)>,
}

/// Which side of a tile is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is no difference.
    Agreed,
    /// What lies below is right, the tile was changed.
    TileChanged,
    /// The tile is right, what lies below was changed.
    BelowChanged,
    /// Nothing settles it.
    Open,
}

impl Evidence {
    pub(crate) fn new(id: TileId, computed: Vec<Option<Hash>>, stored: Option<Vec<Hash>>) -> Self {
        Evidence { id, computed, stored, contents: Vec::new() }
    }

    /// Whether the two sides contradict each other anywhere.
    pub(crate) fn differs(&self) -> bool {
        self.differences().next().is_some()
    }

    /// Judges a full tile by the hash that stands for it one level above.
    pub(crate) fn judge(&self, above: Option<Hash>) -> Verdict {
        if !self.differs() {
            return Verdict::Agreed;
        }
        let says = |verdict| above.is_some() && self.hashes(verdict).map(|hashes| perfect_root(&hashes)) == above;
        if says(Verdict::TileChanged) {
            Verdict::TileChanged
        } else if says(Verdict::BelowChanged) {
            Verdict::BelowChanged
        } else {
            Verdict::Open
        }
    }

    /// The hashes of the side that is right. What could not be recomputed is taken from the tile, and the other way
    /// round: the signed root decides in the end whether that was justified.
    pub(crate) fn hashes(&self, verdict: Verdict) -> Option<Vec<Hash>> {
        match (verdict, &self.stored) {
            (Verdict::BelowChanged, Some(stored)) => Some(stored.clone()),
            (_, None) => self.computed.iter().copied().collect(),
            (Verdict::Agreed | Verdict::TileChanged | Verdict::Open, Some(stored)) => {
                let both = self.computed.iter().zip(stored);
                Some(both.map(|(computed, stored)| computed.unwrap_or(*stored)).collect())
            }
        }
    }

    /// What to report under this verdict.
    pub(crate) fn faults(&self, verdict: Verdict) -> Vec<Fault> {
        self.differences().flat_map(|difference| self.fault(verdict, difference)).collect()
    }

    fn fault(&self, verdict: Verdict, (position, computed, recorded): (u16, Hash, Hash)) -> Vec<Fault> {
        let (first, last) = self.id.entries_below(position);
        let path = self.id.path();
        let mut faults = self.contents_at(position);
        match verdict {
            Verdict::Agreed => faults.clear(),
            Verdict::TileChanged => faults.insert(0, Fault::TileChanged { path, position, first, last }),
            Verdict::BelowChanged if self.id.level() > 0 => faults.push(Fault::EntriesChanged { first, last }),
            Verdict::BelowChanged => {
                // That a changed entry is not well-formed says nothing more; where it came from says a lot.
                faults.retain(|fault| matches!(fault, Fault::EntryNumber { .. }));
                faults.insert(0, Fault::EntryChanged { entry: first, recorded, computed });
            }
            Verdict::Open => faults = vec![Fault::Undecided { path, position, first, last }],
        }
        faults
    }

    fn contents_at(&self, position: u16) -> Vec<Fault> {
        let found = self.contents.iter().find(|(other, _)| *other == position);
        found.map(|(_, faults)| faults.clone()).unwrap_or_default()
    }

    /// Position, recomputed hash and stored hash wherever the two are known and differ.
    fn differences(&self) -> impl Iterator<Item = (u16, Hash, Hash)> + '_ {
        let stored = self.stored.iter().flatten();
        (0_u16..)
            .zip(self.computed.iter().zip(stored))
            .filter_map(|(position, (computed, stored))| Some((position, (*computed)?, *stored)))
            .filter(|(_, computed, stored)| computed != stored)
    }
}
