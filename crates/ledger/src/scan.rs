//! Going through entries one by one: does each hash to what was recorded, bear its number, and come after the last?
//!
//! This is the core that the verifier of an export and the scrubber of a database share. It reads no files and no
//! database, and it holds one entry at a time.

use crate::entry::Envelope;
use crate::fault::{Fault, Faults};
use crate::hash::{Hash, leaf_hash};
use crate::tree::Tree;

/// An entry as a database holds it: the number, the bytes, and the leaf hash computed when it was recorded.
#[derive(Debug, Clone, Copy)]
pub struct StoredEntry<B> {
    /// The number in the database.
    pub seq: u64,
    /// The canonical bytes.
    pub bytes: B,
    /// The leaf hash that was recorded with them.
    pub leaf: Hash,
}

/// What going through stored entries found.
#[derive(Debug)]
pub struct Scan {
    tree: Tree,
    times: Times,
    faults: Faults,
}

impl Scan {
    /// The tree over the entries as they are, to sign its root; or what is wrong with them, in which case nothing may
    /// be signed.
    pub fn into_tree(self) -> Result<Tree, Vec<Fault>> {
        if self.faults.is_empty() { Ok(self.tree) } else { Err(self.faults.into_vec()) }
    }

    /// When the first and the last of the entries were recorded.
    pub fn times(&self) -> Option<(&str, &str)> {
        self.times.span()
    }
}

/// Rehashes stored entries that follow on `tree`, and checks number, form and time of each.
///
/// Meant to run before a head is signed: a signature over a root in memory would otherwise vouch for bytes that the
/// disk has meanwhile lost. A gap ends the scan, because no hash after it could be placed. Only reading can fail.
pub fn verify_entries<B, E>(tree: Tree, entries: impl IntoIterator<Item = Result<StoredEntry<B>, E>>) -> Result<Scan, E>
where
    B: AsRef<[u8]>,
{
    let mut scan = Scan { tree, times: Times::default(), faults: Faults::default() };
    for entry in entries {
        let entry = entry?;
        let place = scan.tree.size();
        if entry.seq > place {
            scan.faults.push(Fault::EntriesMissing { first: place, last: entry.seq - 1 });
            break;
        }
        scan.take(place, &entry);
        if scan.faults.is_full() {
            break;
        }
    }
    Ok(scan)
}

impl Scan {
    fn take<B: AsRef<[u8]>>(&mut self, place: u64, entry: &StoredEntry<B>) {
        let bytes = entry.bytes.as_ref();
        let computed = leaf_hash(bytes);
        self.tree.append(computed);
        if entry.seq != place {
            self.faults.push(Fault::EntryNumber { entry: place, seq: entry.seq });
        } else if computed != entry.leaf {
            self.faults.push(Fault::EntryChanged { entry: place, recorded: entry.leaf, computed });
        } else {
            self.faults.extend(read_entry(place, bytes, Some(&mut self.times)));
        }
    }
}

/// Reads an entry at its place and answers what is wrong with it, first its form, then its number, then its time.
///
/// The time is compared only where `times` is given: an entry that was changed says nothing about its neighbours.
pub(crate) fn read_entry(place: u64, bytes: &[u8], times: Option<&mut Times>) -> Vec<Fault> {
    let envelope = match Envelope::parse(bytes) {
        Ok(envelope) => envelope,
        Err(error) => return vec![Fault::EntryForm { entry: place, reason: error.to_string() }],
    };
    let mut faults = Vec::new();
    if envelope.seq != place {
        faults.push(Fault::EntryNumber { entry: place, seq: envelope.seq });
    }
    faults.extend(times.and_then(|times| times.follow(place, &envelope.at)));
    faults
}

/// The times of the entries gone through.
#[derive(Debug, Default)]
pub(crate) struct Times {
    first: String,
    last: String,
}

impl Times {
    /// Notes the time of the next entry. After a step back the earlier time counts on, so that one wrong clock reading
    /// is one fault and not one for every entry that follows.
    fn follow(&mut self, entry: u64, at: &str) -> Option<Fault> {
        let back = !self.last.is_empty() && at < self.last.as_str();
        let fault = back.then(|| Fault::EntryTime { entry, at: at.into(), previous_at: self.last.clone() });
        if self.first.is_empty() {
            self.first.push_str(at);
        }
        self.last.clear();
        self.last.push_str(at);
        fault
    }

    pub(crate) fn span(&self) -> Option<(&str, &str)> {
        (!self.first.is_empty()).then_some((&self.first, &self.last))
    }
}
