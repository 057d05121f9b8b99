//! Random trees and random changes: a snapshot brings back exactly what was there.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, XattrFlags};

use super::world::*;
use crate::space::Space;

/// What a program may do to a directory, by itself or through an overlay.
#[derive(Clone, Debug)]
enum Deed {
    Write(Place, u8),
    Append(Place, u8),
    Remove(Place),
    Directory(Place),
    Opaque(Place),
    Whiteout(Place),
    Link(Place, u8),
    Twin(Place, Place),
    Rename(Place, Place),
    Mode(Place, u32),
    Time(Place, u64),
    Attribute(Place, u8),
    Pipe(Place),
}

type Place = Vec<usize>;

/// Few names, so that deeds meet.
const NAMES: [&[u8]; 8] = [b"a", b"a-", b"a.b", b"b", b"new\nline", b"\xff\xfe%`", b"-rf", &[b'n'; 255]];

fn place(root: &Path, place: &Place) -> PathBuf {
    place.iter().fold(root.to_owned(), |path, name| path.join(OsStr::from_bytes(NAMES[*name])))
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let at = || proptest::collection::vec(0..NAMES.len(), 1..=3);
    let deed = prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(place, byte)| Deed::Write(place, byte)),
        2 => (at(), any::<u8>()).prop_map(|(place, byte)| Deed::Append(place, byte)),
        2 => at().prop_map(Deed::Remove),
        2 => at().prop_map(Deed::Directory),
        1 => at().prop_map(Deed::Opaque),
        1 => at().prop_map(Deed::Whiteout),
        1 => (at(), any::<u8>()).prop_map(|(place, byte)| Deed::Link(place, byte)),
        2 => (at(), at()).prop_map(|(one, other)| Deed::Twin(one, other)),
        2 => (at(), at()).prop_map(|(one, other)| Deed::Rename(one, other)),
        2 => (at(), 0_u32..0o10000).prop_map(|(place, mode)| Deed::Mode(place, mode)),
        1 => (at(), any::<u32>()).prop_map(|(place, time)| Deed::Time(place, u64::from(time) * 1_000_003)),
        1 => (at(), any::<u8>()).prop_map(|(place, byte)| Deed::Attribute(place, byte)),
        1 => at().prop_map(Deed::Pipe),
    ];
    proptest::collection::vec(deed, 0..24)
}

/// Does it if it can be done; programs fail, too.
fn act(root: &Path, deed: &Deed) -> std::io::Result<()> {
    let parents = |path: &Path| fs::create_dir_all(path.parent().unwrap());
    match deed {
        Deed::Write(at, byte) => {
            let path = place(root, at);
            parents(&path)?;
            if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
                return Ok(());
            }
            fs::write(path, [*byte; 5000])
        }
        Deed::Append(at, byte) => {
            let path = place(root, at);
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
                std::io::Write::write_all(&mut File::options().append(true).open(path)?, &[*byte])?;
            }
            Ok(())
        }
        Deed::Remove(at) => try_remove(&place(root, at)),
        Deed::Directory(at) => fs::create_dir_all(place(root, at)),
        Deed::Opaque(at) => {
            fs::create_dir_all(place(root, at))?;
            Ok(rustix::fs::lsetxattr(place(root, at), "user.overlay.opaque", b"y", XattrFlags::empty())?)
        }
        Deed::Whiteout(at) | Deed::Pipe(at) => {
            let path = place(root, at);
            parents(&path)?;
            try_remove(&path)?;
            let kind = if matches!(deed, Deed::Pipe(_)) { FileType::Fifo } else { FileType::CharacterDevice };
            Ok(rustix::fs::mknodat(CWD, path, kind, Mode::RUSR, 0)?)
        }
        Deed::Link(at, byte) => symlink(byte.to_string(), place(root, at)),
        Deed::Twin(one, other) => fs::hard_link(place(root, one), place(root, other)),
        Deed::Rename(one, other) => fs::rename(place(root, one), place(root, other)),
        Deed::Mode(at, bits) => {
            let path = place(root, at);
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() || meta.is_dir()) {
                return fs::set_permissions(&path, fs::Permissions::from_mode(*bits));
            }
            Ok(())
        }
        Deed::Time(at, nanoseconds) => {
            let path = place(root, at);
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() || meta.is_dir()) {
                let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(*nanoseconds);
                File::open(path)?.set_times(FileTimes::new().set_modified(time))?;
            }
            Ok(())
        }
        Deed::Attribute(at, byte) => {
            let path = place(root, at);
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() || meta.is_dir()) {
                rustix::fs::lsetxattr(&path, "user.note", &[*byte], XattrFlags::empty())?;
            }
            Ok(())
        }
    }
}

fn try_remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn act_all(space: &Space, in_workspace: &[Deed], in_memory: &[Deed]) {
    for (root, deeds) in [(space.upper(), in_workspace), (space.agent(), in_memory)] {
        for deed in deeds {
            // A deed that is impossible here is left out.
            let _ = act(&root, deed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_between_a_snapshot_brings_back_what_was_there(
        first in deeds(), second in deeds(), third in deeds(), fourth in deeds(), memory in deeds(), forgot in deeds(),
    ) {
        let world = World::new().with("a", "of the base").with("b/a", "of the base");
        let space = world.create();
        act_all(&space, &first, &memory);
        let (one, seen_one) = (space.snapshot(1).unwrap(), world.seen());
        act_all(&space, &second, &[]);
        let (two, seen_two) = (space.snapshot(2).unwrap(), world.seen());
        act_all(&space, &third, &forgot);
        space.restore(1, &one).unwrap();
        prop_assert_eq!(world.seen(), &seen_one[..]);
        prop_assert_eq!(space.state().unwrap(), one.state());
        prop_assert!(space.preview(1).unwrap().workspace.is_empty());
        act_all(&space, &fourth, &second);
        space.restore(2, &two).unwrap();
        prop_assert_eq!(world.seen(), &seen_two[..]);
        prop_assert_eq!(world.open().state().unwrap(), two.state());
    }
}
