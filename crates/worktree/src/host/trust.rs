//! Requests that the person has trusted: one file per repository in the person's state directory, with the digest of the request. After the
//! request changes, the person is asked again.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use serde::{Deserialize, Serialize};

use super::person::{Person, PersonError, check_own, outside};
use super::request::HostRequest;

const TRUSTED: &str = "trusted";

/// Reason why trust cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(transparent)]
    Person(#[from] PersonError),
    #[error("`{at}` cannot be used")]
    Io { at: PathBuf, source: io::Error },
}

/// Content of a trust file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// For people who read the file.
    path: String,
    repository: Digest,
    request: Digest,
}

/// Trust of the person in one repository.
#[derive(Debug)]
pub struct Trust {
    directory: PathBuf,
    root: PathBuf,
    repository: Digest,
}

impl Trust {
    /// Opens the trust of the repository with this root.
    pub fn of(person: &Person, root: &Path) -> Result<Self, TrustError> {
        let failed = |source| TrustError::Io { at: root.to_owned(), source };
        let root = fs::canonicalize(root).map_err(failed)?;
        let meta = fs::symlink_metadata(&root).map_err(failed)?;
        // Device and inode are included: another repository at the same path is not trusted.
        let identity = format!("\0{}\0{}", meta.dev(), meta.ino());
        let repository = Digest::of(&[root.as_os_str().as_encoded_bytes(), identity.as_bytes()].concat());
        Ok(Self { directory: person.state_dir().join(TRUSTED), root, repository })
    }

    /// Returns whether exactly this request is trusted.
    pub fn holds(&self, request: &HostRequest) -> Result<bool, TrustError> {
        let at = self.file();
        let meta = match fs::symlink_metadata(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            meta => meta.map_err(|source| TrustError::Io { at: at.clone(), source })?,
        };
        self.check_directory()?;
        check_own(&at, &meta)?;
        let bytes = fs::read(&at).map_err(|source| TrustError::Io { at, source })?;
        // An incomplete or unreadable record trusts nothing.
        let record = serde_json::from_slice::<Record>(&bytes).ok();
        Ok(record.is_some_and(|known| known.repository == self.repository && known.request == request.digest()))
    }

    /// Trusts a request, and replaces an earlier one.
    pub fn give(&self, request: &HostRequest) -> Result<(), TrustError> {
        let failed = |source| TrustError::Io { at: self.directory.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        self.check_directory()?;
        let path = self.root.display().to_string();
        let record = Record { path, repository: self.repository, request: request.digest() };
        let bytes = serde_json::to_vec_pretty(&record).map_err(io::Error::other).map_err(failed)?;
        let (at, fresh) = (self.file(), self.file().with_extension(std::process::id().to_string()));
        let _ = fs::remove_file(&fresh);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&fresh, at).map_err(failed)
    }

    /// Revokes the trust; returns whether there was any.
    pub fn revoke(&self) -> Result<bool, TrustError> {
        match fs::remove_file(self.file()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(TrustError::Io { at: self.file(), source }),
        }
    }

    fn check_directory(&self) -> Result<(), TrustError> {
        let failed = |source| TrustError::Io { at: self.directory.clone(), source };
        let meta = fs::symlink_metadata(&self.directory).map_err(failed)?;
        check_own(&self.directory, &meta)?;
        Ok(outside(&self.directory, &self.root)?)
    }

    fn file(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.repository.to_hex()))
    }
}
