//! One store, one control plane: a lock that lasts as long as its holder, and not a moment longer.
//!
//! Two control planes on one SQLite store would each believe in a tree of their own.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::StoreError;

/// Held while the store is open; the system releases it even when the process is killed.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

pub(crate) fn take(dir: &Path) -> Result<Lock, StoreError> {
    let path = dir.join("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(|error| StoreError::io(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(StoreError::io(&path, error)),
    }
}
