//! The beginning and the end of a space.

use std::fs;
use std::os::unix::fs::symlink;

use super::world::*;
use crate::dir::Dir;
use crate::space::{Recovery, Space, SpaceError};

#[test]
fn a_new_space_is_empty_and_private() {
    let world = World::new().with("text", "x");
    let space = world.create();
    let empty = |dir: &std::path::Path| fs::read_dir(dir).unwrap().next().is_none();
    assert!(empty(&space.upper()) && empty(&space.work()) && empty(&space.agent()));
    assert_eq!(space.base(), world.path("base"));
    assert_eq!(space.recovered(), Recovery::Nothing);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(space.path()).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn without_a_folder_of_the_host_the_base_is_an_empty_one_of_its_own() {
    let world = World::new();
    let space = Space::create(&world.path("space"), None).unwrap();
    assert_eq!(space.base(), world.path("space/base"));
    write(&world.upper("file"), "x");
    let record = space.snapshot(1).unwrap();
    remove(&world.upper("file"));
    space.restore(1, &record).unwrap();
    assert_eq!(space.preview(1).unwrap(), crate::space::RollbackPreview::default());
    assert_eq!(space.changes().unwrap().len(), 1);
}

#[test]
fn a_space_is_not_made_where_something_is_and_not_opened_where_none_is() {
    let world = World::new();
    let space = world.create();
    let again = Space::create(&world.path("space"), Some(&world.path("base")));
    assert!(matches!(again, Err(SpaceError::Exists(_))));
    drop(space);
    world.open();
    let names = fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<std::collections::BTreeSet<_>>(), ["base", "space"].map(Into::into).into());
    assert!(matches!(Space::open(&world.path("nothing")), Err(SpaceError::NoSpace { .. })));
    assert!(matches!(Space::open(&world.path("base")), Err(SpaceError::NoSpace { .. })));
}

#[test]
fn what_an_interrupted_making_left_counts_for_nothing() {
    let world = World::new();
    fs::create_dir_all(world.path(".placet-space-space/upper/deep")).unwrap();
    world.create();
    assert!(!world.path(".placet-space-space").exists());
}

#[test]
fn destroying_leaves_nothing_however_it_was_left() {
    let world = World::new().with("text", "people's");
    let space = world.create();
    write(&world.upper("dir/file"), "12345");
    fs::hard_link(world.upper("dir/file"), world.upper("twin")).unwrap();
    whiteout(&world.upper("text"));
    space.snapshot(1).unwrap();
    let mut deepest = Dir::open(&world.path("space/upper")).unwrap();
    for _ in 0..2000 {
        deepest = deepest.make(b"directory").unwrap();
    }
    symlink(world.path("base"), world.upper("to-the-base")).unwrap();
    write(&world.agent("closed/inner"), "x");
    mode(&world.agent("closed"), 0o000);
    mode(&world.path("space/upper"), 0o000);
    let gone = space.destroy().unwrap();
    assert!(gone.removed_files > 8 && gone.removed_bytes > 100, "{gone:?}");
    let names: Vec<_> = fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["base"]);
    assert_eq!(fs::read_to_string(world.base("text")).unwrap(), "people's");
}

#[test]
fn half_destroyed_is_no_space_and_can_be_destroyed_again() {
    let world = World::new();
    drop(world.create());
    fs::remove_file(world.path("space/space.json")).unwrap();
    assert!(matches!(world.try_open(), Err(SpaceError::NoSpace { .. })));
    Space::destroy_at(&world.path("space")).unwrap();
    assert!(!world.path("space").exists());
    let nothing = Space::destroy_at(&world.path("space")).unwrap();
    assert_eq!(nothing.removed_files, 0);
}
