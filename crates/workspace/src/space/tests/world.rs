//! A base, a space above it, and a second opinion on what is in a directory: nothing of the code under test is used to
//! see what it did.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use tempfile::TempDir;

use crate::digest::Digest;
use crate::path::TreePath;
use crate::space::{Space, SpaceError};

pub(super) struct World(TempDir);

impl World {
    pub(super) fn new() -> Self {
        let world = Self(TempDir::new().unwrap());
        fs::create_dir(world.path("base")).unwrap();
        world
    }

    pub(super) fn with(self, name: &str, text: &str) -> Self {
        write(&self.base(name), text);
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn base(&self, name: &str) -> PathBuf {
        self.path("base").join(name)
    }

    pub(super) fn upper(&self, name: &str) -> PathBuf {
        self.path("space/upper").join(name)
    }

    pub(super) fn agent(&self, name: &str) -> PathBuf {
        self.path("space/agent").join(name)
    }

    pub(super) fn create(&self) -> Space {
        Space::create(&self.path("space"), Some(&self.path("base"))).unwrap()
    }

    pub(super) fn open(&self) -> Space {
        self.try_open().unwrap()
    }

    pub(super) fn try_open(&self) -> Result<Space, SpaceError> {
        Space::open(&self.path("space"))
    }

    /// Both trees, and the base, which nothing may change.
    pub(super) fn seen(&self) -> [Seen; 3] {
        [seen(&self.path("space/upper")), seen(&self.path("space/agent")), seen(&self.path("base"))]
    }
}

/// Each path with everything that is to come back; what is not saved is not here.
pub(super) type Seen = BTreeMap<Vec<u8>, String>;

pub(super) fn seen(root: &Path) -> Seen {
    let (mut found, mut first_names) = (Seen::new(), BTreeMap::new());
    found.insert(Vec::new(), told(root, &[], &mut first_names).unwrap());
    walk(root, &[], &mut found, &mut first_names);
    found
}

fn walk(dir: &Path, at: &[u8], found: &mut Seen, first_names: &mut BTreeMap<u64, Vec<u8>>) {
    let _open = Opened::new(dir);
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let (full, path) = (dir.join(&name), [at, b"/", name.as_bytes()].concat());
        if let Some(told) = told(&full, &path, first_names) {
            found.insert(path.clone(), told);
        }
        if fs::symlink_metadata(&full).unwrap().is_dir() {
            walk(&full, &path, found, first_names);
        }
    }
}

fn told(full: &Path, path: &[u8], first_names: &mut BTreeMap<u64, Vec<u8>>) -> Option<String> {
    let meta = fs::symlink_metadata(full).unwrap();
    let kind = meta.file_type();
    let common = format!("{:o} {}.{:09}", meta.mode() & 0o7777, meta.mtime(), meta.mtime_nsec());
    if kind.is_symlink() {
        return Some(format!("link {}.{} {:?}", meta.mtime(), meta.mtime_nsec(), fs::read_link(full).unwrap()));
    }
    if kind.is_char_device() && meta.rdev() == 0 {
        return Some("whiteout".to_owned());
    }
    if kind.is_dir() {
        let _open = Opened::new(full);
        return Some(format!("dir {common} {:?}", attributes(full)));
    }
    if !kind.is_file() {
        return None;
    }
    let _open = Opened::new(full);
    let first = first_names.entry(meta.ino()).or_insert_with(|| path.to_vec());
    let twin_of = OsStr::from_bytes(first);
    Some(format!("file {common} {:?} {:?} {twin_of:?}", Digest::of(&fs::read(full).unwrap()), attributes(full)))
}

/// What is closed to whoever looks, open while they do. Anything else is not touched: its times are how it is known.
struct Opened(Option<(PathBuf, u32)>);

impl Opened {
    fn new(path: &Path) -> Self {
        let meta = fs::symlink_metadata(path).unwrap();
        let (bits, needed) = (meta.mode() & 0o7777, if meta.is_dir() { 0o500 } else { 0o400 });
        if rustix::process::geteuid().is_root() || bits & needed == needed {
            return Self(None);
        }
        mode(path, bits | needed);
        Self(Some((path.to_owned(), bits)))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.iter().for_each(|(path, bits)| mode(path, *bits));
    }
}

fn attributes(full: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (mut list, mut value) = (vec![0; 4096], vec![0; 4096]);
    let length = rustix::fs::llistxattr(full, list.as_mut_slice()).unwrap();
    let names = list[..length].split(|&byte| byte == 0).filter(|name| name.starts_with(b"user."));
    names
        .map(|name| {
            let length = rustix::fs::lgetxattr(full, name, value.as_mut_slice()).unwrap();
            (name.to_vec(), value[..length].to_vec())
        })
        .collect()
}

pub(super) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn whiteout(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

pub(super) fn opaque(path: &Path) {
    fs::create_dir_all(path).unwrap();
    attribute(path, "user.overlay.opaque", b"y");
}

pub(super) fn attribute(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::lsetxattr(path, name, value, XattrFlags::empty()).unwrap();
}

pub(super) fn pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

pub(super) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(super) fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

pub(super) fn at(path: &str) -> TreePath {
    TreePath::new(path).unwrap()
}
