//! Files that are laid into trees which hostile programs have arranged.

use std::fs;
use std::os::unix::fs::symlink;

use super::world::*;
use crate::path::TreePath;
use crate::space::SpaceError;

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

#[test]
fn a_file_is_laid_down_and_replaces_what_had_its_name() {
    let world = World::new();
    let space = world.create();
    space.place(&path("deep/er/a.txt"), b"one").unwrap();
    space.place(&path("deep/er/a.txt"), b"two").unwrap();
    whiteout(&world.upper("gone"));
    space.place(&path("gone"), b"back").unwrap();
    space.place_in_memory(&path("env.json"), b"{}").unwrap();
    let read = |path| fs::read_to_string(path).unwrap();
    assert_eq!((read(world.upper("deep/er/a.txt")), read(world.upper("gone"))), ("two".to_owned(), "back".to_owned()));
    assert_eq!(read(world.agent("env.json")), "{}");
}

#[test]
fn no_link_is_followed_and_nothing_outside_is_touched() {
    let (world, outside) = (World::new(), tempfile::tempdir().unwrap());
    let space = world.create();
    fs::write(outside.path().join("victim"), "untouched").unwrap();
    symlink(outside.path(), world.upper("dir")).unwrap();
    symlink(outside.path().join("victim"), world.upper("file")).unwrap();
    symlink(outside.path().join("victim"), world.agent("env.json")).unwrap();
    symlink(outside.path().join("victim"), world.upper("other.new")).unwrap();
    assert!(matches!(space.place(&path("dir/victim"), b"x"), Err(SpaceError::InTheWay(_))));
    space.place(&path("file"), b"instead of the link").unwrap();
    space.place(&path("other"), b"whatever its draft was called").unwrap();
    space.place_in_memory(&path("env.json"), b"{}").unwrap();
    assert_eq!(fs::read_to_string(outside.path().join("victim")).unwrap(), "untouched");
    assert!(world.upper("file").symlink_metadata().unwrap().is_file());
    fs::create_dir(world.upper("taken")).unwrap();
    fs::write(world.upper("plain"), "").unwrap();
    for (name, why) in [("taken", "a directory"), ("plain/below", "a file above it")] {
        assert!(matches!(space.place(&path(name), b"x"), Err(SpaceError::InTheWay(_))), "{why}");
    }
}
