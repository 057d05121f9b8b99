//! Decides if a directory of the host may be shown to an agent. Resolves links first and compares files by device and inode, so that no
//! alternative spelling, link or bind mount leads to a secret.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::person::{Person, Settings};
use super::secret_places::{self, below_home};

/// Reason why a directory is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    #[error("the cache `{from}` of `agents/policy.json` is no directory of this machine")]
    NoDirectory { from: String },
    #[error(
        "the cache `{from}` of `agents/policy.json` leads to `{real}`, which would show `{secret}` to agents; name the cache itself"
    )]
    Secret { from: String, real: PathBuf, secret: String },
    #[error(
        "the cache `{from}` of `agents/policy.json` leads to `{real}`, which belongs to the repository `{repository}`; a cache lies outside of repositories"
    )]
    Repository { from: String, real: PathBuf, repository: PathBuf },
    #[error(
        "the cache `{from}` of `agents/policy.json` leads to `{real}`, which lies below none of your cache roots; if it holds no secrets, add it to `cache_roots` in `{settings}`"
    )]
    NotAllowed { from: String, real: PathBuf, settings: PathBuf },
    #[error(
        "the cache `{from}` of `agents/policy.json` lies below `{part}`, which others can change; make it yours, and not writable by others"
    )]
    Changeable { from: String, part: PathBuf },
}

/// Device and inode: identify a file or directory under any name.
type Identity = (u64, u64);

/// Inputs for decisions about directories of the host.
#[derive(Debug)]
pub struct HostDirectories<'a> {
    person: &'a Person,
    settings: &'a Settings,
    repository: &'a Path,
    /// Existing secret places, each with its name for messages.
    secrets: Vec<(String, PathBuf)>,
}

impl<'a> HostDirectories<'a> {
    /// Creates the check. `homes` are the homes of Placet known to be in use.
    pub fn new(person: &'a Person, settings: &'a Settings, repository: &'a Path, homes: &[PathBuf]) -> Self {
        let usual = secret_places::of_home(person.home()).map(|(name, path)| (name.to_owned(), path));
        let of_placet = homes.iter().map(PathBuf::as_path).chain([person.config_dir(), person.state_dir()]);
        let own = of_placet.map(|path| (path.display().to_string(), path.to_owned()));
        // Resolves links, so that the target of a link is protected.
        let real = |(name, path): (String, PathBuf)| Some((name, fs::canonicalize(path).ok()?));
        Self { person, settings, repository, secrets: usual.chain(own).filter_map(real).collect() }
    }

    /// Resolves the links of a cache's directory and returns it if it may be shown. Call it right before use; other users cannot change the
    /// result in between.
    pub fn resolve(&self, from: &str) -> Result<PathBuf, DirectoryError> {
        let no_directory = || DirectoryError::NoDirectory { from: from.to_owned() };
        let real = fs::canonicalize(below_home(from, self.person.home())).map_err(|_| no_directory())?;
        if !real.is_dir() {
            return Err(no_directory());
        }
        self.check_secrets(from, &real)?;
        self.check_repositories(from, &real)?;
        check_owners(from, &real)?;
        Ok(real)
    }

    fn check_secrets(&self, from: &str, real: &Path) -> Result<(), DirectoryError> {
        let above: Vec<Identity> = real.ancestors().filter_map(identity).collect();
        let around = identity(real);
        let shows = |secret: &Path| {
            let is_inside = identity(secret).is_some_and(|secret| above.contains(&secret));
            is_inside || secret.ancestors().any(|part| identity(part) == around)
        };
        let secret = |name: &str| {
            let (from, real, secret) = (from.to_owned(), real.to_owned(), name.to_owned());
            Err(DirectoryError::Secret { from, real, secret })
        };
        if let Some((name, _)) = self.secrets.iter().find(|(_, path)| shows(path)) {
            return secret(name);
        }
        // A home of Placet that is not in `homes`.
        match real.ancestors().find(|part| part.join("placet.toml").exists()) {
            Some(home) => secret(&home.display().to_string()),
            None => Ok(()),
        }
    }

    /// Checks that the directory is below a cache root of the person, with no repository in between: a repository holds a person's work.
    /// The cache root itself may be in a repository.
    fn check_repositories(&self, from: &str, real: &Path) -> Result<(), DirectoryError> {
        let repository = |at: &Path| {
            let (from, real, repository) = (from.to_owned(), real.to_owned(), at.to_owned());
            Err(DirectoryError::Repository { from, real, repository })
        };
        if real.starts_with(self.repository) || self.repository.starts_with(real) {
            return repository(self.repository);
        }
        let roots: Vec<Identity> = self.settings.cache_roots().iter().filter_map(|root| identity(root)).collect();
        let is_root = |part: &Path| identity(part).is_some_and(|part| roots.contains(&part));
        let Some(root) = real.ancestors().find(|part| is_root(part)) else {
            let settings = self.person.settings_file();
            return Err(DirectoryError::NotAllowed { from: from.to_owned(), real: real.to_owned(), settings });
        };
        let below = real.ancestors().take_while(|part| *part != root);
        match below.into_iter().find(|part| part.join(".git").symlink_metadata().is_ok()) {
            Some(at) => repository(at),
            None => Ok(()),
        }
    }
}

/// Follows links; called with resolved paths and with paths that the person named.
fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// True if another user can replace entries of a directory with this mode. The primary group of the user counts as the user's own.
const fn others_write(mode: u32, is_own_group: bool) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    const GROUP_WRITES: u32 = 0o020;
    const STICKY: u32 = 0o1000;
    let writers = if is_own_group { OTHERS_WRITE } else { OTHERS_WRITE | GROUP_WRITES };
    mode & STICKY == 0 && mode & writers != 0
}

/// Checks that only this user and root can replace a part of the path between this check and the mount. In a sticky directory such as
/// `/tmp`, other users cannot replace entries that they do not own.
fn check_owners(from: &str, real: &Path) -> Result<(), DirectoryError> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let is_changeable = |part: &&Path| match fs::symlink_metadata(part) {
        Ok(meta) => ![0, user].contains(&meta.uid()) || others_write(meta.mode(), meta.gid() == group),
        Err(_) => true,
    };
    match real.ancestors().find(is_changeable) {
        Some(part) => Err(DirectoryError::Changeable { from: from.to_owned(), part: part.to_owned() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_of_a_shared_group_is_changeable() {
        assert!(others_write(0o775, false));
        assert!(!others_write(0o775, true));
        assert!(!others_write(0o1775, false));
        assert!(others_write(0o777, true) && !others_write(0o1777, true) && !others_write(0o755, false));
    }
}
