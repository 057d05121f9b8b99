//! Promotions that are refused, interrupted at every point, and disturbed by somebody else.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use super::*;
use crate::layer::baseline::Told;
use crate::layer::tests::{Seen, World, at, mode, opaque, seen, whiteout, write};
use crate::layer::{Conflict, Layered};
use crate::limits::Limits;

/// A lower, and an upper with every kind of step.
fn everything() -> (World, Baseline) {
    let world = World::new().with("text", "old").with("gone", "x").with("tree/deep/two", "2").with("tree/one", "1");
    let world = world.with("turned", "file").with("dir/inner", "x").with("closed/inner", "x").with("kept", "kept");
    let baseline = world.baseline();
    write(&world.upper("text"), "new");
    whiteout(&world.upper("gone"));
    whiteout(&world.upper("tree"));
    write(&world.upper("turned/inner"), "new");
    write(&world.upper("dir"), "a file now");
    fs::create_dir(world.upper("closed")).unwrap();
    mode(&world.upper("closed"), 0o700);
    write(&world.upper("made/deep/file"), "new");
    mode(&world.upper("made/deep"), 0o555);
    symlink("made", world.upper("link")).unwrap();
    (world, baseline)
}

fn promoted() -> Seen {
    let (world, baseline) = everything();
    let layered = world.open();
    layered.promote(&baseline, &layered.preview(&baseline).unwrap()).unwrap();
    let seen = world.seen();
    // Removing a directory needs the right to write to it.
    mode(&world.lower("made/deep"), 0o755);
    mode(&world.upper("made/deep"), 0o755);
    seen
}

fn conflicts(layered: &Layered, baseline: &Baseline) -> Vec<(String, Conflict)> {
    let changes = layered.preview(baseline).unwrap();
    match layered.promote(baseline, &changes) {
        Err(LayerError::Conflicts(all)) => all.into_iter().map(|(path, why)| (path.to_string(), why)).collect(),
        other => panic!("not refused for conflicts: {other:?}"),
    }
}

#[test]
fn promoting_applies_exactly_what_was_previewed() {
    let seen = promoted();
    let content = |name: &str| seen.get(std::path::Path::new(name)).map(|(content, _)| content.as_str());
    assert_eq!(content("text"), Some("new"));
    assert_eq!([content("gone"), content("tree"), content("dir/inner")], [None, None, None]);
    assert_eq!([content("turned/inner"), content("dir")], [Some("new"), Some("a file now")]);
    assert_eq!([content("made/deep/file"), content("link")], [Some("new"), Some("-> made")]);
    assert_eq!(seen[std::path::Path::new("made/deep")].1, 0o555);
    assert_eq!(seen[std::path::Path::new("closed")].1, 0o700);
    assert_eq!([content("kept"), content("closed/inner")], [Some("kept"), Some("x")]);
    assert!(!seen.keys().any(|path| path.to_string_lossy().contains("placet")), "nothing is left behind");
}

#[test]
fn an_upper_that_changed_since_the_preview_is_refused() {
    let (world, baseline) = everything();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    let before = world.seen();
    write(&world.upper("text"), "newer");
    write(&world.upper("smuggled"), "x");
    let error = layered.promote(&baseline, &changes).unwrap_err();
    assert!(matches!(&error, LayerError::Outdated(paths) if *paths == [at("smuggled"), at("text")]), "{error}");
    assert_eq!(world.seen(), before);
}

#[test]
fn files_of_others_are_never_overwritten_or_removed() {
    let world = World::new().with("edited", "old").with("gone", "x").with("removed", "x").with("tree/file", "x");
    let world = world.with("secret", "untracked");
    let baseline = world.baseline().protect([at("secret")]);
    for name in ["edited", "made", "removed", "secret"] {
        write(&world.upper(name), "of the run");
    }
    whiteout(&world.upper("gone"));
    whiteout(&world.upper("tree"));
    write(&world.lower("edited"), "by a person");
    write(&world.lower("gone"), "by a person");
    write(&world.lower("made"), "by a person");
    write(&world.lower("tree/notes"), "by a person");
    fs::remove_file(world.lower("removed")).unwrap();
    let before = world.seen();
    let expected = [
        ("edited", Conflict::Drifted),
        ("gone", Conflict::Drifted),
        ("made", Conflict::Appeared),
        ("removed", Conflict::Vanished),
        ("secret", Conflict::Protected),
        ("tree/notes", Conflict::Appeared),
    ];
    assert_eq!(conflicts(&world.open(), &baseline), expected.map(|(path, why)| (path.to_owned(), why)));
    assert_eq!(world.seen(), before);
}

#[test]
fn what_a_person_does_after_the_preview_is_not_lost_either() {
    let (world, baseline) = everything();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    write(&world.lower("text"), "by a person");
    let before = world.seen();
    assert!(matches!(layered.promote(&baseline, &changes), Err(LayerError::Outdated(paths)) if paths == [at("text")]));
    assert_eq!(world.seen(), before);
}

#[test]
fn an_old_file_is_recognised_without_reading_it_and_a_touched_one_is_not_taken_for_it() {
    let world = World::new().with("file", "old");
    // Only a file that has not been written for a while is known by what its file system says.
    let told = Told::new(&Dir::open(&world.lower("")).unwrap().stat(b"file").unwrap());
    let json = serde_json::json!({ "stamps": { "file": { "Told": told } }, "protected": [] });
    let baseline: Baseline = serde_json::from_value(json).unwrap();
    write(&world.upper("file"), "new");
    assert!(world.open().preview(&baseline).unwrap().conflicts().is_empty());
    write(&world.lower("file"), "OLD");
    assert_eq!(conflicts(&world.open(), &baseline), [("file".to_owned(), Conflict::Drifted)]);
}

#[test]
fn names_that_promotions_need_are_not_promoted() {
    let world = World::new();
    let baseline = world.baseline();
    write(&world.upper(".placet-promotion-1/journal"), "forged");
    let found = conflicts(&world.open(), &baseline);
    assert!(found.iter().all(|(_, why)| *why == Conflict::Reserved) && found.len() == 2, "{found:?}");
}

#[test]
fn an_unfinished_promotion_of_another_run_is_not_disturbed() {
    let (world, baseline) = everything();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    write(&world.lower(".placet-promotion-0/0"), "kept for somebody");
    let before = world.seen();
    assert!(matches!(layered.promote(&baseline, &changes), Err(LayerError::Unfinished(_))));
    assert!(matches!(Baseline::record(&world.lower(""), Limits::default()), Err(LayerError::Unfinished(_))));
    assert_eq!(world.seen(), before);
}

#[test]
fn what_is_promoted_belongs_to_the_owner_of_the_directory() {
    let (world, baseline) = everything();
    let root = rustix::process::geteuid().is_root();
    if root {
        let given = |path| std::os::unix::fs::chown(path, Some(12_345), Some(12_346)).unwrap();
        given(world.lower(""));
    }
    let layered = world.open();
    layered.promote(&baseline, &layered.preview(&baseline).unwrap()).unwrap();
    let owner = |name: &str| fs::symlink_metadata(world.lower(name)).map(|meta| (meta.uid(), meta.gid())).unwrap();
    for name in ["text", "made", "made/deep/file", "link", "dir"] {
        assert_eq!(owner(name), owner(""), "{name}");
    }
    mode(&world.lower("made/deep"), 0o755);
    mode(&world.upper("made/deep"), 0o755);
}

/// Ends the promotion at a point, the way a crash would: nothing is cleaned up but descriptors and locks.
fn crash_at(world: &World, baseline: &Baseline, reached: usize) -> Option<Point> {
    let layered = world.open();
    let changes = layered.preview(baseline).unwrap();
    let (mut count, mut last) = (0, None);
    let mut watch = |point: Point| {
        if count == reached {
            last = Some(point);
            std::panic::resume_unwind(Box::new("crash"));
        }
        count += 1;
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| promote(&layered, baseline, &changes, &mut watch)));
    assert_eq!(outcome.is_err(), last.is_some());
    last
}

#[test]
fn a_crash_at_any_point_is_undone_or_finished_when_the_run_is_opened_again() {
    let after = promoted();
    for reached in 0.. {
        let (world, baseline) = everything();
        let before = world.seen();
        let Some(point) = crash_at(&world, &baseline, reached) else {
            assert!(reached > 15, "every step was a point: {reached}");
            break;
        };
        let recovered = world.open().recovered();
        let (expected, state) = match point {
            Point::Begun | Point::Staged | Point::Journaled | Point::Applied(_) => (Recovered::Undone, &before),
            Point::Done => (Recovered::Finished, &after),
            Point::CleanedUp => (Recovered::Nothing, &after),
        };
        assert_eq!((recovered, &world.seen()), (expected, state), "{point:?}");
        assert_eq!(world.open().recovered(), Recovered::Nothing, "{point:?}");
        if *state == before {
            let layered = world.open();
            layered.promote(&baseline, &layered.preview(&baseline).unwrap()).unwrap();
            assert_eq!(world.seen(), after, "{point:?}: it can be promoted after all");
        }
        mode(&world.lower("made/deep"), 0o755);
        mode(&world.upper("made/deep"), 0o755);
    }
}

/// Lets somebody else act in the middle of a promotion.
fn disturbed(act: impl Fn(&World), at_point: Point) -> (World, Result<(), LayerError>) {
    let (world, baseline) = everything();
    let layered = world.open();
    let changes = layered.preview(&baseline).unwrap();
    let mut watch = |point: Point| {
        if point == at_point {
            act(&world);
        }
    };
    let outcome = promote(&layered, &baseline, &changes, &mut watch);
    drop(layered);
    (world, outcome)
}

#[test]
fn an_edit_between_comparing_and_replacing_is_found_and_everything_is_undone() {
    type Edit = fn(&World);
    let edits: [(&str, Edit); 4] = [
        ("text", |world| write(&world.lower("text"), "at the last moment")),
        ("tree/notes", |world| write(&world.lower("tree/notes"), "at the last moment")),
        ("made", |world| write(&world.lower("made"), "at the last moment")),
        ("gone", |world| {
            write(&world.lower("gone.new"), "at the last moment");
            fs::rename(world.lower("gone.new"), world.lower("gone")).unwrap();
        }),
    ];
    for (name, edit) in edits {
        let (expected, _) = everything();
        edit(&expected);
        let (world, outcome) = disturbed(edit, Point::Journaled);
        assert!(matches!(outcome, Err(LayerError::Conflicts(_))), "{name}: {outcome:?}");
        assert_eq!(world.seen(), expected.seen(), "{name}");
    }
}

#[test]
fn what_somebody_did_after_a_crash_is_left_alone_until_they_move_it() {
    let (world, baseline) = everything();
    let steps_taken = 8;
    crash_at(&world, &baseline, steps_taken).unwrap();
    let taken: Vec<_> = seen(&world.lower("")).into_keys().filter(|path| path.starts_with("gone")).collect();
    assert!(taken.is_empty(), "it was moved aside before the crash");
    write(&world.lower("gone"), "made after the crash");
    let error = world.try_open().unwrap_err();
    assert!(matches!(&error, LayerError::Blocked { path, .. } if *path == at("gone")), "{error}");
    assert_eq!(fs::read_to_string(world.lower("gone")).unwrap(), "made after the crash");
    fs::rename(world.lower("gone"), world.lower("mine")).unwrap();
    assert_eq!(world.open().recovered(), Recovered::Undone);
    assert_eq!(fs::read_to_string(world.lower("gone")).unwrap(), "x");
    assert_eq!(fs::read_to_string(world.lower("mine")).unwrap(), "made after the crash");
}

/// What a run may do to a path of a small tree.
#[derive(Clone, Debug)]
enum Deed {
    Write(String, u8),
    Remove(String),
    Directory(String),
    Link(String, u8),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let path = "[ab](/[ab]){0,2}";
    let deed = prop_oneof![
        (path, any::<u8>()).prop_map(|(path, content)| Deed::Write(path, content)),
        path.prop_map(Deed::Remove),
        path.prop_map(Deed::Directory),
        (path, any::<u8>()).prop_map(|(path, target)| Deed::Link(path, target)),
    ];
    proptest::collection::vec(deed, 0..12)
}

fn remove_any(path: &std::path::Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Does a deed to a plain directory. Whether it was possible.
fn do_plainly(root: &std::path::Path, deed: &Deed) -> bool {
    let (Deed::Write(path, _) | Deed::Remove(path) | Deed::Directory(path) | Deed::Link(path, _)) = deed;
    let path = root.join(path);
    if fs::symlink_metadata(path.parent().unwrap()).is_ok_and(|meta| !meta.is_dir()) || !path.parent().unwrap().exists()
    {
        return false;
    }
    if matches!(deed, Deed::Remove(_)) && fs::symlink_metadata(&path).is_err() {
        return false;
    }
    remove_any(&path);
    match deed {
        Deed::Write(_, content) => fs::write(path, [*content]).unwrap(),
        Deed::Remove(_) => {}
        Deed::Directory(_) => fs::create_dir(path).unwrap(),
        Deed::Link(_, target) => symlink(target.to_string(), path).unwrap(),
    }
    true
}

/// Does a deed the way an overlay stores it.
fn do_in_layers(world: &World, deed: &Deed) {
    let (Deed::Write(path, _) | Deed::Remove(path) | Deed::Directory(path) | Deed::Link(path, _)) = deed;
    let upper = world.upper(path);
    fs::create_dir_all(upper.parent().unwrap()).unwrap();
    remove_any(&upper);
    let below = fs::symlink_metadata(world.lower(path)).ok();
    match deed {
        Deed::Write(_, content) => fs::write(upper, [*content]).unwrap(),
        Deed::Remove(_) if below.is_some() => whiteout(&upper),
        Deed::Remove(_) => {}
        Deed::Directory(_) if below.is_some() => opaque(&upper, b"y"),
        Deed::Directory(_) => fs::create_dir(upper).unwrap(),
        Deed::Link(_, target) => symlink(target.to_string(), upper).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promoting_gives_the_tree_the_run_saw(before in deeds(), during in deeds()) {
        let (world, expected) = (World::new(), tempfile::tempdir().unwrap());
        for deed in &before {
            do_plainly(expected.path(), deed);
            do_plainly(&world.lower(""), deed);
        }
        let baseline = world.baseline();
        for deed in &during {
            if do_plainly(expected.path(), deed) {
                do_in_layers(&world, deed);
            }
        }
        let layered = world.open();
        let snapshot = layered.snapshot(&world.path("snapshot")).unwrap();
        layered.promote(&baseline, &layered.preview(&baseline).unwrap()).unwrap();
        prop_assert_eq!(world.seen(), seen(expected.path()));
        let (upper, again) = (seen(&world.upper("")), layered.discard());
        prop_assert!(again.is_ok() && seen(&world.upper("")).is_empty());
        layered.roll_back(&snapshot).unwrap();
        prop_assert_eq!(seen(&world.upper("")), upper);
    }
}
