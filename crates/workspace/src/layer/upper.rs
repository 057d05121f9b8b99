//! Reads an upper: everything a run left, in order, bounded, with nothing followed and nothing opened but plain files.
//!
//! What an upper looks like is documented with `placet_sandbox::Layers`. Both forms of a whiteout are understood.

use std::collections::BTreeMap;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::digest::{Digest, Fields};
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::node::Node;
use crate::limits::{Limits, Meter};
use crate::path::TreePath;

pub(crate) const OPAQUE: &str = "user.overlay.opaque";
pub(crate) const WHITEOUT: &str = "user.overlay.whiteout";

/// One entry of an upper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Something is here now; if it is a directory, whether the one below shows through.
    Here { node: Node, opaque: bool, raw_mode: u32 },
    /// What was here is gone.
    Whiteout,
}

/// Everything in an upper. Directories come before what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Upper(pub(crate) BTreeMap<TreePath, Entry>);

/// What the kernel noted about a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notes {
    None,
    /// Nothing of the directory below shows.
    Opaque,
    /// Whiteouts in it may be files with an attribute.
    MarkedFiles,
}

impl Upper {
    pub(crate) fn read(root: &Dir, limits: Limits) -> Result<Self, LayerError> {
        let mut reading = Reading { entries: BTreeMap::new(), meter: Meter::new(limits) };
        let notes = notes(root).doing("read the attributes of", "the upper")?;
        reading.directory(root, None, notes, 1)?;
        Ok(Self(reading.entries))
    }

    /// Names everything that can be seen of the upper, and of the root directory's own notes nothing.
    pub(crate) fn digest(&self) -> Digest {
        let mut fields = Fields::new("placet upper v1");
        for (path, entry) in &self.0 {
            fields.add(path.as_bytes());
            match entry {
                Entry::Here { node, opaque, raw_mode } => {
                    node.hash(&mut fields);
                    fields.add_number(u64::from(*raw_mode));
                    fields.add_number(u64::from(*opaque));
                }
                Entry::Whiteout => fields.add(b"whiteout"),
            }
        }
        fields.finish()
    }
}

struct Reading {
    entries: BTreeMap<TreePath, Entry>,
    meter: Meter,
}

impl Reading {
    fn directory(&mut self, dir: &Dir, at: Option<&TreePath>, notes: Notes, depth: usize) -> Result<(), LayerError> {
        let shown = at.map_or_else(|| "the upper".to_owned(), ToString::to_string);
        for name in dir.names().doing("list", &shown)? {
            self.meter.entry(depth)?;
            let path = TreePath::below(at, &name)?;
            let stat = dir.stat(&name).doing("look at", &path)?;
            self.entry(dir, path, &stat, notes, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        dir: &Dir,
        path: TreePath,
        stat: &Stat,
        of_parent: Notes,
        depth: usize,
    ) -> Result<(), LayerError> {
        if is_whiteout(dir, &path, stat, of_parent)? {
            self.entries.insert(path, Entry::Whiteout);
            return Ok(());
        }
        let node = Node::read(dir, stat, &path, &mut self.meter)?;
        let raw_mode = stat.st_mode & 0o7777;
        if !node.is_directory() {
            self.entries.insert(path, Entry::Here { node, opaque: false, raw_mode });
            return Ok(());
        }
        let inner = dir.dir(path.name()).doing("open", &path)?;
        let own = notes(&inner).doing("read the attributes of", &path)?;
        self.entries.insert(path.clone(), Entry::Here { node, opaque: own == Notes::Opaque, raw_mode });
        self.directory(&inner, Some(&path), own, depth + 1)
    }
}

/// What an upper has at a path, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Anything but a directory.
    File(FileType),
    /// A directory; whether nothing of the one below shows through.
    Directory { opaque: bool },
    /// What was here is gone.
    Whiteout,
}

/// Everything in an upper, and nothing of it opened but directories.
pub(crate) fn shapes(root: &Dir) -> Result<BTreeMap<TreePath, Shape>, LayerError> {
    let (mut found, mut meter) = (BTreeMap::new(), Meter::new(Limits::default()));
    let own = notes(root).doing("read the attributes of", "the upper")?;
    shapes_in(root, None, own, 1, &mut meter, &mut found)?;
    Ok(found)
}

fn shapes_in(
    dir: &Dir,
    at: Option<&TreePath>,
    own: Notes,
    depth: usize,
    meter: &mut Meter,
    found: &mut BTreeMap<TreePath, Shape>,
) -> Result<(), LayerError> {
    let shown = at.map_or_else(|| "the upper".to_owned(), ToString::to_string);
    for name in dir.names().doing("list", &shown)? {
        meter.entry(depth)?;
        let path = TreePath::below(at, &name)?;
        let stat = dir.stat(&name).doing("look at", &path)?;
        if is_whiteout(dir, &path, &stat, own)? {
            found.insert(path, Shape::Whiteout);
            continue;
        }
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::Directory {
            found.insert(path, Shape::File(kind));
            continue;
        }
        let inner = dir.dir(&name).doing("open", &path)?;
        let inside = notes(&inner).doing("read the attributes of", &path)?;
        found.insert(path.clone(), Shape::Directory { opaque: inside == Notes::Opaque });
        shapes_in(&inner, Some(&path), inside, depth + 1, meter, found)?;
    }
    Ok(())
}

/// A character device 0:0, or an empty file with an attribute where the directory says that there are such.
fn is_whiteout(dir: &Dir, path: &TreePath, stat: &Stat, notes: Notes) -> Result<bool, LayerError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice => Ok(stat.st_rdev == 0),
        FileType::RegularFile if notes == Notes::MarkedFiles && stat.st_size == 0 => {
            let (file, _) = dir.file(path.name()).doing("open", path)?;
            let mark = attribute(rustix::fs::fgetxattr(file, WHITEOUT, &mut [0; 8]).map(|_| ()));
            Ok(mark.doing("read the attributes of", path)?.is_some())
        }
        FileType::RegularFile
        | FileType::Directory
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::BlockDevice
        | FileType::Unknown => Ok(false),
    }
}

/// Whether nothing of the directory below shows through this one.
pub(crate) fn is_opaque(dir: &Dir) -> rustix::io::Result<bool> {
    notes(dir).map(|notes| notes == Notes::Opaque)
}

fn notes(dir: &Dir) -> rustix::io::Result<Notes> {
    let mut value = [0; 8];
    let length = attribute(rustix::fs::fgetxattr(dir, OPAQUE, &mut value[..]))?;
    Ok(match length.map(|length| &value[..length]) {
        Some(b"y") => Notes::Opaque,
        Some(b"x") => Notes::MarkedFiles,
        Some(_) | None => Notes::None,
    })
}

/// A file system without attributes has none, and a longer value than the kernel writes is none of its own.
fn attribute<T>(read: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => Ok(None),
        Err(error) => Err(error),
    }
}
