//! Evidence by content: bytes are stored under their SHA-256, once, and never overwritten or changed. They are removed only after the
//! ledger says so (`crate::sweep`).
//!
//! ```text
//! evidence/incoming/…        half-written files; whatever a crash leaves here is removed at the next start
//! evidence/ab/cdef…          plain bytes: `sha256sum` alone can check them
//! evidence/ab/cdef….sealed   encrypted at rest; the digest is still that of the plain bytes
//! ```
//!
//! A digest is handed out only after the bytes and their name are on disk. Every read hashes again, so a changed byte is
//! found before anybody relies on it. Who may see which evidence is not known here.

mod draft;
mod seal;

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_domain::digest::Digest;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::error::{IntegrityFault, StoreError};
pub use draft::BlobWriter;
pub use seal::EvidenceKey;

const INCOMING: &str = "incoming";
const SEALED: &str = "sealed";
/// Evidence may hold anything, secrets included: for the owner's eyes.
const FOLDER_MODE: u32 = 0o700;

/// The folder of evidence. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Blobs(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    key: Option<EvidenceKey>,
    /// Shared by those who keep bytes, taken alone by who removes them.
    turn: Arc<RwLock<()>>,
}

/// As long as somebody has one, no bytes are removed from the disk.
#[derive(Debug)]
pub struct Keeping(#[expect(dead_code, reason = "what counts is that it is held")] OwnedRwLockReadGuard<()>);

/// In which of its two forms a blob is stored.
enum Stored {
    Plain(PathBuf),
    Sealed(PathBuf),
}

impl Blobs {
    /// Opens the folder, making it where it is missing, and clears away what a crash left half-written.
    pub fn open(root: &Path, key: Option<EvidenceKey>) -> Result<Self, StoreError> {
        make_folder(root)?;
        let incoming = root.join(INCOMING);
        make_folder(&incoming)?;
        remove_leftovers(&incoming)?;
        Ok(Self(Arc::new(Inner { root: root.to_owned(), key, turn: Arc::default() })))
    }

    /// Whether what is stored from now on is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.key.is_some()
    }

    /// To be held from before bytes are stored until the ledger says that they are kept: in between nothing needs them yet.
    pub async fn keeping(&self) -> Keeping {
        Keeping(Arc::clone(&self.0.turn).read_owned().await)
    }

    /// To be held while it is looked whether bytes are still kept, and until they are removed.
    pub(crate) async fn alone(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.0.turn).write_owned().await
    }

    /// Removes the bytes of this name from the disk, in whatever form; how many there were there, if there were any.
    pub(crate) async fn remove(&self, digest: Digest) -> Result<Option<u64>, StoreError> {
        let plain = self.path_of(digest);
        blocking(move || {
            let sealed = plain.with_extension(SEALED);
            let removed = [remove_file(&plain)?, remove_file(&sealed)?];
            if removed.iter().any(Option::is_some) {
                plain.parent().map_or(Ok(()), sync_folder)?;
            }
            Ok(removed.into_iter().flatten().reduce(u64::saturating_add))
        })
        .await
    }

    /// Stores bytes and names them. Bytes that are there already are left as they are.
    pub async fn put(&self, bytes: Vec<u8>) -> Result<Digest, StoreError> {
        let blobs = self.clone();
        blocking(move || {
            let mut draft = BlobWriter::new(blobs, bytes.len() as u64)?;
            draft.write(&bytes)?;
            draft.finish_blocking()
        })
        .await
    }

    /// Begins to store bytes that come piece by piece, and at most `limit_bytes` of them.
    pub fn writer(&self, limit_bytes: u64) -> Result<BlobWriter, StoreError> {
        BlobWriter::new(self.clone(), limit_bytes)
    }

    /// The bytes of this name, if they are here; a fault if they are no longer what the name says.
    pub async fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let blobs = self.clone();
        blocking(move || blobs.read(digest)).await
    }

    /// Whether there is something under this name. Only reading it shows whether it is intact.
    pub async fn has(&self, digest: Digest) -> Result<bool, StoreError> {
        Ok(self.size(digest).await?.is_some())
    }

    /// How many plain bytes there are under this name.
    pub async fn size(&self, digest: Digest) -> Result<Option<u64>, StoreError> {
        let blobs = self.clone();
        blocking(move || blobs.stored_size(digest)).await
    }

    fn read(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = match self.find(digest)? {
            None => return Ok(None),
            Some(Stored::Plain(path)) => match unless_removed(&path, fs::read(&path))? {
                Some(bytes) => bytes,
                None => return Ok(None),
            },
            Some(Stored::Sealed(path)) => {
                let key = self.0.key.as_ref().ok_or(StoreError::NoKey { digest })?;
                let Some(file) = unless_removed(&path, File::open(&path))? else { return Ok(None) };
                seal::open(file, &path, key, digest)?
            }
        };
        let found = Digest::of(&bytes);
        if found == digest {
            return Ok(Some(bytes));
        }
        Err(IntegrityFault::Changed { what: "evidence", digest, found }.into())
    }

    fn stored_size(&self, digest: Digest) -> Result<Option<u64>, StoreError> {
        let length =
            |path: &Path| fs::metadata(path).map(|data| data.len()).map_err(|error| StoreError::io(path, error));
        match self.find(digest)? {
            None => Ok(None),
            Some(Stored::Plain(path)) => length(&path).map(Some),
            Some(Stored::Sealed(path)) => Ok(Some(seal::plain_length(length(&path)?))),
        }
    }

    fn find(&self, digest: Digest) -> Result<Option<Stored>, StoreError> {
        let plain = self.path_of(digest);
        if exists(&plain)? {
            return Ok(Some(Stored::Plain(plain)));
        }
        let sealed = plain.with_extension(SEALED);
        Ok(exists(&sealed)?.then_some(Stored::Sealed(sealed)))
    }

    /// Split after two digits, so that no folder holds more than a 256th of all files.
    fn path_of(&self, digest: Digest) -> PathBuf {
        let hex = digest.to_hex();
        self.0.root.join(&hex[..2]).join(&hex[2..])
    }
}

/// What was there a moment ago may have been removed since.
fn unless_removed<T>(path: &Path, done: io::Result<T>) -> Result<Option<T>, StoreError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// How large it was, if it was there.
fn remove_file(path: &Path) -> Result<Option<u64>, StoreError> {
    let Some(found) = unless_removed(path, fs::symlink_metadata(path))? else { return Ok(None) };
    Ok(unless_removed(path, fs::remove_file(path))?.map(|()| found.len()))
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|error| StoreError::io(path, error))
}

/// Makes a folder that only its owner enters, and makes sure that its name survives a power loss.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Ok(()) => path.parent().map_or(Ok(()), sync_folder),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// A new name is on disk only when its folder is.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    // The parent of a plain relative name is the empty path, which means here.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| StoreError::io(path, error))
}

fn remove_leftovers(incoming: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::io(incoming, error);
    for entry in fs::read_dir(incoming).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Stopped))
}
