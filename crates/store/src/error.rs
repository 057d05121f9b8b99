//! What can go wrong with a store. Refusals are not here: they are the domain's, and nothing is broken when one is given.
//!
//! Faults can be copied, because one failed transaction is the answer to everybody who waited for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_domain::digest::Digest;
use placet_domain::refusal::Refusal;
use placet_ledger::{Fault, HeadError, ProveError, ReadError};

use crate::sqlite::Holder;

/// Result of a step of the store that cannot be refused.
pub(crate) type StoreResult<T> = Result<T, StoreError>;

/// Why a submission was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("this idempotency key was used for another request; take a new key for a new request")]
    KeyReused,
    #[error(transparent)]
    Fault(#[from] StoreError),
}

/// A fault of the machine, the disk or the data; never somebody's wrong request.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("`{}` failed", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("the database failed")]
    Database(#[source] Arc<rusqlite::Error>),
    #[error("there is no room left to write; nothing of this was recorded, free some space and repeat it")]
    Full(#[source] Arc<rusqlite::Error>),
    #[error("the store takes no more changes since a write failed ({why}); check the disk, then start again")]
    ReadOnly { why: String },
    #[error("the store has stopped; start it again")]
    Stopped,
    #[error("another process{} uses the store in `{}`; stop it first", described(holder), dir.display())]
    InUse { dir: PathBuf, holder: Holder },
    #[error("SQLite {found} can corrupt databases; at least {needed} is needed")]
    OldSqlite { found: &'static str, needed: &'static str },
    #[error(
        "the database has schema {found}, and this version of Placet needs schema {needed}; nothing was changed: \
        start the version that wrote it, or move its folder away to begin with an empty store"
    )]
    OtherSchema { found: u32, needed: u32 },
    #[error("the database says `{found}` where its schema number should be; it is not a database of this program")]
    BadSchema { found: String },
    #[error("the clock shows {unix_ms} ms since 1970, which no calendar knows; set the clock")]
    Clock { unix_ms: i64 },
    #[error("the stored {what} cannot be read")]
    Unreadable {
        what: String,
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    #[error(transparent)]
    Integrity(#[from] IntegrityFault),
    #[error("no proof can be made")]
    Prove(#[source] Arc<ProveError>),
    #[error("the tree head cannot be signed")]
    Head(#[from] HeadError),
    #[error("a tile of the ledger cannot be read")]
    Tile(#[source] Arc<ReadError>),
    #[error("the export failed")]
    Export(#[source] Arc<placet_ledger::bundle::WriteError>),
    #[error("the evidence {digest} is encrypted; configure the evidence key")]
    NoKey { digest: Digest },
    #[error(
        "the evidence {digest} was encrypted with the key `{sealed_with}`, and the key `{configured}` is configured"
    )]
    WrongKey { digest: Digest, sealed_with: String, configured: String },
    #[error("more than the {limit_bytes} bytes that are taken here")]
    TooLarge { limit_bytes: u64 },
    #[error("the system gives no random numbers")]
    NoRandomness,
}

/// Stored bytes are not what they were. Each names what was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntegrityFault {
    #[error("the {what} {digest} was changed: it now hashes to {found}")]
    Changed { what: &'static str, digest: Digest, found: Digest },
    #[error("the encrypted evidence {digest} was changed: {part} does not pass its check")]
    SealBroken { digest: Digest, part: String },
    #[error("the evidence {digest} is gone, and no entry of the ledger says that it was removed")]
    Missing { digest: Digest },
    #[error("the last signed tree head has {head} entries, and the ledger only {size}: it was rolled back")]
    RolledBack { head: u64, size: u64 },
    #[error("the ledger is damaged: {}", in_words(.0))]
    Ledger(Vec<Fault>),
}

/// Renders the known parts of a holder, e.g. ` (process 12, serving http://127.0.0.1:7070)`.
fn described(holder: &Holder) -> String {
    let process = holder.process.map(|process| format!("process {process}"));
    let at = holder.at.map(|at| format!("serving http://{at}"));
    let known: Vec<String> = process.into_iter().chain(at).collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

const MOST_FAULTS_SHOWN: usize = 5;

fn in_words(faults: &[Fault]) -> String {
    let shown = faults.iter().take(MOST_FAULTS_SHOWN).map(Fault::to_string).collect::<Vec<_>>().join("; ");
    match faults.len().saturating_sub(MOST_FAULTS_SHOWN) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

impl StoreError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source: Arc::new(source) }
    }

    /// Checks whether the error means that the disk is full, for any of our files. Nothing was recorded; a retry works once there is room.
    pub fn is_no_room(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::Database(_)
            | Self::ReadOnly { .. }
            | Self::Stopped
            | Self::InUse { .. }
            | Self::OldSqlite { .. }
            | Self::OtherSchema { .. }
            | Self::BadSchema { .. }
            | Self::Clock { .. }
            | Self::Unreadable { .. }
            | Self::Integrity(_)
            | Self::Prove(_)
            | Self::Head(_)
            | Self::Tile(_)
            | Self::Export(_)
            | Self::NoKey { .. }
            | Self::WrongKey { .. }
            | Self::TooLarge { .. }
            | Self::NoRandomness => false,
        }
    }

    /// With everything behind it, on one line.
    pub(crate) fn chain(&self) -> String {
        let causes = std::iter::successors(Some(self as &dyn std::error::Error), |error| error.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }

    pub(crate) fn unreadable(what: impl Into<String>, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Unreadable { what: what.into(), source: Arc::new(source) }
    }
}

/// SQLite's error code for shared memory that cannot grow (`SQLITE_IOERR_SHMSIZE`).
const SHARED_MEMORY_FULL: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // The memory that readers and the writer share is a file too. SQLite reports a full disk there with another code.
        let grows_no_more = error.sqlite_error().is_some_and(|error| error.extended_code == SHARED_MEMORY_FULL);
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full(Arc::new(error)),
            Some(rusqlite::ErrorCode::SystemIoFailure) if grows_no_more => Self::Full(Arc::new(error)),
            _ => Self::Database(Arc::new(error)),
        }
    }
}

impl From<ReadError> for StoreError {
    fn from(error: ReadError) -> Self {
        Self::Tile(Arc::new(error))
    }
}

impl From<ProveError> for StoreError {
    fn from(error: ProveError) -> Self {
        Self::Prove(Arc::new(error))
    }
}
