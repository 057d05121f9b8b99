//! The process ends at every point there is: afterwards everything is as it was, or as it was to be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::world::*;
use crate::space::restore::{Point, restore};
use crate::space::{Recovery, SnapshotRecord, Space, SpaceError};

/// A space that has left its snapshot in several places.
fn world() -> (World, SnapshotRecord, [Seen; 3]) {
    let world = World::new().with("base", "x");
    let space = world.create();
    for name in ["text", "dir/one", "dir/two", "other/deep/file"] {
        write(&world.upper(name), name);
    }
    write(&world.agent("memory"), "then");
    let (record, then) = (space.snapshot(1).unwrap(), world.seen());
    write(&world.upper("text"), "now");
    remove(&world.upper("dir/one"));
    write(&world.upper("dir/three"), "now");
    remove(&world.upper("other"));
    write(&world.upper("other"), "a file now");
    mode(&world.upper("dir"), 0o711);
    write(&world.agent("memory"), "now");
    write(&world.agent("more"), "now");
    (world, record, then)
}

/// Ends a rollback at a point, the way a crash would: nothing is cleaned up but descriptors and locks.
fn crash_at(space: &Space, record: &SnapshotRecord, reached: usize) -> Option<Point> {
    let (mut count, mut last) = (0, None);
    let mut watch = |point: Point| {
        if count == reached {
            last = Some(point);
            std::panic::resume_unwind(Box::new("crash"));
        }
        count += 1;
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| restore(space, 1, record, &mut watch)));
    assert_eq!(outcome.is_err(), last.is_some());
    last
}

#[test]
fn a_rollback_that_ends_anywhere_is_undone_or_finished_when_the_space_is_opened() {
    for reached in 0.. {
        let (world, record, then) = world();
        let before = world.seen();
        let Some(point) = crash_at(&world.open(), &record, reached) else {
            assert!(reached >= 9, "every step was a point: {reached}");
            break;
        };
        let space = world.open();
        let (expected, state) = match point {
            Point::Prepared => (Recovery::Undone, &before),
            Point::Journaled | Point::Stepped(_) | Point::Touched => (Recovery::Finished, &then),
            Point::CleanedUp => (Recovery::Nothing, &then),
        };
        assert_eq!((space.recovered(), &world.seen()), (expected, state), "{point:?}");
        assert_eq!(world.open().recovered(), Recovery::Nothing, "{point:?}");
        space.restore(1, &record).unwrap();
        assert_eq!(world.seen(), then, "{point:?}");
    }
}

#[test]
fn a_rollback_that_failed_in_the_middle_is_finished_before_anything_else_is_done() {
    let (world, record, then) = world();
    let space = world.open();
    crash_at(&space, &record, 4).unwrap();
    let next = space.snapshot(2).unwrap();
    assert_eq!((next.state(), world.seen()), (record.state(), then), "never half of one and half of another");
}

#[test]
fn a_snapshot_that_was_not_finished_is_gone_with_what_it_kept() {
    let (world, record, _) = world();
    write(&world.path("space/snapshots/.new/upper.jsonl"), "half of a list");
    write(&world.path("space/objects/.incoming"), "half of a file");
    write(&world.path("space/objects/00/orphan"), "of nobody");
    write(&world.path("space/scratch/again"), "x");
    let before = world.seen();
    let space = world.open();
    assert_eq!(space.recovered(), Recovery::Undone);
    assert_eq!((world.seen(), space.snapshots().unwrap()), (before, vec![1]));
    for left in ["snapshots/.new", "objects/.incoming", "objects/00/orphan", "scratch"] {
        assert!(!world.path("space").join(left).exists(), "{left}");
    }
    space.restore(1, &record).unwrap();
}

#[test]
fn a_journal_of_another_run_of_the_machine_says_nothing() {
    let (world, record, then) = world();
    crash_at(&world.open(), &record, 1).unwrap();
    let journal = world.path("space/restore/journal");
    let boot = crate::space::index::boot();
    let text = std::fs::read_to_string(&journal).unwrap();
    write(&journal, text.replace(&boot, "another"));
    write(&world.path("space/boot"), "another");
    let space = world.open();
    assert_eq!(space.recovered(), Recovery::MachineRestarted);
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
}

#[test]
fn a_rollback_that_was_disturbed_is_never_taken_for_finished_and_another_one_mends_it() {
    for reached in 1..=6 {
        let (world, record, then) = world();
        crash_at(&world.open(), &record, reached).unwrap();
        write(&world.upper("dir/by-somebody"), "meanwhile");
        for _ in 0..2 {
            let space = world.open();
            assert_eq!(space.recovered(), Recovery::Disturbed, "{reached}");
            assert!(matches!(space.snapshot(2), Err(SpaceError::Unfinished)), "{reached}");
            assert!(matches!(space.state(), Err(SpaceError::Unfinished)), "{reached}");
        }
        // Ended again before anything was written down.
        crash_at(&world.open(), &record, 0).unwrap();
        let space = world.open();
        assert_eq!(space.recovered(), Recovery::Disturbed, "{reached}");
        space.restore(1, &record).unwrap();
        assert_eq!((world.open().recovered(), world.seen()), (Recovery::Nothing, then), "{reached}");
    }
}

#[test]
fn a_rollback_to_a_snapshot_that_is_damaged_meanwhile_keeps_nobody_from_another_one() {
    let (world, record, _) = world();
    let space = world.open();
    let (other, now) = (space.snapshot(2).unwrap(), world.seen());
    crash_at(&space, &record, 3).unwrap();
    remove(&world.path("space/snapshots/1/upper.jsonl"));
    let space = world.open();
    assert_eq!(space.recovered(), Recovery::Disturbed);
    space.restore(2, &other).unwrap();
    assert_eq!((world.open().recovered(), world.seen()), (Recovery::Nothing, now));
}

#[test]
fn what_a_run_changed_is_told_only_after_an_interrupted_rollback_is_finished() {
    let (world, record, then) = world();
    let space = world.open();
    crash_at(&space, &record, 3).unwrap();
    let changes = space.changes().unwrap();
    assert_eq!(world.seen(), then);
    assert_eq!(space.layered().unwrap().preview(&space.baseline().unwrap()).unwrap().digest(), changes.digest());
}
