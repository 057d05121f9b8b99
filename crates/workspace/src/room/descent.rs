//! Walks a tree of any shape with two descriptors, however deep and wide it is: down by name, up by `..`, and never to
//! another directory than the one it came from.

use rustix::fs::{FileType, Stat};
use rustix::io::Result;

use crate::dir::{Dir, absent};

/// The name and mode of a directory that its owner had closed to themselves.
type Closed = (Vec<u8>, u32);

/// A directory that was entered.
struct Level {
    /// How it is known again on the way up.
    number: (u64, u64),
    /// Directories in it that are still to be entered.
    waiting: Vec<Vec<u8>>,
    /// What it was itself.
    closed: Option<Closed>,
}

/// Tells about everything below a directory. What is gone when it is looked at takes no room.
pub(super) fn descend(root: Dir, tell: &mut dyn FnMut(&Stat)) -> Result<()> {
    let mut levels = vec![enter(&root, None, tell)?];
    let mut dir = root;
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.waiting.pop() else {
            let left = levels.pop();
            if let Some(above) = levels.last() {
                dir = dir.up(above.number)?;
            }
            close(&dir, left)?;
            continue;
        };
        if let Some((inner, closed)) = open(&dir, name)? {
            levels.push(enter(&inner, closed, tell)?);
            dir = inner;
        }
    }
    Ok(())
}

fn enter(dir: &Dir, closed: Option<Closed>, tell: &mut dyn FnMut(&Stat)) -> Result<Level> {
    let own = dir.own_stat()?;
    let mut waiting = Vec::new();
    for name in dir.names()? {
        let Some(stat) = absent(dir.stat(&name))? else { continue };
        tell(&stat);
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            waiting.push(name);
        }
    }
    Ok(Level { number: (own.st_dev, own.st_ino), waiting, closed })
}

/// Opens a directory, and for whoever is not root what its owner closed to themselves, which is noted.
fn open(dir: &Dir, name: Vec<u8>) -> Result<Option<(Dir, Option<Closed>)>> {
    let Some(stat) = absent(dir.stat(&name))? else { return Ok(None) };
    let mode = stat.st_mode & 0o7777;
    let is_open = mode & 0o500 == 0o500 || rustix::process::geteuid().is_root();
    if !is_open {
        dir.set_mode_of(&name, mode | 0o500)?;
    }
    let inner = absent(dir.dir(&name))?;
    Ok(inner.map(|inner| (inner, (!is_open).then_some((name, mode)))))
}

fn close(parent: &Dir, left: Option<Level>) -> Result<()> {
    match left.and_then(|left| left.closed) {
        Some((name, mode)) => absent(parent.set_mode_of(&name, mode)).map(drop),
        None => Ok(()),
    }
}
