//! Verifying an export: every byte of every file, against one public key and perhaps a head seen earlier.
//!
//! The files may come from an adversary. Nothing in them makes verification panic, follow a link, read more than one
//! bundle into memory, or run on after [`MAX_FAULTS`](crate::fault::MAX_FAULTS) findings.

use std::path::Path;

use serde::Serialize;

use super::CHECKPOINT;
use super::files::Folder;
use super::rebuild::Rebuild;
use super::settle::Evidence;
use super::strays::find_strays;
use crate::fault::{Fault, Faults};
use crate::hash::{Hash, leaf_hash};
use crate::head::{SignedTreeHead, TreeHead};
use crate::key::VerifierKey;
use crate::note::{MAX_NOTE_BYTES, Note};
use crate::scan::{Times, read_entry};
use crate::tile::{MAX_ENTRY_BYTES, TILE_WIDTH, TileId, split_entries};

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many entries the head claims.
    pub size: u64,
    /// The root over the entries, as far as it could be recomputed.
    pub root: Option<Hash>,
    /// The head, if its signature is good.
    #[serde(serialize_with = "head_as_text")]
    pub head: Option<SignedTreeHead>,
    /// How many entries were read and found to be as recorded.
    pub entries: u64,
    /// When the first entry was recorded.
    pub first_at: Option<String>,
    /// When the last entry was recorded.
    pub last_at: Option<String>,
    /// Everything that is wrong. Only if this is empty is the ledger what was signed.
    pub faults: Vec<Fault>,
}

impl Report {
    /// Whether the ledger is exactly what was signed, and continues the known head if there was one.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

fn head_as_text<S: serde::Serializer>(head: &Option<SignedTreeHead>, serializer: S) -> Result<S::Ok, S::Error> {
    head.as_ref().map(SignedTreeHead::to_string).serialize(serializer)
}

/// Verifies the export in `dir` against the key of the ledger and, if there is one, a head that was seen earlier.
///
/// Without a known head, an old but honest copy is sound: only somebody who remembers can notice a rollback.
pub fn verify(dir: &Path, key: &VerifierKey, known: Option<&SignedTreeHead>) -> Report {
    verify_reading(dir, key, known, &mut |_| {})
}

/// The same; whoever wants to know what the entries mean is shown each one that is as it must be, in order, in the same pass. Whether
/// they are what was signed is only known at the end.
pub fn verify_reading(
    dir: &Path,
    key: &VerifierKey,
    known: Option<&SignedTreeHead>,
    read: &mut dyn FnMut(&[u8]),
) -> Report {
    let folder = Folder::new(dir);
    let mut faults = Faults::default();
    let (claimed, signed) = read_head(&folder, key, &mut faults);
    let Some(claimed) = claimed else { return Report::without_head(faults) };
    let mut pass = Pass::new(&folder, &claimed, known.map(SignedTreeHead::head), faults, read);
    pass.tiles();
    let root = pass.finish();
    find_strays(&folder, claimed.size(), &mut pass.rebuild.faults);
    pass.report(signed, root)
}

impl Report {
    fn without_head(faults: Faults) -> Self {
        let faults = faults.into_vec();
        Report { size: 0, root: None, head: None, entries: 0, first_at: None, last_at: None, faults }
    }
}

/// Reads what the head claims, and the head itself if it is signed: damage is to be located even under a bad signature.
fn read_head(folder: &Folder, key: &VerifierKey, faults: &mut Faults) -> (Option<TreeHead>, Option<SignedTreeHead>) {
    let mut bytes = Vec::new();
    if let Err(problem) = folder.read(CHECKPOINT, MAX_NOTE_BYTES, &mut bytes) {
        faults.push(Fault::File { path: CHECKPOINT.into(), problem });
        return (None, None);
    }
    match SignedTreeHead::verify(&bytes, key) {
        Ok(signed) => (Some(signed.head().clone()), Some(signed)),
        Err(error) => {
            faults.push(Fault::Head { reason: error.to_string() });
            let claimed = Note::parse(&bytes).ok().and_then(|note| TreeHead::parse(note.text()).ok());
            (claimed, None)
        }
    }
}

/// One pass over all entries.
struct Pass<'a> {
    folder: &'a Folder,
    head: &'a TreeHead,
    known: Option<&'a TreeHead>,
    /// The root at the size of the known head.
    root_at_known: Option<Hash>,
    rebuild: Rebuild<'a>,
    /// The last tile of leaves, if it is not full.
    last: Option<Evidence>,
    times: Times,
    entries: u64,
    read: &'a mut dyn FnMut(&[u8]),
}

impl<'a> Pass<'a> {
    fn new(
        folder: &'a Folder,
        head: &'a TreeHead,
        known: Option<&'a TreeHead>,
        faults: Faults,
        read: &'a mut dyn FnMut(&[u8]),
    ) -> Self {
        let mut rebuild = Rebuild::new(folder, head.size());
        rebuild.faults = faults;
        let times = Times::default();
        Pass { folder, head, known, root_at_known: None, rebuild, last: None, times, entries: 0, read }
    }

    fn tiles(&mut self) {
        let mut buffer = Vec::new();
        let mut index = 0;
        while let Some(tile) = TileId::in_tree(0, index, self.head.size()) {
            if self.rebuild.faults.is_full() {
                return;
            }
            self.tile(tile, &mut buffer);
            index += 1;
        }
    }

    fn tile(&mut self, tile: TileId, buffer: &mut Vec<u8>) {
        let evidence = self.gather(tile, buffer);
        if !tile.is_full() {
            self.last = Some(evidence);
            return;
        }
        let (leaves, root) = self.rebuild.settle(&evidence);
        self.note_known_inside(tile, leaves.as_deref());
        self.rebuild.push(1, root);
        let (_, last) = tile.entries_below(tile.width() - 1);
        if self.known.is_some_and(|known| known.size() == last + 1) {
            self.root_at_known = self.rebuild.root_after(&[]);
        }
    }

    /// Remembers the root at the size of the known head if that lies inside this tile.
    fn note_known_inside(&mut self, tile: TileId, leaves: Option<&[Hash]>) {
        let (start, _) = tile.entries_below(0);
        let Some(known) = self.known.and_then(|known| known.size().checked_sub(start)) else { return };
        let inside = usize::try_from(known).ok().and_then(|known| leaves?.get(..known));
        if let Some(leaves) = inside.filter(|leaves| !leaves.is_empty() && leaves.len() < usize::from(TILE_WIDTH)) {
            self.root_at_known = self.rebuild.root_after(leaves);
        }
    }

    /// Reads the bundle and the tile of the same entries.
    fn gather(&mut self, tile: TileId, buffer: &mut Vec<u8>) -> Evidence {
        let stored = self.rebuild.stored(0, tile.index()).cloned();
        let mut evidence = Evidence::new(tile, Vec::with_capacity(usize::from(TILE_WIDTH)), stored);
        let path = tile.entries_path();
        let limit = usize::from(tile.width()) * (2 + MAX_ENTRY_BYTES);
        match self.folder.read(&path, limit, buffer) {
            Ok(()) => self.entries(&mut evidence, path, buffer),
            Err(problem) => {
                self.rebuild.faults.push(Fault::File { path, problem });
                self.missing_from(tile, 0);
            }
        }
        evidence.computed.resize(usize::from(tile.width()), None);
        evidence
    }

    fn entries(&mut self, evidence: &mut Evidence, path: String, bundle: &[u8]) {
        let split = split_entries(bundle, evidence.id.width());
        let cut_short = split.entries.len() < usize::from(evidence.id.width());
        let whole = !cut_short && split.rest == 0;
        for (position, bytes) in (0_u16..).zip(&split.entries) {
            let (place, _) = evidence.id.entries_below(position);
            let good = self.entry(evidence, position, bytes);
            if !good && !whole {
                // A wrong length shifts all that follows, so only the first difference says anything.
                evidence.computed.pop();
                evidence.contents.clear();
                self.rebuild.faults.push(Fault::BundleBroken { path, entry: place });
                return;
            }
        }
        if cut_short {
            self.missing_from(evidence.id, split.entries.len() as u16);
        } else if split.rest > 0 {
            self.rebuild.faults.push(Fault::TrailingData { path });
        }
    }

    /// Checks one entry; answers whether it is what was recorded.
    fn entry(&mut self, evidence: &mut Evidence, position: u16, bytes: &[u8]) -> bool {
        let (place, _) = evidence.id.entries_below(position);
        let leaf = leaf_hash(bytes);
        evidence.computed.push(Some(leaf));
        let recorded = evidence.stored.as_ref().map(|stored| stored[usize::from(position)]);
        if recorded.is_some_and(|recorded| recorded != leaf) {
            evidence.contents.push((position, read_entry(place, bytes, None)));
            return false;
        }
        let faults = read_entry(place, bytes, Some(&mut self.times));
        self.entries += u64::from(faults.is_empty());
        if faults.is_empty() {
            (self.read)(bytes);
        }
        let good = faults.is_empty() || recorded.is_some();
        self.rebuild.faults.extend(faults);
        good
    }

    fn missing_from(&mut self, tile: TileId, position: u16) {
        let (first, _) = tile.entries_below(position);
        let (last, _) = tile.entries_below(tile.width() - 1);
        self.rebuild.faults.push(Fault::EntriesMissing { first, last });
    }

    /// Compares the whole with the head and with the known head; answers the root of the whole.
    fn finish(&mut self) -> Option<Hash> {
        if self.rebuild.faults.is_full() {
            return None;
        }
        let last = self.last.take();
        let tile = last.as_ref().map(|last| last.id);
        let leaves = self.rebuild.finish(last, self.head.root());
        if let Some(tile) = tile {
            self.note_known_inside(tile, leaves.as_deref());
        }
        let root = leaves.and_then(|leaves| self.rebuild.root_after(&leaves));
        self.compare_head(root);
        if let Some(known) = self.known {
            self.compare_known(known);
        }
        root
    }

    fn compare_head(&mut self, root: Option<Hash>) {
        let signed = self.head.root();
        match root {
            Some(computed) if computed == signed => self.rebuild.faults.decide_for_entries(),
            Some(computed) => {
                self.rebuild.faults.push(Fault::RootMismatch { size: self.head.size(), signed, computed });
            }
            None => self.rebuild.faults.push(Fault::RootUnknown),
        }
    }

    fn compare_known(&mut self, known: &TreeHead) {
        let (known_size, size) = (known.size(), self.head.size());
        let faults = &mut self.rebuild.faults;
        if known.origin() != self.head.origin() {
            faults.push(Fault::OtherLedger { known: known.origin().into(), origin: self.head.origin().into() });
        } else if known_size > size {
            faults.push(Fault::RolledBack { size, known_size });
        } else if known_size > 0 {
            match self.root_at_known {
                Some(computed) if computed == known.root() => {}
                Some(computed) => faults.push(Fault::Forked { known_size, known: known.root(), computed }),
                None => faults.push(Fault::KnownHeadUnchecked { known_size }),
            }
        }
    }

    fn report(self, head: Option<SignedTreeHead>, root: Option<Hash>) -> Report {
        let (first_at, last_at) = self.times.span().map(|(first, last)| (first.into(), last.into())).unzip();
        let faults = self.rebuild.faults.into_vec();
        Report { size: self.head.size(), root, head, entries: self.entries, first_at, last_at, faults }
    }
}
