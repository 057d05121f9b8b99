//! A program closes directories to itself: that keeps nobody from saving what is in them or from going back.

use std::fs;
use std::path::Path;

use super::world::*;
use crate::space::Space;

fn world() -> (World, Space) {
    let world = World::new();
    let space = world.create();
    (world, space)
}

/// Takes a snapshot of one state, goes to another, and comes back.
fn there_and_back(before: impl FnOnce(&World), after: impl FnOnce(&World)) {
    let (world, space) = world();
    before(&world);
    let (record, then) = (space.snapshot(1).unwrap(), world.seen());
    assert_eq!(space.state().unwrap(), record.state());
    after(&world);
    space.preview(1).unwrap();
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    assert_eq!(world.open().state().unwrap(), record.state());
}

#[test]
fn the_root_can_be_closed_to_writing_after_a_change() {
    there_and_back(
        |world| write(&world.upper("file"), "then"),
        |world| {
            write(&world.upper("file"), "now");
            mode(&world.upper(""), 0o555);
        },
    );
}

#[test]
fn the_roots_can_be_closed_to_everybody_before_and_after() {
    for (then, now) in [(0o755, 0o000), (0o000, 0o755), (0o000, 0o000), (0o311, 0o000)] {
        let set = |world: &World, bits: u32| {
            mode(&world.upper(""), bits);
            mode(&world.agent(""), bits);
        };
        let fill = |world: &World, text: &str| {
            set(world, 0o700);
            write(&world.upper("dir/file"), text);
            write(&world.agent("memory"), text);
        };
        there_and_back(
            |world| {
                fill(world, "then");
                set(world, then);
            },
            |world| {
                fill(world, "now");
                set(world, now);
            },
        );
    }
}

#[test]
fn a_directory_in_a_closed_one_gets_its_time_back() {
    there_and_back(
        |world| {
            fs::create_dir_all(world.upper("d/e")).unwrap();
            mode(&world.upper("d"), 0o000);
        },
        |world| {
            mode(&world.upper("d"), 0o700);
            write(&world.upper("d/e/x"), "");
            remove(&world.upper("d/e/x"));
            mode(&world.upper("d"), 0o000);
        },
    );
}

fn twins(world: &World) {
    write(&world.upper("closed/inner/f"), "one file");
    fs::hard_link(world.upper("closed/inner/f"), world.upper("open")).unwrap();
    fs::hard_link(world.upper("closed/inner/f"), world.upper("closed/z")).unwrap();
    close(&world.upper("closed"));
}

fn close(directory: &Path) {
    mode(&directory.join("inner"), 0o000);
    mode(directory, 0o000);
}

fn open(directory: &Path) {
    mode(directory, 0o700);
    mode(&directory.join("inner"), 0o700);
}

#[test]
fn names_of_a_file_in_a_closed_directory_come_back_with_it() {
    there_and_back(twins, |world| {
        open(&world.upper("closed"));
        remove(&world.upper("closed"));
        remove(&world.upper("open"));
    });
}

#[test]
fn a_name_of_a_file_that_stayed_in_a_closed_directory_comes_back() {
    there_and_back(twins, |world| remove(&world.upper("open")));
}

#[test]
fn what_is_closed_counts_like_everything_else() {
    let (world, space) = world();
    write(&world.upper("dir/inner/file"), [7; 100_000]);
    let before = space.usage().unwrap();
    close(&world.upper("dir"));
    mode(&world.upper(""), 0o000);
    assert_eq!(space.usage().unwrap(), before);
    let is_closed = |name: &str| fs::symlink_metadata(world.upper(name)).is_err();
    assert!(rustix::process::geteuid().is_root() || is_closed("dir"), "and stays closed");
}

#[test]
fn a_space_whose_rollback_cannot_be_finished_can_be_destroyed() {
    let (world, space) = world();
    write(&world.path("space/restore/journal"), "{}");
    write(&world.path("space/restore/held"), "no directory");
    drop(space);
    Space::destroy_at(&world.path("space")).unwrap();
    assert!(!world.path("space").exists());
}

#[test]
fn a_space_in_use_is_not_destroyed_by_its_path() {
    use crate::LayerError;
    use crate::space::SpaceError;
    let (world, _space) = world();
    let cage = crate::dir::Dir::open(&world.path("space/work")).unwrap();
    crate::layer::hold(&cage, &world.path("space/work")).unwrap();
    let refused = Space::destroy_at(&world.path("space"));
    assert!(matches!(refused, Err(SpaceError::Layer(LayerError::Busy(_)))), "{refused:?}");
    assert!(world.path("space/space.json").exists());
}
