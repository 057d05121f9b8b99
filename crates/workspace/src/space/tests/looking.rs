//! What a preview says before anything happens.

use std::fs;
use std::os::unix::fs::symlink;

use super::world::*;
use crate::layer::Conflict;
use crate::space::{Effect, PartPreview, SpaceError, What};

fn lines(part: &PartPreview) -> Vec<String> {
    part.listed.iter().map(|line| format!("{:?} {}", line.effect, line.path)).collect()
}

#[test]
fn each_path_is_told_as_a_person_sees_it() {
    let world = World::new();
    let world = ["text", "gone", "tree/old", "back", "hidden"].iter().fold(world, |world, name| world.with(name, name));
    let space = world.create();
    write(&world.upper("text"), "first");
    write(&world.upper("made"), "first");
    write(&world.upper("tool"), "first");
    symlink("a", world.upper("link")).unwrap();
    whiteout(&world.upper("hidden"));
    write(&world.agent("memory"), "first");
    space.snapshot(1).unwrap();
    let before = world.seen();

    remove(&world.upper("text"));
    remove(&world.upper("made"));
    remove(&world.upper("link"));
    remove(&world.upper("hidden"));
    symlink("b", world.upper("link")).unwrap();
    mode(&world.upper("tool"), 0o700);
    whiteout(&world.upper("gone"));
    opaque(&world.upper("tree"));
    write(&world.upper("tree/new"), "x");
    write(&world.upper("back"), "x");
    write(&world.upper("added/file"), "four");
    write(&world.agent("memory"), "second");
    write(&world.base("gone"), "changed by a person");
    write(&world.base("appeared"), "by a person");
    fs::remove_file(world.base("back")).unwrap();

    let preview = space.preview(1).unwrap();
    let expected = [
        "Removed added",
        "Removed added/file",
        "Removed back",
        "Created gone",
        "Removed hidden",
        "Changed link",
        "Created made",
        "Changed text",
        "ModeChanged tool",
        "Changed tree",
        "Removed tree/new",
    ];
    assert_eq!(lines(&preview.workspace), expected);
    assert_eq!(lines(&preview.memory), ["Changed memory"]);
    let drift = [("appeared", Conflict::Appeared), ("back", Conflict::Vanished), ("gone", Conflict::Drifted)];
    assert_eq!(preview.drift, drift.map(|(path, why)| (at(path), why)));
    let part = &preview.workspace;
    assert_eq!((part.created, part.changed, part.removed, part.mode_changed), (2, 3, 5, 1));
    let file = part.listed.iter().find(|line| line.path == at("added/file")).unwrap();
    let seen = file.before.as_ref().unwrap();
    assert_eq!((seen.what, seen.size_bytes, seen.of_base), (What::File, 4, false));
    let gone = part.listed.iter().find(|line| line.path == at("gone")).unwrap();
    assert!(gone.after.as_ref().unwrap().of_base && gone.effect == Effect::Created);

    let after = world.seen();
    assert_ne!(after[0], before[0]);
    space.preview(1).unwrap();
    assert_eq!(world.seen(), after, "looking changes nothing");
}

#[test]
fn nothing_to_change_is_an_empty_preview() {
    let world = World::new().with("text", "x");
    let space = world.create();
    write(&world.upper("file"), "x");
    space.snapshot(1).unwrap();
    let preview = space.preview(1).unwrap();
    assert!(preview.workspace.is_empty() && preview.memory.is_empty() && preview.drift.is_empty());
}

#[test]
fn however_much_changed_the_list_is_bounded_and_the_count_is_not() {
    let world = World::new();
    let space = world.create();
    space.snapshot(1).unwrap();
    let dir = world.upper("many");
    fs::create_dir(&dir).unwrap();
    for number in 0..10_005 {
        fs::File::create(dir.join(number.to_string())).unwrap();
    }
    let part = space.preview(1).unwrap().workspace;
    assert_eq!((part.listed.len(), part.left_off, part.removed), (10_000, 6, 10_006));
}

#[test]
fn the_changes_of_a_run_are_told_against_its_base() {
    let world = World::new().with("text", "x");
    let space = world.create();
    write(&world.upper("text"), "y");
    write(&world.upper("new"), "z");
    let changes = space.changes().unwrap();
    let told: Vec<_> = changes.iter().map(|change| format!("{:?} {}", change.kind(), change.path())).collect();
    assert_eq!(told, ["Added new", "Changed text"]);
}

#[test]
fn a_space_above_its_own_base_is_refused() {
    use crate::space::Space;
    let world = World::new();
    for (root, base) in [("base/space", "base"), ("base", "base"), ("base", "base/inner")] {
        fs::create_dir_all(world.path("base/inner")).unwrap();
        let made = Space::create(&world.path(root), Some(&world.path(base)));
        assert!(matches!(made, Err(SpaceError::Overlapping { .. })), "{root} {base}: {made:?}");
    }
}
