//! Keeps what happened. The ledger is the event store: if an entry cannot be written, nothing happened.
//!
//! ```text
//! submit ─► queue ─► one writer: load ─► decide ─► entries + tiles + projections + content ─► one commit ─► receipts
//!                                                                                              │
//! readers ◄──────────────── snapshots ◄──────────────── one database ◄────────────────────────┘
//! ```
//!
//! A [`Receipt`] exists only for what is on disk. One transaction holds the ledger entries, the tiles of its Merkle tree,
//! the current state of everything (which can be computed from the entries again: [`Store::check_projections`]), the bytes
//! of sealed actions, and the caller's idempotency key. Many submitters share one commit, and so one wait for the disk.
//!
//! `placet_domain` decides commands, and `placet_ledger` hashes and proves history. This crate decides only whose turn it is when a
//! worker asks for work. `unit` is the one flow of commands; a backend implements its `UnitOfWork`, and `sqlite` is one.

mod blob;
mod clock;
mod config;
mod error;
mod query;
mod queue;
mod receipt;
mod report;
mod sqlite;
mod store;
mod sweep;
mod unit;

pub use blob::{BlobWriter, Blobs, EvidenceKey, Keeping};
pub use clock::{Clock, ManualClock};
pub use config::Config;
pub use error::{IntegrityFault, StoreError, SubmitError};
pub use query::{
    ActionFilter, Debts, DecisionFilter, EntryFilter, Expirable, HEARTBEAT, Kept, Kinds, Listed, LockedScope,
    MOST_ROWS, Order, Removal, RunFilter, SeenFile, StoredEntry, Taken, Unnamed, WorktreeFilter,
};
pub use queue::{BadSpot, Going, QueueFilter, Rows, Seat, Spot, Twins, Waits, Whose};
pub use receipt::{Extras, Noting, Receipt};
pub use report::{Difference, EvidenceCheck, Scrub, Swept};
pub use sqlite::{Holder, serving_at};
pub use store::Store;
