//! Writing one blob: into a file of its own, then, whole and synced, under its final name.
//!
//! A draft that is dropped leaves nothing behind.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use sha2::{Digest as _, Sha256};

use super::seal::{HEADER_BYTES, Sealer};
use super::{Blobs, INCOMING, SEALED, blocking, make_folder, sync_folder};
use crate::error::StoreError;

const DRAFT_MODE: u32 = 0o600;
/// What is evidence is not written again.
const KEPT_MODE: u32 = 0o400;

/// Takes the bytes of one blob, piece by piece.
#[derive(Debug)]
pub struct BlobWriter {
    blobs: Blobs,
    file: File,
    path: PathBuf,
    hasher: Sha256,
    sealer: Option<Sealer>,
    size_bytes: u64,
    limit_bytes: u64,
}

impl BlobWriter {
    pub(super) fn new(blobs: Blobs, limit_bytes: u64) -> Result<Self, StoreError> {
        let path = blobs.0.root.join(INCOMING).join(random_name()?);
        let file = OpenOptions::new().write(true).create_new(true).mode(DRAFT_MODE).open(&path);
        let mut file = file.map_err(|error| StoreError::io(&path, error))?;
        let sealer = blobs.0.key.as_ref().map(|_| Sealer::new()).transpose().map_err(|_| StoreError::NoRandomness)?;
        if sealer.is_some() {
            // The header names the digest, which is known only at the end.
            file.write_all(&[0; HEADER_BYTES]).map_err(|error| StoreError::io(&path, error))?;
        }
        Ok(Self { blobs, file, path, hasher: Sha256::new(), sealer, size_bytes: 0, limit_bytes })
    }

    /// How many bytes were taken so far.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Takes the next bytes. Writes to the file cache without waiting for the disk, so it may be called from async code.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.size_bytes = self.size_bytes.saturating_add(bytes.len() as u64);
        if self.size_bytes > self.limit_bytes {
            return Err(StoreError::TooLarge { limit_bytes: self.limit_bytes });
        }
        self.hasher.update(bytes);
        let written = match &mut self.sealer {
            None => self.file.write_all(bytes),
            Some(sealer) => sealer.push(bytes, &mut self.file),
        };
        written.map_err(|error| StoreError::io(&self.path, error))
    }

    /// Names the bytes and waits until both, bytes and name, are on disk.
    pub async fn finish(self) -> Result<Digest, StoreError> {
        blocking(move || self.finish_blocking()).await
    }

    pub(super) fn finish_blocking(mut self) -> Result<Digest, StoreError> {
        let digest = Digest::from_bytes(self.hasher.finalize_reset().into());
        self.complete(digest).map_err(|error| StoreError::io(&self.path, error))?;
        let mut kept = self.blobs.path_of(digest);
        let folder = kept.parent().expect("a blob lies in a folder").to_owned();
        if self.sealer.is_some() {
            kept = kept.with_extension(SEALED);
        }
        make_folder(&folder)?;
        if self.blobs.find(digest)?.is_none() {
            give_name(&self.path, &kept)?;
        }
        // Also when somebody else gave the name: they may not have come to this point yet.
        sync_folder(&folder)?;
        Ok(digest)
    }

    /// Writes what is still held back, and waits for the disk.
    fn complete(&mut self, digest: Digest) -> io::Result<()> {
        if let (Some(sealer), Some(key)) = (&mut self.sealer, &self.blobs.0.key) {
            sealer.finish(&mut self.file)?;
            let header = sealer.header(key, digest.as_bytes())?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header)?;
        }
        self.file.set_permissions(Permissions::from_mode(KEPT_MODE))?;
        self.file.sync_all()
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        // If it cannot be removed now, the next start removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// A link never replaces what is there, as a rename would.
fn give_name(draft: &Path, kept: &Path) -> Result<(), StoreError> {
    match fs::hard_link(draft, kept) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::io(kept, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn random_name() -> Result<String, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| StoreError::NoRandomness)?;
    Ok(u128::from_ne_bytes(bytes).to_string())
}
