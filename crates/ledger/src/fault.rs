//! What can be wrong with a ledger, and where.
//!
//! A fault is a finding, not an error: verification goes on after it, so that one report names all the damage. Every
//! fault says where it is as exactly as the hashes allow, and says so where they do not.

use std::fmt;

use serde::Serialize;

use crate::hash::Hash;

/// Something that is wrong with a ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The head is not signed by the key, or is not a head.
    #[error("the signed tree head is not valid: {reason}")]
    Head {
        /// What is wrong with it.
        reason: String,
    },
    /// A file that belongs to the ledger cannot be used.
    #[error("the file `{path}` {problem}")]
    File {
        /// The path below the ledger.
        path: String,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// A file lies in the ledger that does not belong to it.
    #[error("`{path}` does not belong to a ledger of {size} entries")]
    Unexpected {
        /// The path below the ledger.
        path: String,
        /// The size of the ledger.
        size: u64,
    },
    /// A tile is too short or too long, so none of its hashes is used.
    #[error("the tile `{path}` has {bytes} bytes instead of {expected_bytes}")]
    TileLength {
        /// The path of the tile.
        path: String,
        /// How long it is; one more than expected stands for anything longer.
        bytes: usize,
        /// How long it should be.
        expected_bytes: usize,
    },
    /// Entries are not there.
    #[error("the entries {first} to {last} are missing")]
    EntriesMissing {
        /// The first missing entry.
        first: u64,
        /// The last missing entry.
        last: u64,
    },
    /// From some entry on, a bundle can no longer be split into entries.
    #[error("`{path}` cannot be read from entry {entry} on: that entry or its length was changed")]
    BundleBroken {
        /// The path of the bundle.
        path: String,
        /// The first entry that is not what the tile says.
        entry: u64,
    },
    /// Data follows after the last entry.
    #[error("`{path}` goes on after its last entry")]
    TrailingData {
        /// The path of the bundle.
        path: String,
    },
    /// An entry is not the one that was recorded.
    #[error("entry {entry} was changed: it hashes to `{computed}`, but `{recorded}` was recorded")]
    EntryChanged {
        /// The number of the entry.
        entry: u64,
        /// The hash that was recorded for it.
        recorded: Hash,
        /// The hash that it has.
        computed: Hash,
    },
    /// Entries were changed together with their hashes, but not with the hashes above.
    #[error(
        "among the entries {first} to {last}, at least one was changed together with its hash: which one cannot be told"
    )]
    EntriesChanged {
        /// The first entry that may have been changed.
        first: u64,
        /// The last entry that may have been changed.
        last: u64,
    },
    /// A hash in a tile is not the hash of what it stands for, which itself is proven to be as recorded.
    #[error(
        "hash {position} of the tile `{path}` was changed; the entries {first} to {last} that it \
         stands for are as recorded"
    )]
    TileChanged {
        /// The path of the tile.
        path: String,
        /// Which hash of the tile, counted from 0.
        position: u16,
        /// The first entry that the hash stands for.
        first: u64,
        /// The last entry that the hash stands for.
        last: u64,
    },
    /// A hash in a tile and what it stands for disagree, and nothing else settles which of them was changed.
    #[error(
        "hash {position} of the tile `{path}` and the entries {first} to {last} do not match: which \
         of them was changed cannot be told"
    )]
    Undecided {
        /// The path of the tile.
        path: String,
        /// Which hash of the tile, counted from 0.
        position: u16,
        /// The first entry that the hash stands for.
        first: u64,
        /// The last entry that the hash stands for.
        last: u64,
    },
    /// An entry bears another number than its place.
    #[error("entry {entry} bears the number {seq}: entries were exchanged, inserted or removed")]
    EntryNumber {
        /// The place of the entry.
        entry: u64,
        /// The number that it bears.
        seq: u64,
    },
    /// An entry is older than the one before it.
    #[error("entry {entry} was recorded at {at}, before the entry that precedes it ({previous_at})")]
    EntryTime {
        /// The number of the entry.
        entry: u64,
        /// When it says that it was recorded.
        at: String,
        /// When the one before it was recorded.
        previous_at: String,
    },
    /// An entry is not in the one form that entries have.
    #[error("entry {entry} is not a well-formed entry: {reason}")]
    EntryForm {
        /// The number of the entry.
        entry: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The entries do not add up to what was signed.
    #[error(
        "the {size} entries have the root `{computed}`, but `{signed}` was signed: what is here is not what was signed"
    )]
    RootMismatch {
        /// How many entries there are.
        size: u64,
        /// The root in the head.
        signed: Hash,
        /// The root of the entries.
        computed: Hash,
    },
    /// The root could not be computed.
    #[error("too much is missing to recompute the root, so nothing here is proven to be what was signed")]
    RootUnknown,
    /// The ledger is older than a head that is known.
    #[error("the ledger has {size} entries, but a signed head with {known_size} is known: it was rolled back")]
    RolledBack {
        /// How many entries there are.
        size: u64,
        /// How many there were.
        known_size: u64,
    },
    /// The ledger contradicts a head that is known.
    #[error(
        "the first {known_size} entries have the root `{computed}`, but a head with `{known}` is known: history was \
         rewritten or forked; which entry differs first cannot be told without the other history"
    )]
    Forked {
        /// The size of the known head.
        known_size: u64,
        /// The root of the known head.
        known: Hash,
        /// The root that the ledger has at that size.
        computed: Hash,
    },
    /// The comparison with the known head was not possible.
    #[error("too much is missing to compare with the known head of {known_size} entries")]
    KnownHeadUnchecked {
        /// The size of the known head.
        known_size: u64,
    },
    /// The known head belongs to another ledger.
    #[error("the known head is for the ledger `{known}`, but this is the ledger `{origin}`")]
    OtherLedger {
        /// The origin of the known head.
        known: String,
        /// The origin of this ledger.
        origin: String,
    },
    /// Verification gave up.
    #[error("more than {limit} faults: the rest was not checked")]
    TooMany {
        /// How many faults are reported at most.
        limit: usize,
    },
}

impl Fault {
    /// The one entry that the fault is about, where it is about one.
    pub fn entry(&self) -> Option<u64> {
        match self {
            Fault::EntryChanged { entry, .. }
            | Fault::EntryNumber { entry, .. }
            | Fault::EntryTime { entry, .. }
            | Fault::EntryForm { entry, .. }
            | Fault::BundleBroken { entry, .. } => Some(*entry),
            Fault::EntriesMissing { first, .. } => Some(*first),
            Fault::Head { .. }
            | Fault::File { .. }
            | Fault::Unexpected { .. }
            | Fault::TileLength { .. }
            | Fault::TrailingData { .. }
            | Fault::EntriesChanged { .. }
            | Fault::TileChanged { .. }
            | Fault::Undecided { .. }
            | Fault::RootMismatch { .. }
            | Fault::RootUnknown
            | Fault::RolledBack { .. }
            | Fault::Forked { .. }
            | Fault::KnownHeadUnchecked { .. }
            | Fault::OtherLedger { .. }
            | Fault::TooMany { .. } => None,
        }
    }
}

/// Why a file of a ledger cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileProblem {
    /// It is not there.
    Missing,
    /// It is a symbolic link, or lies behind one: an export has none, and following one would leave the ledger.
    Symlink,
    /// It is a folder, a device or something else that is not a file.
    NotAFile,
    /// The system would not let it be read.
    Unreadable(String),
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileProblem::Missing => f.write_str("is missing"),
            FileProblem::Symlink => f.write_str("is or lies behind a symbolic link, which is not followed"),
            FileProblem::NotAFile => f.write_str("is not a regular file"),
            FileProblem::Unreadable(reason) => write!(f, "could not be read: {reason}"),
        }
    }
}

/// How many faults a report names at most: enough to see the extent of the damage, and a bound for hostile ledgers.
pub const MAX_FAULTS: usize = 1000;

/// The faults found so far, bounded.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn push(&mut self, fault: Fault) {
        match self.0.len() {
            0..MAX_FAULTS => self.0.push(fault),
            MAX_FAULTS => self.0.push(Fault::TooMany { limit: MAX_FAULTS }),
            _ => {}
        }
    }

    pub(crate) fn extend(&mut self, faults: impl IntoIterator<Item = Fault>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// Clears up what was left undecided, once the recomputed hashes have turned out to lead to the signed root: they
    /// were right, so the tiles were changed. Not where entries were changed too, for then other hashes were used.
    pub(crate) fn decide_for_entries(&mut self) {
        if self.0.iter().any(|fault| matches!(fault, Fault::EntriesChanged { .. })) {
            return;
        }
        for fault in &mut self.0 {
            if let Fault::Undecided { path, position, first, last } = fault {
                let (path, position, first, last) = (std::mem::take(path), *position, *first, *last);
                *fault = Fault::TileChanged { path, position, first, last };
            }
        }
    }

    /// Whether it makes no sense to look for more.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > MAX_FAULTS
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Fault> {
        self.0
    }
}
