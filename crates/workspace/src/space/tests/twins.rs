//! Files with several names, wherever the names lie: after a rollback they are one file again, with the content it had.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::world::*;
use crate::space::{SnapshotRecord, Space};

/// One file, named in a directory and by names that sort before what is in it by their bytes, and after it in a walk.
fn world() -> (World, Space, SnapshotRecord, [Seen; 3]) {
    let world = World::new();
    let space = world.create();
    write(&world.upper("a/f"), "good");
    for name in ["a-b", "a.b"] {
        fs::hard_link(world.upper("a/f"), world.upper(name)).unwrap();
    }
    let (record, then) = (space.snapshot(1).unwrap(), world.seen());
    (world, space, record, then)
}

fn are_one_file(world: &World) -> bool {
    let inode = |name: &str| fs::metadata(world.upper(name)).unwrap().ino();
    inode("a/f") == inode("a-b") && inode("a/f") == inode("a.b")
}

#[test]
fn what_was_written_through_one_name_is_gone_from_all() {
    let (world, space, record, then) = world();
    write(&world.upper("a-b"), "evil");
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    assert!(are_one_file(&world));
}

#[test]
fn a_name_that_was_removed_is_a_name_of_the_same_file_again() {
    for gone in [&["a/f"][..], &["a-b"], &["a"], &["a", "a-b"], &["a-b", "a.b"], &["a", "a-b", "a.b"]] {
        let (world, space, record, then) = world();
        gone.iter().for_each(|name| remove(&world.upper(name)));
        space.restore(1, &record).unwrap();
        assert_eq!(world.seen(), then, "{gone:?}");
        assert!(are_one_file(&world), "{gone:?}");
    }
}

#[test]
fn a_list_with_another_name_of_a_file_that_does_not_come_before_it_is_no_list() {
    use crate::space::tree::Tree;
    let (world, ..) = world();
    let text = fs::read_to_string(world.path("space/snapshots/1/upper.jsonl")).unwrap();
    assert!(Tree::from_lines(text.as_bytes()).is_ok());
    for first in ["a-b", "a.b", "a", "nothing", "z"] {
        let other = text.replacen("{\"twin\":\"a/f\"}", &format!("{{\"twin\":\"{first}\"}}"), 1);
        assert_ne!(other, text);
        assert!(Tree::from_lines(other.as_bytes()).is_err(), "{first}");
    }
}
