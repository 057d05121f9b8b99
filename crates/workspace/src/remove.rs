//! Removes a tree of any shape, however deep and however closed its owner left it.
//!
//! A run can nest directories deeper than any stack of descriptors or calls. So nothing is descended into: directories
//! found inside a directory are first moved up to a level where they are emptied in turn.

use std::path::Path;

use rustix::fs::{FileType, Stat};
use rustix::io::{Errno, Result};

use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::place;

/// What is on its way out of a run's directory.
const TRASH: &[u8] = b".placet-trash";

/// Removes the directory that holds upper and work of a run, with everything the run and the kernel left in it.
pub fn remove_run(run: &Path) -> std::result::Result<(), LayerError> {
    let inside = Dir::open(run).doing("open", run.display())?;
    for name in inside.names().doing("list", run.display())? {
        remove_tree(&inside, &name, TRASH).doing("remove what is in", run.display())?;
    }
    std::fs::remove_dir(run).doing("remove", run.display())
}

/// Removes whatever a run left under a name of its upper, if anything, however deep and closed it is. It is emptied beside
/// the upper, where no run can put anything in the way; and the upper is open to its owner afterwards.
pub fn remove_from_upper(upper: &Path, name: &str) -> std::result::Result<(), LayerError> {
    let (beside, upper_name) = place(upper)?;
    open_up(&beside, &upper_name).doing("open", upper.display())?;
    let inside = beside.dir(&upper_name).doing("open", upper.display())?;
    remove_by_way_of(&beside, &inside, name.as_bytes(), TRASH, &mut Removed::default())
        .doing("remove what is in", upper.display())
}

/// Opens the directories that the kernel makes in its room, one in the other, and which nobody but root could list.
pub(crate) fn open_room(work: &Path) -> std::result::Result<(), LayerError> {
    let mut inside = Dir::open(work).doing("open", work.display())?;
    for name in [&b"work"[..], b"incompat", b"volatile"] {
        open_up(&inside, name).doing("open", work.display())?;
        inside = match inside.dir(name) {
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.doing("open", work.display())?,
        };
    }
    Ok(())
}

/// Removes `name` and everything below. Links are removed, not followed. It is gone from its place at once; what an
/// interrupted call left in `trash` is removed by the next one.
pub(crate) fn remove_tree(parent: &Dir, name: &[u8], trash: &[u8]) -> Result<()> {
    remove_counted(parent, name, trash, &mut Removed::default())
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Everything but directories.
    pub(crate) files: u64,
    /// Sizes; a file with several names counts with the last of them.
    pub(crate) bytes: u64,
}

impl Removed {
    fn count(&mut self, stat: &Stat) {
        self.files += 1;
        if stat.st_nlink < 2 {
            self.bytes += u64::try_from(stat.st_size).unwrap_or_default();
        }
    }
}

/// The same, counting.
pub(crate) fn remove_counted(parent: &Dir, name: &[u8], trash: &[u8], removed: &mut Removed) -> Result<()> {
    remove_by_way_of(parent, parent, name, trash, removed)
}

/// The same, emptied in another directory than the one it is in.
fn remove_by_way_of(beside: &Dir, parent: &Dir, name: &[u8], trash: &[u8], removed: &mut Removed) -> Result<()> {
    let heap = heap(beside, trash)?;
    open_up(parent, name)?;
    match parent.move_to(name, &heap, &free_name(&heap, &mut 0)?) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error),
    }
    empty(&heap, removed)?;
    beside.remove_empty(trash)
}

fn heap(parent: &Dir, trash: &[u8]) -> Result<Dir> {
    match parent.make(trash) {
        Err(Errno::EXIST) => parent.dir(trash),
        other => other,
    }
}

fn empty(heap: &Dir, removed: &mut Removed) -> Result<()> {
    let mut counter = 0;
    loop {
        let names = heap.names()?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            let stat = heap.stat(&name)?;
            if is_directory(&stat) {
                scatter(heap, &name, &mut counter, removed)?;
                heap.remove_empty(&name)?;
            } else {
                heap.unlink(&name)?;
                removed.count(&stat);
            }
        }
    }
}

/// Removes what is in a directory of the heap, or moves it up to the heap itself.
fn scatter(heap: &Dir, name: &[u8], counter: &mut u64, removed: &mut Removed) -> Result<()> {
    open_up(heap, name)?;
    let directory = heap.dir(name)?;
    for inner in directory.names()? {
        let stat = directory.stat(&inner)?;
        if is_directory(&stat) {
            open_up(&directory, &inner)?;
            directory.move_to(&inner, heap, &free_name(heap, counter)?)?;
        } else {
            directory.unlink(&inner)?;
            removed.count(&stat);
        }
    }
    Ok(())
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// A directory without the right to write cannot be emptied or moved, not even by its owner.
fn open_up(parent: &Dir, name: &[u8]) -> Result<()> {
    match parent.stat(name) {
        Ok(stat) if !is_directory(&stat) => Ok(()),
        Ok(stat) if stat.st_mode & 0o700 == 0o700 => Ok(()),
        Ok(_) => parent.set_mode_of(name, 0o700),
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

fn free_name(heap: &Dir, counter: &mut u64) -> Result<Vec<u8>> {
    loop {
        *counter += 1;
        let name = counter.to_string().into_bytes();
        match heap.stat(&name) {
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(name),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_tree_deeper_than_any_path_is_removed_and_links_are_not_followed() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("kept"), "kept").unwrap();
        let parent = Dir::open(outer.path()).unwrap();
        let mut deepest = parent.make(b"tree").unwrap();
        for _ in 0..3000 {
            deepest = deepest.make(b"directory").unwrap();
        }
        symlink(outer.path(), outer.path().join("tree/link")).unwrap();
        fs::create_dir_all(outer.path().join("tree/closed/inner")).unwrap();
        fs::set_permissions(outer.path().join("tree/closed"), fs::Permissions::from_mode(0o000)).unwrap();
        remove_tree(&parent, b"tree", b"trash").unwrap();
        assert_eq!(parent.names().unwrap(), [b"kept"]);
    }

    #[test]
    fn a_run_is_removed_with_what_the_kernel_closed() {
        let outer = tempfile::tempdir().unwrap();
        let run = outer.path().join("run");
        fs::create_dir_all(run.join("work/work/incompat/volatile")).unwrap();
        fs::create_dir_all(run.join("upper/deep")).unwrap();
        fs::write(run.join("upper/deep/file"), "x").unwrap();
        for closed in ["work/work/incompat/volatile", "work/work/incompat", "work/work", "upper/deep"] {
            fs::set_permissions(run.join(closed), fs::Permissions::from_mode(0o000)).unwrap();
        }
        remove_run(&run).unwrap();
        assert!(!run.exists());
        assert!(remove_run(&run).is_err(), "what is not there cannot be removed");
    }

    #[test]
    fn nothing_a_run_leaves_in_its_upper_keeps_a_name_from_being_removed() {
        let run = tempfile::tempdir().unwrap();
        let upper = run.path().join("upper");
        let mode = |path: &Path, bits: u32| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
        type Leave = fn(&Path);
        let left: [Leave; 4] = [
            |_| {},
            |upper| fs::write(upper.join("config"), "x").unwrap(),
            |upper| symlink("/etc/passwd", upper.join("config")).unwrap(),
            |upper| {
                let mut deepest = Dir::open(upper).unwrap().make(b"config").unwrap();
                (0..1_100).for_each(|_| deepest = deepest.make(b"d").unwrap());
            },
        ];
        for (position, leave) in left.into_iter().enumerate() {
            fs::create_dir(&upper).unwrap();
            fs::write(upper.join(".placet-trash"), "in the way").unwrap();
            leave(&upper);
            if position == 3 {
                mode(&upper.join("config"), 0o000);
            }
            mode(&upper, 0o000);
            remove_from_upper(&upper, "config").unwrap();
            assert!(upper.join("config").symlink_metadata().is_err());
            assert!(upper.join(".placet-trash").exists(), "it is the run's own");
            fs::remove_dir_all(&upper).unwrap();
            assert_eq!(fs::read_dir(run.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_an_interrupted_removal_left_is_removed_too() {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir_all(outer.path().join("trash/1/deep")).unwrap();
        fs::create_dir_all(outer.path().join("tree/deep")).unwrap();
        let parent = Dir::open(outer.path()).unwrap();
        remove_tree(&parent, b"tree", b"trash").unwrap();
        assert!(parent.names().unwrap().is_empty());
    }
}
