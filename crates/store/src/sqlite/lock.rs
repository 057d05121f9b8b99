//! One store, one control plane: a lock that lasts as long as its holder, and not a moment longer.
//!
//! Two control planes on one SQLite store would each believe in a tree of their own. Whoever comes second is told where the first one
//! answers, if it said so: in the locked file itself, which nobody else writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::error::StoreError;

const NAME: &str = "lock";

/// Maximum length of a note: longer than any address with a process id.
const LONGEST_NOTE: u64 = 100;

/// Held while the store is open; the system releases it even when the process is killed.
#[derive(Debug)]
pub(crate) struct Lock(File);

/// Process that holds the store and the address at which it serves, as far as the lock file records them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holder {
    pub process: Option<u32>,
    pub at: Option<SocketAddr>,
}

impl Lock {
    /// Says where its holder answers, or that it answers no more.
    pub(crate) fn note(&self, address: Option<SocketAddr>) -> io::Result<()> {
        let address = address.map(|address| format!("{address} ")).unwrap_or_default();
        self.0.set_len(0)?;
        self.0.write_all_at(format!("{address}{}\n", std::process::id()).as_bytes(), 0)
    }
}

pub(crate) fn take(dir: &Path) -> Result<Lock, StoreError> {
    let path = dir.join(NAME);
    let failed = |error| StoreError::io(&path, error);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        // What the last holder noted is over.
        Ok(()) => {
            let lock = Lock(file);
            lock.note(None).map(|()| lock).map_err(failed)
        }
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned(), holder: noted(&file) }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Reads the address at which the process that holds this store serves, if that process is alive on this machine. Does not take the
/// lock, so that a query never blocks a starting process.
pub fn serving_at(dir: &Path) -> Option<SocketAddr> {
    let holder = noted(&File::open(dir.join(NAME)).ok()?);
    let runs = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    holder.at.filter(|_| holder.process.is_some_and(runs))
}

/// Nothing where its holder answers nowhere, or not yet. A line that is not whole is still being written.
fn noted(file: &File) -> Holder {
    let mut told = String::new();
    if file.take(LONGEST_NOTE).read_to_string(&mut told).is_err() {
        return Holder::default();
    }
    let Some(line) = told.strip_suffix('\n') else { return Holder::default() };
    let (address, process) = line.rsplit_once(' ').unwrap_or(("", line));
    Holder { process: process.parse().ok(), at: address.parse().ok() }
}
