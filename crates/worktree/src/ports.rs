//! Ports of worktrees: each has a slot of numbers for as long as it exists, whoever else comes and goes.
//!
//! Which slot is whose is kept in one small file beside the worktrees. It says nothing about who listens where.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use placet_workspace::WorktreeName;

const FILE: &str = ".worktrees/.ports.json";

/// Prevents a repository from placing a link here, through which a file of the person would be overwritten.
#[expect(clippy::cast_possible_wrap, reason = "flags of the kernel have few bits")]
const NOT_THROUGH_LINKS: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// The slot of a worktree; the lowest free one, if it has none yet.
pub fn lease(root: &Path, name: &WorktreeName) -> io::Result<u32> {
    let mut file = locked(root)?;
    let mut slots = read(&mut file)?;
    if let Some(slot) = slots.get(name.as_str()) {
        return Ok(*slot);
    }
    let slot = (0..).find(|slot| !slots.values().any(|taken| taken == slot)).unwrap_or(u32::MAX);
    slots.insert(name.as_str().to_owned(), slot);
    write(&mut file, &slots)?;
    Ok(slot)
}

/// The slot of every worktree that has one.
pub fn leased(root: &Path) -> io::Result<BTreeMap<String, u32>> {
    match OpenOptions::new().read(true).custom_flags(NOT_THROUGH_LINKS).open(root.join(FILE)) {
        Ok(mut file) => {
            file.lock_shared()?;
            read(&mut file)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

/// Gives a slot back.
pub fn release(root: &Path, name: &WorktreeName) -> io::Result<()> {
    let mut file = locked(root)?;
    let mut slots = read(&mut file)?;
    if slots.remove(name.as_str()).is_some() {
        write(&mut file, &slots)?;
    }
    Ok(())
}

/// Held while the file is open.
fn locked(root: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).custom_flags(NOT_THROUGH_LINKS);
    let file = options.open(root.join(FILE))?;
    file.lock()?;
    Ok(file)
}

/// A file that cannot be read is a file that nobody relies on: slots are given anew.
fn read(file: &mut File) -> io::Result<BTreeMap<String, u32>> {
    let mut text = String::new();
    file.take(1 << 20).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn write(file: &mut File, slots: &BTreeMap<String, u32>) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(serde_json::to_string(slots).map_err(io::Error::other)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> WorktreeName {
        text.parse().expect("a name")
    }

    #[test]
    fn a_worktree_keeps_its_slot_and_a_free_one_is_given_again() {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join(".worktrees")).expect("a directory");
        let slot = |text: &str| lease(root.path(), &name(text)).expect("a slot");
        assert_eq!((slot("A-1-x"), slot("A-2-x"), slot("A-1-x")), (0, 1, 0));
        release(root.path(), &name("A-1-x")).expect("released");
        assert_eq!((slot("A-2-x"), slot("A-3-x")), (1, 0), "the others stay where they are");
    }

    #[test]
    fn link_in_the_place_of_the_file_is_not_followed() {
        let root = tempfile::tempdir().expect("a directory");
        let notes = root.path().join("notes.txt");
        std::fs::write(&notes, "mine").expect("a file");
        std::fs::create_dir(root.path().join(".worktrees")).expect("a directory");
        std::os::unix::fs::symlink(&notes, root.path().join(FILE)).expect("a link");
        assert!(lease(root.path(), &name("A-1-x")).is_err() && release(root.path(), &name("A-1-x")).is_err());
        assert!(leased(root.path()).is_err());
        assert_eq!(std::fs::read_to_string(&notes).expect("a file"), "mine");
    }

    #[test]
    fn many_at_once_never_share_a_slot() {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join(".worktrees")).expect("a directory");
        let path = root.path();
        let slots: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20)
                .map(|n| scope.spawn(move || lease(path, &name(&format!("T-{n}-x"))).expect("a slot")))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let distinct: std::collections::BTreeSet<_> = slots.iter().collect();
        assert_eq!(distinct.len(), 20, "{slots:?}");
    }
}
