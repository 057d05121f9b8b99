//! Encryption at rest, as [`placet_seal`] does it, with the errors of a store.

use std::fs::File;
use std::path::Path;

use placet_domain::digest::Digest;
pub(super) use placet_seal::{HEADER_BYTES, Sealer, plain_length};
use placet_seal::{Key, OpenError};

use crate::error::{IntegrityFault, StoreError};

/// The key that opens evidence. Shows its id and never itself; wiped from memory when dropped.
pub type EvidenceKey = Key;

/// Opens a sealed file whole. What it returns still has to be hashed.
pub(super) fn open(file: File, path: &Path, key: &EvidenceKey, digest: Digest) -> Result<Vec<u8>, StoreError> {
    let mut plain = Vec::new();
    let opened = placet_seal::open(file, key, digest.as_bytes(), |bytes| {
        plain.extend_from_slice(bytes);
        Ok(())
    });
    match opened {
        Ok(()) => Ok(plain),
        Err(OpenError::WrongKey { sealed_with, configured }) => {
            Err(StoreError::WrongKey { digest, sealed_with, configured })
        }
        Err(OpenError::Broken { part }) => Err(IntegrityFault::SealBroken { digest, part }.into()),
        Err(OpenError::Io(error)) => Err(StoreError::io(path, error)),
    }
}
