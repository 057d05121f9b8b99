//! What leaves a space, and how much is in it.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};

use super::world::*;
use crate::digest::Digest;
use crate::space::{Output, Space, SpaceError};

fn world() -> (World, Space) {
    let world = World::new().with("text", "of the base");
    let space = world.create();
    (world, space)
}

fn read(space: &Space, output: &Output) -> Result<Vec<u8>, SpaceError> {
    let mut bytes = Vec::new();
    space.read_output(output, &mut bytes).map(|()| bytes)
}

#[test]
fn outputs_are_the_plain_files_a_run_made_and_nothing_else() {
    let (world, space) = world();
    write(&world.upper("report/final.md"), "# Report");
    write(&world.upper("report/.cache"), "x");
    write(&world.upper("text"), "changed");
    fs::hard_link(world.upper("text"), world.upper("twin")).unwrap();
    symlink("/etc/passwd", world.upper("report/passwd.md")).unwrap();
    whiteout(&world.upper("gone.md"));
    pipe(&world.upper("pipe.md"));
    write(&world.agent("memory.md"), "not an output");
    let paths = |outputs: &[Output]| outputs.iter().map(|output| output.path.to_string()).collect::<Vec<_>>();
    let markdown = space.outputs(|path| path.as_bytes().ends_with(b".md")).unwrap();
    assert_eq!(paths(&markdown), ["report/final.md"]);
    assert_eq!((markdown[0].size_bytes, markdown[0].digest), (8, Digest::of(b"# Report")));
    assert_eq!(read(&space, &markdown[0]).unwrap(), b"# Report");
    let all = space.outputs(|_| true).unwrap();
    assert_eq!(paths(&all), ["report/.cache", "report/final.md", "text", "twin"]);
}

#[test]
fn an_output_that_became_something_else_is_not_handed_on() {
    type Swap = fn(&World);
    let swaps: [(&str, Swap); 5] = [
        ("other content", |world| write(&world.upper("dir/file"), "other")),
        ("longer", |world| write(&world.upper("dir/file"), "contents and more")),
        ("gone", |world| remove(&world.upper("dir/file"))),
        ("a link", |world| {
            remove(&world.upper("dir/file"));
            symlink("/etc/passwd", world.upper("dir/file")).unwrap();
        }),
        ("behind a link", |world| {
            fs::rename(world.upper("dir"), world.upper("moved")).unwrap();
            symlink(world.upper("moved"), world.upper("dir")).unwrap();
        }),
    ];
    for (what, swap) in swaps {
        let (world, space) = world();
        write(&world.upper("dir/file"), "content");
        let listed = space.outputs(|_| true).unwrap();
        swap(&world);
        assert!(matches!(read(&space, &listed[0]), Err(SpaceError::OutputChanged(_))), "{what}");
    }
}

#[test]
fn usage_counts_what_is_on_disk_once() {
    let (world, space) = world();
    assert_eq!(space.usage().unwrap().bytes(), 0);
    write(&world.upper("file"), vec![1; 1 << 20]);
    fs::hard_link(world.upper("file"), world.upper("twin")).unwrap();
    File::create(world.upper("sparse")).unwrap().write_at(b"x", 1 << 30).unwrap();
    write(&world.agent("memory"), vec![1; 1 << 16]);
    let usage = space.usage().unwrap();
    assert!((1 << 20..1 << 21).contains(&usage.workspace_bytes), "{usage:?}");
    assert!((1 << 16..1 << 17).contains(&usage.memory_bytes), "{usage:?}");
    assert_eq!(usage.entries, 4);
}

#[test]
fn more_than_the_limits_is_said_and_not_read() {
    use crate::{LayerError, Limits};
    let (world, space) = world();
    File::create(world.upper("sparse")).unwrap().set_len(1 << 40).unwrap();
    let small = space.limits(Limits { entries: 5, ..Limits::default() });
    let too_large = |error| matches!(error, Err(SpaceError::Layer(LayerError::TooLarge { .. })));
    assert!(too_large(small.snapshot(1).map(drop)), "a terabyte of nothing is still a terabyte to read");
    remove(&world.upper("sparse"));
    for number in 0..6 {
        write(&world.upper(&number.to_string()), "");
    }
    assert!(too_large(small.snapshot(1).map(drop)) && too_large(small.usage().map(drop)));
    assert!(small.snapshots().unwrap().is_empty());
}
