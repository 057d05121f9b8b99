//! Lists the names in a tree with their inode numbers, and the time of the listing.
//!
//! A cheaper baseline than stamps, because no file is inspected before a command. A file is unchanged if its inode is the listed one and
//! its change time is older than the listing. The file system sets the change time at every write, and a program cannot set it.
//!
//! Returns `None` instead of guessing if the file system's clock is coarse, or directories list inode numbers that differ from those of the
//! files; the caller then records stamps.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;

use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::git::pause;
use crate::layer::baseline::Told;
use crate::layer::node::{MODE_BITS, Node};
use crate::layer::promote::STAGING;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

/// Seconds and nanoseconds of the clock that a file system uses for change times.
type Moment = (i64, u64);

/// File whose change time is read as the current time of its file system.
const CLOCK: &[u8] = b"clock";

/// Usual file systems advance their clock every 1 to 10 ms. A clock that has not moved after 20 ms counts in seconds.
const MOST_TICKS: usize = 20;
const TICK: Duration = Duration::from_millis(1);

/// Size of the buffer for listing a directory.
const LISTED_BYTES: usize = 32 << 10;

/// One listed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    inode: u64,
    /// Mode, for directories only.
    mode: Option<u32>,
}

/// Entries of a tree at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    entries: HashMap<TreePath, Listed>,
    listed_at: Moment,
}

impl Names {
    /// Lists a tree. `clock` is a directory of the caller's own on the same file system. Returns `None` if that file system does not
    /// support the comparison.
    pub(crate) fn list(tree: &Path, clock: &Path, limits: Limits) -> Result<Option<Self>, LayerError> {
        let root = Dir::open(tree).doing("open", tree.display())?;
        let Some(listed_at) = moment(&root, clock).doing("read the clock of", clock.display())? else {
            return Ok(None);
        };
        let buffer = vec![MaybeUninit::uninit(); LISTED_BYTES];
        let mut listing = Listing { entries: HashMap::new(), meter: Meter::new(limits), buffer, agrees: true };
        listing.directory(&root, None, 1)?;
        Ok(listing.agrees.then_some(Self { entries: listing.entries, listed_at }))
    }

    /// True if an earlier promotion into the tree did not finish.
    pub(crate) fn has_unfinished(&self) -> bool {
        self.entries.keys().any(|path| path.as_bytes().starts_with(STAGING))
    }

    pub(crate) fn had(&self, path: &TreePath) -> bool {
        self.entries.contains_key(path)
    }

    /// True if an entry is unchanged since the tree was listed. A directory's content is compared as separate entries.
    pub(crate) fn is_still(&self, path: &TreePath, node: &Node, told: &Told) -> bool {
        let Some(listed) = self.entries.get(path) else { return false };
        match node {
            Node::Directory { mode } => listed.mode == Some(*mode),
            Node::File { .. } | Node::Symlink { .. } | Node::Special { .. } => {
                listed.mode.is_none() && listed.inode == told.inode && told.changed() < self.listed_at
            }
        }
    }

    /// True if the clock of the file system has only moved forward since. After it was set back, changes may look older than they are.
    pub(crate) fn is_in_past(&self, clock: &Path) -> Result<bool, LayerError> {
        let dir = Dir::open(clock).doing("open", clock.display())?;
        Ok(touch(&dir).doing("read the clock of", clock.display())? >= self.listed_at)
    }
}

/// Returns a time later than every change so far and not later than any future change. `None` if `clock` is on another file system than the
/// tree, or that file system's clock is coarse.
fn moment(tree: &Dir, clock: &Path) -> rustix::io::Result<Option<Moment>> {
    let dir = Dir::open(clock)?;
    if dir.own_stat()?.st_dev != tree.own_stat()?.st_dev {
        return Ok(None);
    }
    let first = touch(&dir)?;
    for _ in 0..MOST_TICKS {
        let now = touch(&dir)?;
        if now > first {
            return Ok(Some(now));
        }
        pause(TICK);
    }
    Ok(None)
}

/// Changes a file and returns its change time.
fn touch(dir: &Dir) -> rustix::io::Result<Moment> {
    absent(dir.unlink(CLOCK))?;
    let stat = rustix::fs::fstat(dir.create(CLOCK)?)?;
    Ok((stat.st_ctime, stat.st_ctime_nsec))
}

struct Listing {
    entries: HashMap<TreePath, Listed>,
    meter: Meter,
    buffer: Vec<MaybeUninit<u8>>,
    /// True if files have the inode numbers that their directories list.
    agrees: bool,
}

impl Listing {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, depth: usize) -> Result<(), LayerError> {
        let mut directories = Vec::new();
        let mut file = None;
        for (path, inode, kind) in self.entries_of(dir, at, depth)? {
            match kind {
                FileType::Directory | FileType::Unknown => directories.push((path, inode)),
                FileType::RegularFile
                | FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => {
                    file.get_or_insert_with(|| (path.clone(), inode));
                    self.entries.insert(path, Listed { inode, mode: None });
                }
            }
        }
        if let Some((path, inode)) = file {
            self.compare(dir, &path, inode)?;
        }
        directories.into_iter().try_for_each(|(path, inode)| self.descend(dir, path, inode, depth))
    }

    /// Compares one file in every directory, which represents all others in it.
    fn compare(&mut self, dir: &Dir, path: &TreePath, inode: u64) -> Result<(), LayerError> {
        let stat = absent(dir.stat(path.name())).doing("look at", path)?;
        self.agrees &= stat.is_none_or(|stat| stat.st_ino == inode);
        Ok(())
    }

    /// Descends into an entry that may turn out not to be a directory, because some file systems do not report types in listings.
    fn descend(&mut self, dir: &Dir, path: TreePath, inode: u64, depth: usize) -> Result<(), LayerError> {
        let stat = dir.stat(path.name()).doing("look at", &path)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let mode = is_directory.then_some(stat.st_mode & MODE_BITS);
        self.entries.insert(path.clone(), Listed { inode, mode });
        if !is_directory {
            return Ok(());
        }
        match dir.dir(path.name()) {
            // As with stamps, mounts are not part of the tree. A directory that the caller cannot list is closed to their commands too.
            Err(Errno::XDEV | Errno::ACCESS) => Ok(()),
            inner => self.directory(&inner.doing("open", &path)?, Some(&path), depth + 1),
        }
    }

    fn entries_of(
        &mut self,
        dir: &Dir,
        at: Option<&TreePath>,
        depth: usize,
    ) -> Result<Vec<(TreePath, u64, FileType)>, LayerError> {
        let shown = || at.map_or_else(|| "the lower directory".to_owned(), ToString::to_string);
        let mut found = Vec::new();
        let mut entries = RawDir::new(dir, &mut self.buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.doing("list", shown())?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                self.meter.entry(depth)?;
                found.push((TreePath::below(at, name)?, entry.ino(), entry.file_type()));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn is_still(names: &Names, tree: &Path, path: &str) -> bool {
        let (root, path) = (Dir::open(tree).unwrap(), TreePath::new(path.as_bytes()).unwrap());
        let stat = root.look(&path).unwrap().unwrap();
        let parent = root.parent_of(&path).unwrap();
        let node = Node::read(&parent, &stat, &path, &mut Meter::new(Limits::default())).unwrap();
        names.is_still(&path, &node, &Told::new(&stat))
    }

    fn tree() -> (tempfile::TempDir, std::path::PathBuf, Names) {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("src/deep")).unwrap();
        for path in ["top", "src/one", "src/two", "src/deep/three"] {
            fs::write(tree.join(path), path).unwrap();
        }
        std::os::unix::fs::symlink("one", tree.join("src/link")).unwrap();
        let names = Names::list(&tree, dir.path(), Limits::default()).unwrap().expect("a fine clock");
        (dir, tree, names)
    }

    #[test]
    fn untouched_entries_are_unchanged() {
        let (_dir, tree, names) = tree();
        for path in ["top", "src", "src/one", "src/two", "src/link", "src/deep", "src/deep/three"] {
            assert!(is_still(&names, &tree, path), "{path}");
        }
    }

    #[test]
    fn every_kind_of_change_is_noticed() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_dir, tree, names) = tree();
        fs::write(tree.join("top"), "new").unwrap();
        // The same bytes with the old modification time.
        let modified = fs::metadata(tree.join("src/one")).unwrap().modified().unwrap();
        fs::write(tree.join("src/one"), "src/one").unwrap();
        fs::File::options().write(true).open(tree.join("src/one")).unwrap().set_modified(modified).unwrap();
        fs::set_permissions(tree.join("src/two"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(tree.join("src/link")).unwrap();
        std::os::unix::fs::symlink("one", tree.join("src/link")).unwrap();
        fs::set_permissions(tree.join("src/deep"), fs::Permissions::from_mode(0o700)).unwrap();
        for path in ["top", "src/one", "src/two", "src/link", "src/deep"] {
            assert!(!is_still(&names, &tree, path), "{path}");
        }
    }

    #[test]
    fn directory_swapped_for_an_older_one_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        for (path, content) in [("src", "then"), ("other", "elsewhere")] {
            fs::create_dir_all(tree.join(path)).unwrap();
            fs::write(tree.join(path).join("one"), content).unwrap();
        }
        let names = Names::list(&tree, dir.path(), Limits::default()).unwrap().expect("a fine clock");
        fs::rename(tree.join("src"), tree.join("before")).unwrap();
        fs::rename(tree.join("other"), tree.join("src")).unwrap();
        assert!(!is_still(&names, &tree, "src/one"));
        assert!(!names.had(&TreePath::new(b"before/one".as_slice()).unwrap()));
    }

    #[test]
    fn clock_set_back_is_noticed() {
        let (dir, _tree, mut names) = tree();
        assert!(names.is_in_past(dir.path()).unwrap());
        names.listed_at.0 += 3_600;
        assert!(!names.is_in_past(dir.path()).unwrap());
    }
}
