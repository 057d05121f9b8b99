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

/// Longer than any address.
const LONGEST_NOTE: u64 = 100;

/// Held while the store is open; the system releases it even when the process is killed.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Says where its holder answers, or that it answers no more.
    pub(crate) fn note(&self, address: Option<SocketAddr>) -> io::Result<()> {
        self.0.set_len(0)?;
        match address {
            Some(address) => self.0.write_all_at(format!("{address}\n").as_bytes(), 0),
            None => Ok(()),
        }
    }
}

pub(crate) fn take(dir: &Path) -> Result<Lock, StoreError> {
    let path = dir.join("lock");
    let failed = |error| StoreError::io(&path, error);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        // What the last holder noted is over.
        Ok(()) => file.set_len(0).map(|()| Lock(file)).map_err(failed),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned(), at: noted(&file) }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Nothing where its holder answers nowhere, or not yet. A line that is not whole is still being written.
fn noted(file: &File) -> Option<SocketAddr> {
    let mut told = String::new();
    file.take(LONGEST_NOTE).read_to_string(&mut told).ok()?;
    told.strip_suffix('\n')?.parse().ok()
}
