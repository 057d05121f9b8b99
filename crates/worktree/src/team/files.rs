//! The files of a team, by descriptor from the root of the main checkout. No link is followed, nothing but plain files is
//! opened, reading is bounded, and writing never replaces anything.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

/// Larger files of a team are mistakes: the largest a team would write by hand has some hundred kilobytes.
pub(crate) const LARGEST_FILE: u64 = 1024 * 1024;

/// More drafts of one file than anybody writes at a time.
const MOST_DRAFTS: u32 = 10_000;

const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
const HANDLE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a path is not read or written, with what to do.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("`{0}` does not exist, or is not a directory; run this in a repository")]
    NoRoot(String),
    #[error("`{0}` is not the root of a git repository (there is no `.git`); run `git init` first, or go to its root")]
    NoRepository(String),
    #[error("`{0}` is a worktree and not the main checkout; the team's files are only read there")]
    Worktree(String),
    #[error("it is a symbolic link, or lies behind one; put the file itself there")]
    Link,
    #[error("a part of its path is not a directory; move that aside")]
    NotADirectory,
    #[error("it is not a plain file; move it aside")]
    NotAFile,
    #[error("it is larger than 1 MiB; the files of a team are written by hand and small")]
    TooLarge,
    #[error("it cannot be used: {0}")]
    Io(#[from] std::io::Error),
}

impl From<Errno> for FileError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::LOOP => Self::Link,
            Errno::NOTDIR => Self::NotADirectory,
            other => Self::Io(other.into()),
        }
    }
}

/// The root of a repository's main checkout.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let shown = || placet_domain::text::spelled_out(&path.display().to_string());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|_| FileError::NoRoot(shown()))?;
        let root = Self(root);
        // By its real name: an agent can make the `.git` in its worktree look like anything, but cannot move the worktree.
        if lies_in_worktrees(&std::fs::canonicalize(path)?) {
            return Err(FileError::Worktree(shown()));
        }
        match root.kind(".git")? {
            Some(FileType::Directory) => Ok(root),
            Some(FileType::RegularFile) if !root.is_linked_worktree()? => Ok(root),
            Some(_) => Err(FileError::Worktree(shown())),
            None => Err(FileError::NoRepository(shown())),
        }
    }

    /// Linked worktrees have a file `.git` that leads into `worktrees/` of the repository; submodules have one too, which
    /// leads into `modules/`.
    fn is_linked_worktree(&self) -> Result<bool, FileError> {
        let text = self.read(".git")?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let leads_to = Path::new(text.trim().strip_prefix("gitdir:").unwrap_or_default().trim());
        Ok(leads_to.parent().and_then(Path::file_name).is_some_and(|name| name == "worktrees"))
    }

    fn handle(&self, path: &str) -> Result<Option<OwnedFd>, FileError> {
        match rustix::fs::openat2(&self.0, path, HANDLE, Mode::empty(), INSIDE) {
            Ok(handle) => Ok(Some(handle)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What a path stands for, if anything is there. A link is told as one and not followed.
    pub(crate) fn kind(&self, path: &str) -> Result<Option<FileType>, FileError> {
        let Some(handle) = self.handle(path)? else { return Ok(None) };
        Ok(Some(FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode)))
    }

    /// The bytes of a plain file, or nothing if nothing is there.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some(handle) = self.handle(path)? else { return Ok(None) };
        match FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return Err(FileError::Link),
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return Err(FileError::NotAFile),
        }
        // Opened by its handle, so that it is the very file that was looked at.
        let file = File::open(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
        let mut bytes = Vec::new();
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_FILE { Err(FileError::TooLarge) } else { Ok(Some(bytes)) }
    }

    /// Makes the directories that are missing on the way to a path, and opens the last.
    pub(crate) fn make_directories(&self, path: &str) -> Result<OwnedFd, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut here = rustix::fs::openat(&self.0, ".", flags, Mode::empty())?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            match rustix::fs::mkdirat(&here, part, Mode::from_raw_mode(0o777)) {
                Ok(()) => rustix::fs::fsync(&here)?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            here = rustix::fs::openat2(&here, part, flags, Mode::empty(), INSIDE)?;
        }
        Ok(here)
    }

    /// Writes a file where none is, whole or not at all. Whether it was written: somebody may have been faster.
    pub(crate) fn create(&self, path: &str, bytes: &[u8]) -> Result<bool, FileError> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir = self.make_directories(parent)?;
        let (mut file, draft) = new_draft(&dir, name)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).map_err(FileError::from);
        let placed = written.and_then(|()| place(&dir, &draft, name));
        if !matches!(placed, Ok(true)) {
            // Nothing is left behind.
            rustix::fs::unlinkat(&dir, &draft, AtFlags::empty())?;
        }
        placed
    }
}

/// Whether a path is below the directory in which a repository keeps its worktrees.
fn lies_in_worktrees(path: &Path) -> bool {
    let is_of_repository = |dir: &Path| dir.parent().is_some_and(|repository| repository.join(".git").exists());
    path.ancestors().any(|dir| dir.file_name().is_some_and(|name| name == ".worktrees") && is_of_repository(dir))
}

/// A file beside the one it is to become, which nobody else writes.
fn new_draft(dir: &OwnedFd, name: &str) -> Result<(File, String), FileError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Others may draft at the same time, and drafts of processes that died may lie there: take the next free number.
    for number in 0..MOST_DRAFTS {
        let draft = format!(".{name}.{number}.new");
        match rustix::fs::openat2(dir, &draft, flags, Mode::from_raw_mode(0o666), INSIDE) {
            Ok(file) => return Ok((file.into(), draft)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(FileError::Io(Errno::EXIST.into()))
}

/// Gives a draft its name. Whether it was free.
fn place(dir: &OwnedFd, draft: &str, name: &str) -> Result<bool, FileError> {
    match rustix::fs::renameat_with(dir, draft, dir, name, RenameFlags::NOREPLACE) {
        Ok(()) => {
            rustix::fs::fsync(dir)?;
            Ok(true)
        }
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
