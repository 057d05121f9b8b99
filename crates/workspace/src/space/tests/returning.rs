//! Going back: to the byte, to the time, in one step, and never at the expense of people.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::time::{Duration, SystemTime};

use super::world::*;
use crate::space::{Recovery, SpaceError};

/// A run that did everything an upper can hold.
fn everything(world: &World) {
    write(&world.upper("text"), "by the run");
    write(&world.upper("made/deep/file"), "x");
    write(&world.upper("made/empty"), "");
    whiteout(&world.upper("gone"));
    opaque(&world.upper("again"));
    write(&world.upper("again/new"), "y");
    symlink("/etc/passwd", world.upper("link")).unwrap();
    fs::hard_link(world.upper("text"), world.upper("twin")).unwrap();
    attribute(&world.upper("made/empty"), "user.note", b"\x00\xff");
    attribute(&world.upper("made"), "user.overlay.impure", b"y");
    mode(&world.upper("made/deep/file"), 0o4751);
    mode(&world.upper("made/deep"), 0o1555);
    let sparse = File::create(world.upper("sparse")).unwrap();
    sparse.write_at(b"end", 8 << 20).unwrap();
    let long_ago = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(1_234_567_891));
    File::open(world.upper("made/empty")).unwrap().set_times(long_ago).unwrap();
    write(&world.agent("memory/notes"), "what I know");
    write(&world.agent("env.json"), "{}");
}

fn destroy_everything(world: &World) {
    for name in ["made/deep", "made"] {
        mode(&world.upper(name), 0o700);
    }
    for name in ["text", "made", "gone", "again", "link", "sparse"] {
        remove(&world.upper(name));
    }
    write(&world.upper("link/is/a/directory/now"), "z");
    whiteout(&world.upper("text"));
    write(&world.upper("again"), "a file now");
    pipe(&world.upper("pipe"));
    remove(&world.agent("memory"));
    write(&world.agent("env.json"), "{\"poisoned\":true}");
    write(&world.agent("memory.bak"), "");
    mode(&world.path("space/upper"), 0o711);
}

fn world() -> World {
    World::new().with("text", "of the base").with("gone", "x").with("again/old", "x").with("kept", "people's")
}

#[test]
fn everything_comes_back_to_the_byte_and_to_the_nanosecond() {
    let world = world();
    let space = world.create();
    everything(&world);
    let (then, record) = (world.seen(), space.snapshot(1).unwrap());
    destroy_everything(&world);
    assert_ne!(world.seen(), then);
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    assert_eq!(space.state().unwrap(), record.state());
    let sparse = fs::metadata(world.upper("sparse")).unwrap();
    assert!(sparse.blocks() * 512 < 1 << 20, "holes stay holes: {} blocks", sparse.blocks());
    assert_eq!(fs::metadata(world.upper("twin")).unwrap().nlink(), 2, "two names of one file");
    assert_eq!(world.open().recovered(), Recovery::Nothing);
    mode(&world.upper("made/deep"), 0o755);
}

#[test]
fn any_snapshot_can_be_gone_back_to_at_any_time_and_in_any_order() {
    let world = world();
    let space = world.create();
    let mut taken = Vec::new();
    for number in 0..4 {
        write(&world.upper("file"), format!("version {number}"));
        write(&world.upper(&format!("only/in/{number}")), "x");
        if number > 0 {
            remove(&world.upper(&format!("only/in/{}", number - 1)));
        }
        write(&world.agent("memory"), format!("memory {number}"));
        taken.push((number, space.snapshot(number).unwrap(), world.seen()));
    }
    assert_eq!(space.snapshots().unwrap(), [0, 1, 2, 3]);
    for position in [2, 0, 3, 3, 1, 0, 2] {
        let (number, record, then) = &taken[position];
        space.restore(*number, record).unwrap();
        assert_eq!(world.seen(), *then, "{number}");
        assert_eq!(world.open().record(*number).unwrap(), *record);
    }
}

#[test]
fn only_what_differs_is_touched() {
    let world = world();
    let space = world.create();
    for number in 0..50 {
        write(&world.upper(&format!("dir/{number}")), format!("file {number}"));
    }
    let record = space.snapshot(1).unwrap();
    let inode = |number: u32| fs::metadata(world.upper(&format!("dir/{number}"))).unwrap().ino();
    let before: Vec<u64> = (0..50).map(inode).collect();
    write(&world.upper("dir/7"), "other");
    assert_eq!(space.restore(1, &record).unwrap().paths, 1);
    let untouched = (0..50).filter(|number| inode(*number) == before[*number as usize]).count();
    assert_eq!(untouched, 49);
    assert_eq!(space.restore(1, &record).unwrap().paths, 0, "nothing to do");
}

#[test]
fn a_change_that_hides_its_time_is_found() {
    let world = world();
    let space = world.create();
    write(&world.upper("file"), "before");
    let (then, record) = (world.seen(), space.snapshot(1).unwrap());
    let modified = fs::metadata(world.upper("file")).unwrap().modified().unwrap();
    fs::write(world.upper("file"), "behind").unwrap();
    let file = File::options().write(true).open(world.upper("file")).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    assert_eq!(space.preview(1).unwrap().workspace.changed, 1);
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
}

#[test]
fn a_change_right_after_a_snapshot_is_found_however_quick_it_was() {
    let world = world();
    let space = world.create();
    for round in 1..=30 {
        write(&world.upper("file"), "before");
        let record = space.snapshot(round).unwrap();
        write(&world.upper("file"), "behind");
        assert_ne!(space.state().unwrap(), record.state(), "round {round}");
    }
}

#[test]
fn files_of_people_are_never_touched() {
    let world = world().with("notes/untracked", "people's own");
    let space = world.create();
    write(&world.upper("text"), "by the run");
    let record = space.snapshot(1).unwrap();
    whiteout(&world.upper("kept"));
    opaque(&world.upper("notes"));
    write(&world.base("text"), "changed by a person meanwhile");
    write(&world.base("new"), "by a person");
    let base = seen(&world.path("base"));
    space.restore(1, &record).unwrap();
    assert_eq!(seen(&world.path("base")), base);
    assert!(!world.upper("kept").exists() && !world.upper("notes").exists(), "both show again");
}

#[test]
fn pipes_and_sockets_are_named_not_read_and_gone_after_a_rollback() {
    let world = world();
    let space = world.create();
    pipe(&world.upper("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(world.agent("socket")).unwrap();
    write(&world.upper("file"), "x");
    let record = space.snapshot(1).unwrap();
    let named: Vec<_> = record.refused_paths.iter().map(|refused| refused.path.to_string()).collect();
    assert_eq!((record.refused, named), (2, vec!["pipe".to_owned(), "socket".to_owned()]));
    assert_eq!(space.preview(1).unwrap().workspace.removed, 1);
    space.restore(1, &record).unwrap();
    assert!(!world.upper("pipe").exists() && !world.agent("socket").exists());
    assert!(world.upper("file").exists());
}

#[test]
fn names_of_any_bytes_and_of_any_length_come_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = world();
    let space = world.create();
    let odd: [&[u8]; 7] = [b"new\nline", b"\xff\xfe", b"-rf", b" ", b"%41", b"`x`", &[b'n'; 255]];
    for name in odd {
        write(&world.upper("odd").join(OsStr::from_bytes(name)), name);
    }
    let mut deep = world.upper("deep");
    for _ in 0..12 {
        deep = deep.join("d".repeat(255));
    }
    write(&deep.join("bottom"), "x");
    let (then, record) = (world.seen(), space.snapshot(1).unwrap());
    remove(&world.upper("odd"));
    remove(&world.upper("deep"));
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
}

#[test]
fn a_path_of_the_greatest_length_comes_back() {
    use crate::dir::Dir;
    let world = world();
    let space = world.create();
    let mut dir = Dir::open(&world.path("space/upper")).unwrap();
    // Fifteen names of 255 bytes and one of 254 with fifteen slashes between: 4,094 bytes.
    for _ in 0..15 {
        dir = dir.make(&[b'd'; 255]).unwrap();
    }
    drop(dir.create(&[b'f'; 254]).unwrap());
    let record = space.snapshot(1).unwrap();
    dir.unlink(&[b'f'; 254]).unwrap();
    space.restore(1, &record).unwrap();
    assert!(dir.stat(&[b'f'; 254]).is_ok());
    drop(dir.make(&[b'x'; 255]).unwrap().create(b"beyond").unwrap());
    let error = space.snapshot(2).unwrap_err();
    assert!(error.to_string().contains("no path inside a tree"), "{error}");
}

#[test]
fn a_snapshot_is_never_overwritten_and_one_that_is_not_there_is_said() {
    let world = world();
    let space = world.create();
    let record = space.snapshot(1).unwrap();
    assert!(matches!(space.snapshot(1), Err(SpaceError::SnapshotExists(1))));
    assert!(matches!(space.restore(2, &record), Err(SpaceError::NoSnapshot(2))));
    assert!(matches!(space.preview(2), Err(SpaceError::NoSnapshot(2))));
    assert!(matches!(space.forget(2), Err(SpaceError::NoSnapshot(2))));
}

#[test]
fn nothing_is_done_while_a_cage_works() {
    use crate::LayerError;
    let world = world();
    let space = world.create();
    let record = space.snapshot(1).unwrap();
    let cage = crate::dir::Dir::open(&world.path("space/work")).unwrap();
    crate::layer::hold(&cage, &world.path("space/work")).unwrap();
    assert!(matches!(space.snapshot(2), Err(SpaceError::Layer(LayerError::Busy(_)))));
    assert!(matches!(space.restore(1, &record), Err(SpaceError::Layer(LayerError::Busy(_)))));
    assert!(matches!(world.try_open(), Err(SpaceError::Layer(LayerError::Busy(_)))));
    assert!(space.usage().is_ok(), "measuring needs no rest");
}
