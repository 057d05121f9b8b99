//! A run leaves more than is ever looked at: that spoils no way back, and costs no more memory than was agreed on.

use std::fs::File;

use super::world::*;
use crate::LayerError;
use crate::dir::Dir;
use crate::limits::Limits;
use crate::space::{Space, SpaceError};

fn world() -> (World, Space) {
    let world = World::new().with("text", "of the base");
    let space = world.create();
    write(&world.upper("dir/file"), "then");
    std::fs::hard_link(world.upper("dir/file"), world.upper("dir-twin")).unwrap();
    opaque(&world.upper("opaque"));
    whiteout(&world.upper("text"));
    mode(&world.upper(""), 0o751);
    write(&world.agent("memory"), "then");
    (world, space)
}

fn sparse(root: &std::path::Path) {
    File::create(root.join("sparse")).unwrap().set_len(9 << 30).unwrap();
}

fn deep(root: &std::path::Path, name: &[u8], levels: usize) {
    let mut dir = Dir::open(root).unwrap();
    for _ in 0..levels {
        dir = dir.make(name).unwrap();
    }
}

#[test]
fn no_run_spoils_the_way_back_by_leaving_more_than_is_looked_at() {
    type Leave = fn(&std::path::Path);
    let left: [(&str, Leave); 4] = [
        ("more bytes than are read", sparse),
        ("directories deeper than is looked", |root| deep(root, b"d", 257)),
        ("directories deeper than there are descriptors", |root| deep(root, b"d", 2000)),
        ("a path longer than any", |root| deep(root, &[b'd'; 255], 17)),
    ];
    for (what, leave) in left {
        for tree in ["space/upper", "space/agent"] {
            let (world, space) = world();
            let (record, then) = (space.snapshot(1).unwrap(), world.seen());
            write(&world.upper("dir/file"), "now");
            leave(&world.path(tree));
            let told = space.preview(1).unwrap();
            let is_vast = [told.workspace.beyond_limits, told.memory.beyond_limits];
            assert_eq!(is_vast, [tree == "space/upper", tree == "space/agent"], "{what}");
            space.restore(1, &record).unwrap();
            assert_eq!(world.seen(), then, "{what} in {tree}");
            assert_eq!(space.state().unwrap(), record.state(), "{what} in {tree}");
            assert!(!space.preview(1).unwrap().workspace.beyond_limits);
        }
    }
}

#[test]
fn names_targets_and_attributes_are_bounded_too() {
    let limits = Limits { described_bytes: 2_000, ..Limits::default() };
    type Leave = fn(&World);
    let left: [(&str, Leave); 3] = [
        ("names", |world| (0..20).for_each(|number| write(&world.upper(&format!("{number:0200}")), ""))),
        ("targets", |world| std::os::unix::fs::symlink("x".repeat(2_001), world.upper("link")).unwrap()),
        ("attributes", |world| {
            write(&world.upper("file"), "");
            (0..3).for_each(|number| attribute(&world.upper("file"), &format!("user.{number}"), &[7; 700]));
        }),
    ];
    for (what, leave) in left {
        let (world, space) = world();
        let space = space.limits(limits);
        space.snapshot(1).unwrap();
        leave(&world);
        let refused = space.snapshot(2);
        let is_too_large = |error: &SpaceError| matches!(error, SpaceError::Layer(LayerError::TooLarge { .. }));
        assert!(refused.as_ref().is_err_and(is_too_large), "{what}: {refused:?}");
        space.restore(1, &space.record(1).unwrap()).unwrap();
    }
}
