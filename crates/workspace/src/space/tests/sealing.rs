//! With a key, what is saved is not readable without it, comes back as it was, and every change of it is noticed.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use placet_seal::Key;

use super::world::*;
use crate::space::{Space, SpaceError};

fn key(byte: u8) -> Option<Arc<Key>> {
    Some(Arc::new(Key::new([byte; 32])))
}

fn objects(world: &World) -> Vec<PathBuf> {
    let list = |dir: PathBuf| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    list(world.path("space/objects")).flat_map(list).collect()
}

/// Whether this text is anywhere in what is kept of the snapshots.
fn is_readable(world: &World, text: &str) -> bool {
    objects(world)
        .iter()
        .any(|path| fs::read(path).unwrap().windows(text.len()).any(|window| window == text.as_bytes()))
}

/// A workspace and a memory with something to hide, in one snapshot, and both overwritten since.
fn saved(sealing: Option<Arc<Key>>) -> (World, Space, crate::space::SnapshotRecord, [Seen; 3]) {
    let world = World::new().with("text", "of the base");
    let space = world.create().sealed_with(sealing);
    write(&world.upper("plan"), "the password is swordfish");
    write(&world.upper("large"), "swordfish and chips ".repeat(20_000));
    write(&world.upper("empty"), "");
    write(&world.agent("memory"), "remember: swordfish");
    let (record, then) = (space.snapshot(1).unwrap(), world.seen());
    for name in ["plan", "large", "empty"] {
        write(&world.upper(name), "something else");
    }
    write(&world.agent("memory"), "nothing");
    (world, space, record, then)
}

#[test]
fn c3_saved_files_and_memory_are_encrypted_with_a_key_and_come_back_as_they_were() {
    let (plain, ..) = saved(None);
    assert!(is_readable(&plain, "swordfish"), "without a key they are not");
    let (world, space, record, then) = saved(key(1));
    assert!(!is_readable(&world, "swordfish"));
    assert!(objects(&world).iter().all(|path| path.extension().is_some_and(|extension| extension == "sealed")));
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    assert_eq!(space.state().unwrap(), record.state());
}

#[test]
fn c3_without_the_key_or_with_another_nothing_is_changed_and_it_says_what_is_missing() {
    let (world, space, record, then) = saved(key(1));
    drop(space);
    let now = world.seen();
    for wrong in [None, key(2)] {
        let error = world.open().sealed_with(wrong).restore(1, &record).unwrap_err();
        assert!(matches!(error, SpaceError::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains("start the worker with the key"), "{error}");
        assert_eq!(world.seen(), now);
    }
    world.open().sealed_with(key(1)).restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
}

#[test]
fn c3_a_changed_or_exchanged_object_is_noticed_and_nothing_is_changed() {
    let (world, space, record, then) = saved(key(1));
    let now = world.seen();
    let files = objects(&world);
    for (victim, other) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        let whole = fs::read(&files[victim]).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        for bytes in [changed, fs::read(&files[other]).unwrap(), whole[..whole.len() - 1].to_vec(), Vec::new()] {
            mode(&files[victim], 0o600);
            fs::write(&files[victim], bytes).unwrap();
            let error = space.restore(1, &record).unwrap_err();
            assert!(matches!(error, SpaceError::Damaged { number: 1, .. }), "{error:?}");
            assert_eq!(world.seen(), now);
        }
        fs::write(&files[victim], whole).unwrap();
    }
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
}

#[test]
fn c3_what_was_saved_before_there_was_a_key_is_read_and_is_encrypted_when_it_is_saved_again() {
    let (world, space, record, then) = saved(None);
    drop(space);
    let space = world.open().sealed_with(key(1));
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    // Taken away and put back, it is read and kept anew.
    fs::remove_file(world.upper("plan")).unwrap();
    space.snapshot(2).unwrap();
    write(&world.upper("plan"), "the password is swordfish");
    space.snapshot(3).unwrap();
    assert!(!is_readable(&world, "the password is"));
    space.forget(1).unwrap();
    space.forget(2).unwrap();
    let record = space.record(3).unwrap();
    write(&world.upper("plan"), "x");
    space.restore(3, &record).unwrap();
    assert_eq!(fs::read(world.upper("plan")).unwrap(), b"the password is swordfish");
}

#[test]
fn c3_after_its_key_was_changed_or_taken_away_what_is_saved_can_be_gone_back_to_without_the_old_one() {
    let (world, space, ..) = saved(key(1));
    // The same content as in the first snapshot, in the same file and in another one.
    write(&world.upper("copy"), "the password is swordfish");
    space.snapshot(2).unwrap();
    drop(space);
    for (number, other) in [(3, key(2)), (4, None)] {
        let space = world.open().sealed_with(other);
        let (record, then) = (space.snapshot(number).unwrap(), world.seen());
        for path in [world.upper("copy"), world.upper("plan"), world.agent("memory")] {
            write(&path, "later");
        }
        space.restore(number, &record).unwrap();
        assert_eq!(world.seen(), then);
    }
}
