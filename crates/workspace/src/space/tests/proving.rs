//! What a snapshot keeps, that it is kept once, and that nobody changes it unnoticed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::world::*;
use crate::digest::Digest;
use crate::space::{Recovery, Space, SpaceError};

fn world() -> (World, Space) {
    let world = World::new().with("text", "of the base");
    let space = world.create();
    (world, space)
}

fn object(world: &World, content: &str) -> PathBuf {
    let hex = Digest::of(content.as_bytes()).to_string().replace("sha256:", "");
    world.path("space/objects").join(&hex[..2]).join(&hex[2..])
}

fn objects(world: &World) -> Vec<PathBuf> {
    let list = |dir: PathBuf| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = list(world.path("space/objects")).flat_map(list).collect();
    found.sort();
    found
}

#[test]
fn an_unchanged_file_is_kept_once_and_shares_nothing_with_the_live_one() {
    let (world, space) = world();
    write(&world.upper("same"), "the same");
    write(&world.upper("changing"), "one");
    space.snapshot(1).unwrap();
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    let kept = inode(object(&world, "the same"));
    write(&world.upper("changing"), "two");
    let record = space.snapshot(2).unwrap();
    assert_eq!(inode(object(&world, "the same")), kept, "not copied again");
    assert_eq!(objects(&world).len(), 3);
    assert_ne!(inode(world.upper("same")), kept);
    assert_eq!((record.files, record.bytes), (2, 11));
}

#[test]
fn the_digest_of_a_tree_is_the_one_sha256sum_gives() {
    let (world, space) = world();
    write(&world.upper("file"), "x");
    let record = space.snapshot(7).unwrap();
    let list = |name: &str| Digest::of(&fs::read(world.path("space/snapshots/7").join(name)).unwrap());
    assert_eq!((list("upper.jsonl"), list("agent.jsonl")), (record.workspace, record.memory));
}

#[test]
fn a_snapshot_somebody_changed_is_refused_and_everything_stays_as_it_was() {
    type Tamper = fn(&World);
    let tampered: [(&str, Tamper); 6] = [
        ("content", |world| {
            mode(&object(world, "saved"), 0o600);
            write(&object(world, "saved"), "evil!");
        }),
        ("content is gone", |world| remove(&object(world, "saved"))),
        ("content is a link", |world| {
            remove(&object(world, "saved"));
            std::os::unix::fs::symlink("/etc/passwd", object(world, "saved")).unwrap();
        }),
        ("list", |world| {
            let list = world.path("space/snapshots/1/upper.jsonl");
            let text = fs::read_to_string(&list).unwrap().replace("\"file\"", "\"evil\"");
            write(&list, text);
        }),
        ("list and record", |world| {
            let dir = world.path("space/snapshots/1");
            let old = fs::read_to_string(dir.join("upper.jsonl")).unwrap();
            let new = old.replace("\"file\"", "\"evil\"");
            let record = fs::read_to_string(dir.join("meta.json")).unwrap();
            let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
            write(&dir.join("meta.json"), record.replace(&digest(&old), &digest(&new)));
            write(&dir.join("upper.jsonl"), new);
        }),
        ("record", |world| write(&world.path("space/snapshots/1/meta.json"), "{}")),
    ];
    for (what, tamper) in tampered {
        let (world, space) = world();
        write(&world.upper("file"), "saved");
        write(&world.upper("other"), "also saved");
        let record = space.snapshot(1).unwrap();
        write(&world.upper("file"), "live");
        remove(&world.upper("other"));
        tamper(&world);
        let before = world.seen();
        let error = space.restore(1, &record).unwrap_err();
        assert!(matches!(error, SpaceError::Damaged { number: 1, .. }), "{what}: {error}");
        assert_eq!(world.seen(), before, "{what}");
        assert_eq!(world.open().recovered(), Recovery::Nothing, "{what}: what was prepared is gone");
        assert_eq!(world.seen(), before, "{what}");
    }
}

#[test]
fn a_list_with_a_path_out_of_the_tree_or_out_of_order_is_no_list() {
    use crate::space::tree::Tree;
    let (world, space) = world();
    write(&world.upper("a"), "x");
    write(&world.upper("b"), "x");
    space.snapshot(1).unwrap();
    let text = fs::read_to_string(world.path("space/snapshots/1/upper.jsonl")).unwrap();
    assert!(Tree::from_lines(text.as_bytes()).is_ok());
    for (from, to) in
        [("\"a\"", "\"../a\""), ("\"a\"", "\"c\""), ("\"a\"", "\"b\""), ("placet_tree\":1", "placet_tree\":2")]
    {
        assert!(Tree::from_lines(text.replace(from, to).as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn content_that_rotted_is_noticed_when_it_is_needed_again_and_kept_anew() {
    let (world, space) = world();
    write(&world.upper("file"), "content");
    space.snapshot(1).unwrap();
    mode(&object(&world, "content"), 0o600);
    write(&object(&world, "content"), "CONTENT");
    write(&world.upper("copy"), "content");
    let error = space.snapshot(2).unwrap_err();
    assert!(matches!(&error, SpaceError::NotRestorable(path) if *path == at("copy")), "{error}");
    assert_eq!(space.snapshots().unwrap(), [1]);
    let record = space.snapshot(2).unwrap();
    remove(&world.upper("copy"));
    space.restore(2, &record).unwrap();
}

#[test]
fn what_is_not_kept_is_gone_with_what_only_it_needed() {
    let (world, space) = world();
    let mut last = None;
    for number in 0..5 {
        write(&world.upper("changing"), format!("content {number}"));
        last = Some(space.snapshot(number).unwrap());
    }
    space.keep_only(&[0, 4].into()).unwrap();
    space.keep_only(&[0, 4].into()).unwrap();
    assert_eq!((space.snapshots().unwrap(), objects(&world).len()), (vec![0, 4], 2));
    write(&world.upper("changing"), "later");
    space.restore(4, &last.unwrap()).unwrap();
    assert_eq!(fs::read_to_string(world.upper("changing")).unwrap(), "content 4");
}

#[test]
fn forgetting_a_snapshot_removes_what_only_it_needs() {
    let (world, space) = world();
    write(&world.upper("shared"), "shared");
    write(&world.upper("only"), "only in the first");
    let first = space.snapshot(1).unwrap();
    remove(&world.upper("only"));
    let second = space.snapshot(2).unwrap();
    let then = world.seen();
    space.forget(1).unwrap();
    assert_eq!(objects(&world), [object(&world, "shared")]);
    assert!(matches!(space.restore(1, &first), Err(SpaceError::NoSnapshot(1))));
    remove(&world.upper("shared"));
    space.restore(2, &second).unwrap();
    assert_eq!(world.seen(), then);
    write(&world.upper("only"), "only in the first");
    let third = space.snapshot(3).unwrap();
    remove(&world.upper("only"));
    space.restore(3, &third).unwrap();
    assert_eq!(fs::read_to_string(world.upper("only")).unwrap(), "only in the first", "kept again");
}

#[test]
fn beside_a_damaged_snapshot_everything_else_goes_on_and_nothing_it_may_need_is_removed() {
    let (world, space) = world();
    write(&world.upper("file"), "of the first");
    space.snapshot(1).unwrap();
    write(&world.upper("file"), "of the second");
    let second = space.snapshot(2).unwrap();
    write(&world.path("space/snapshots/1/upper.jsonl"), "damaged");
    write(&world.path("space/snapshots/.new/upper.jsonl"), "half of a list");
    assert_eq!(world.open().recovered(), Recovery::Undone);
    assert!(object(&world, "of the first").exists());
    write(&world.upper("file"), "live");
    space.snapshot(3).unwrap();
    space.restore(2, &second).unwrap();
    space.forget(3).unwrap();
    assert_eq!(fs::read_to_string(world.upper("file")).unwrap(), "of the second");
}

#[test]
fn a_lost_or_foreign_index_costs_time_and_nothing_else() {
    let (world, space) = world();
    write(&world.upper("file"), "saved");
    let (then, record) = (world.seen(), space.snapshot(1).unwrap());
    for index in ["", "not an index", "{\"boot\":\"another\",\"stamps\":[]}\n"] {
        write(&world.upper("file"), "live");
        write(&world.path("space/index"), index);
        space.restore(1, &record).unwrap();
        assert_eq!(world.seen(), then);
    }
}

#[test]
fn after_a_restart_of_the_machine_nothing_live_is_relied_on() {
    let (world, space) = world();
    write(&world.upper("file"), "saved");
    let (then, record) = (world.seen(), space.snapshot(1).unwrap());
    drop(space);
    write(&world.path("space/boot"), "another boot");
    let space = world.open();
    assert_eq!(space.recovered(), Recovery::MachineRestarted);
    write(&world.upper("file"), "half");
    space.restore(1, &record).unwrap();
    assert_eq!(world.seen(), then);
    assert_eq!(world.open().recovered(), Recovery::Nothing);
}

#[test]
fn a_snapshot_that_fails_leaves_nothing_of_what_it_kept() {
    use crate::Limits;
    let (world, space) = world();
    write(&world.upper("file"), "first");
    space.snapshot(1).unwrap();
    let before = objects(&world);
    write(&world.upper("a"), "kept before it fails");
    write(&world.upper("b"), vec![7; 10_000]);
    let space = space.limits(Limits { bytes: 1_000, ..Limits::default() });
    space.snapshot(2).unwrap_err();
    assert_eq!(objects(&world), before);
    assert!(!world.path("space/snapshots/.new").exists() && !world.path("space/scratch").exists());
    space.limits(Limits::default()).snapshot(2).unwrap();
}

#[test]
fn of_a_file_that_grows_no_more_is_copied_than_it_had() {
    use crate::space::content;
    let place = tempfile::tempdir().unwrap();
    write(&place.path().join("growing"), [7; 300_000]);
    let mut from = fs::File::open(place.path().join("growing")).unwrap();
    for expected in [0, 1, 5_000, 150_000, 299_999, 300_000, 400_000] {
        let path = place.path().join(expected.to_string());
        let mut to = fs::File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        let (digest, copied) = content::copy(&mut from, &mut to, expected).unwrap();
        assert_eq!(copied, (expected + 1).min(300_000));
        assert_eq!(digest, Digest::of(&fs::read(path).unwrap()));
    }
}
