//! The private directory of a worktree in the repository, as git itself makes it, with a record of ours in it.
//!
//! It is put together under another name and then renamed, so that one with its own name is whole. It is locked in git's
//! own sense: `git gc` and `git worktree prune` leave it alone, also when there is nothing at its path on the host.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use super::WorktreeError;
use super::name::WorktreeName;
use super::record::{FILE, Record};
use crate::copy::{Owner, copy_content};
use crate::dir::Dir;
use crate::error::Doing;
use crate::remove::remove_tree;
use crate::repository::Repository;

/// Where git keeps these directories.
const WORKTREES: &str = "worktrees";

/// In the directory of a worktree that is being made; gone when it is whole.
pub(super) const MAKING: &str = "placet-making";

/// A record has a few hundred bytes.
const MOST_RECORD_BYTES: u64 = 1 << 16;

/// The private directory of a worktree.
pub(super) fn path(repository: &Repository, name: &WorktreeName) -> PathBuf {
    repository.common_dir().join(WORKTREES).join(name.as_str())
}

/// Everything the cages of a worktree write to.
pub(super) fn layers(repository: &Repository, name: &WorktreeName) -> PathBuf {
    repository.worktrees().join(".layers").join(name.as_str())
}

/// Where all of them are, made if it has to be; whether it had to.
pub(super) fn all(repository: &Repository) -> Result<(Dir, bool), WorktreeError> {
    let common = Dir::open(repository.common_dir()).doing("open", repository.common_dir().display())?;
    make_in(&common, WORKTREES, repository.owner())
}

/// A directory in another one, made if it has to be; whether it had to.
pub(super) fn make_in(parent: &Dir, name: &str, owner: Owner) -> Result<(Dir, bool), WorktreeError> {
    let made = match parent.make(name.as_bytes()) {
        Ok(_) => {
            parent.set_mode_of(name.as_bytes(), 0o755).doing("set the mode of", name)?;
            owner.give(parent, name.as_bytes()).doing("give to its owner", name)?;
            true
        }
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error).doing("make", name)?,
    };
    Ok((parent.dir(name.as_bytes()).doing("open", name)?, made))
}

/// What git finds in the new directory.
pub(super) struct Admin<'a> {
    pub(super) repository: &'a Repository,
    pub(super) record: &'a Record,
    /// The `.git` file of the worktree.
    pub(super) git_file: &'a Path,
    /// An index that fits the files, to begin with.
    pub(super) index: Option<&'a Path>,
}

impl Admin<'_> {
    /// Puts it together; it appears in one step.
    pub(super) fn create(&self) -> Result<(), WorktreeError> {
        let (all, _) = all(self.repository)?;
        let temporary = format!(".placet-{:016x}", RandomState::new().build_hasher().finish());
        let made = self.fill(&all, &temporary).and_then(|()| self.appear(&all, &temporary));
        if made.is_err() {
            // The first error counts.
            let _ = remove_tree(&all, temporary.as_bytes(), format!("{temporary}-gone").as_bytes());
        }
        made
    }

    fn fill(&self, all: &Dir, temporary: &str) -> Result<(), WorktreeError> {
        let (owner, record) = (self.repository.owner(), self.record);
        let (dir, _) = make_in(all, temporary, owner)?;
        let json = record.to_bytes().map_err(std::io::Error::other).doing("write", FILE)?;
        let git_file = [self.git_file.as_os_str().as_encoded_bytes(), b"\n"].concat();
        let files: [(&str, &[u8]); 6] = [
            (FILE, &json),
            (MAKING, b""),
            ("HEAD", &format!("ref: {}\n", record.branch.full()).into_bytes()),
            ("commondir", b"../..\n"),
            ("gitdir", &git_file),
            ("locked", b"it belongs to placet, which removes it\n"),
        ];
        for (name, content) in files {
            write(&dir, name, content, owner)?;
        }
        match self.index {
            Some(index) => copy_index(index, &dir, owner),
            None => Ok(()),
        }
    }

    fn appear(&self, all: &Dir, temporary: &str) -> Result<(), WorktreeError> {
        match all.move_to(temporary.as_bytes(), all, self.record.name.as_str().as_bytes()) {
            Err(Errno::EXIST) => Err(WorktreeError::Exists(self.record.name.clone())),
            other => Ok(other.doing("name", self.record.name.as_str())?),
        }
    }
}

/// A new file with this content.
pub(super) fn write(dir: &Dir, name: &str, content: &[u8], owner: Owner) -> Result<(), WorktreeError> {
    let mut file = dir.create(name.as_bytes()).doing("make", name)?;
    file.write_all(content).doing("write", name)?;
    dir.set_mode_of(name.as_bytes(), 0o644).doing("set the mode of", name)?;
    Ok(owner.give(dir, name.as_bytes()).doing("give to its owner", name)?)
}

/// Its own time is later than that of every file it tells about, or git would read them all again.
fn copy_index(from: &Path, dir: &Dir, owner: Owner) -> Result<(), WorktreeError> {
    let mut source = File::open(from).doing("open", from.display())?;
    let mut copy = dir.create(b"index").doing("make", "index")?;
    copy_content(&mut source, &mut copy).doing("copy", from.display())?;
    let omitted = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let times = Timestamps { last_access: omitted, last_modification: now };
    rustix::fs::futimens(&copy, &times).doing("set the times of", "index")?;
    dir.set_mode_of(b"index", 0o644).doing("set the mode of", "index")?;
    Ok(owner.give(dir, b"index").doing("give to its owner", "index")?)
}

/// From now on it is whole.
pub(super) fn finish(repository: &Repository, name: &WorktreeName) -> Result<(), WorktreeError> {
    let marker = path(repository, name).join(MAKING);
    Ok(fs::remove_file(&marker).doing("remove", marker.display())?)
}

/// The record of a worktree; none, if the directory is not ours.
pub(super) fn read(git_dir: &Path) -> Result<Option<Record>, WorktreeError> {
    let path = git_dir.join(FILE);
    let dir = Dir::open(git_dir).doing("open", git_dir.display())?;
    let file = match dir.file(FILE.as_bytes()) {
        Err(Errno::NOENT) => return Ok(None),
        file => file.doing("open", path.display())?.0,
    };
    let mut bytes = Vec::new();
    file.take(MOST_RECORD_BYTES).read_to_end(&mut bytes).doing("read", path.display())?;
    Record::from_bytes(&bytes, &path).map(Some)
}

/// Removes the private directory, if it is there.
pub(super) fn remove(repository: &Repository, name: &WorktreeName) -> Result<(), WorktreeError> {
    let common = Dir::open(repository.common_dir()).doing("open", repository.common_dir().display())?;
    let (trash, shown) = (format!(".placet-gone-{name}"), path(repository, name));
    let Some(all) = crate::dir::absent(common.dir(WORKTREES.as_bytes())).doing("open", shown.display())? else {
        return Ok(());
    };
    remove_tree(&all, name.as_str().as_bytes(), trash.as_bytes()).doing("remove", shown.display())?;
    // Git removes it too when the last worktree goes.
    let _ = common.remove_empty(WORKTREES.as_bytes());
    Ok(())
}
