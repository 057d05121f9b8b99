//! What commands do in a layered workspace, and what becomes of it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use placet_workspace::layer::{Conflict, Layered, Shown};
use placet_workspace::{LayerError, TreePath};

use crate::harness::tests;
use crate::world::{World, start, text, told};

tests![
    a_preview_says_what_commands_did,
    promoting_gives_the_host_what_the_command_saw,
    a_preview_is_for_one_state_of_the_upper,
    files_of_people_are_never_eaten,
    a_snapshot_at_a_gate_brings_back_what_a_later_command_destroyed,
    what_is_discarded_never_happened,
    layers_are_not_read_while_a_cage_writes,
    a_second_run_goes_on_from_what_was_promoted,
];

/// Everything a command can do to a tree, in one script.
const DEEDS: &str = "echo more >> text; chmod 755 tool; rm gone; rm -r tree; mkdir tree; echo again > tree/again; \
                     rm -r whole; mv moved elsewhere; mv directory renamed; rm file-to-dir; mkdir file-to-dir; \
                     echo x > file-to-dir/x; rm -r dir-to-file; echo y > dir-to-file; ln -s text link; ln text twin; \
                     mkdir -p new/deep; printf 'a\\0b' > new/deep/binary; chmod 700 new; chmod 711 kept-dir; \
                     touch untouched; ln -sfn new retargeted";

fn world() -> World {
    let files = ["text", "tool", "gone", "tree/old", "whole/a/b", "moved", "directory/file", "file-to-dir"];
    let world = files.into_iter().fold(World::new(), |world, name| world.with(name, &format!("{name}\n")));
    let world = world.with("dir-to-file/inner", "x\n").with("kept-dir/file", "x\n").with("untouched", "x\n");
    std::os::unix::fs::symlink("old", world.lower("retargeted")).expect("a link");
    world
}

fn at(path: &str) -> TreePath {
    TreePath::new(path).expect("a path")
}

fn a_preview_says_what_commands_did() {
    let world = world();
    let baseline = world.baseline();
    let before = world.seen_outside();
    world.agent(DEEDS);
    let changes = world.preview(&baseline);
    let expected = [
        "Replaced dir-to-file",
        "Removed dir-to-file/inner",
        "Removed directory",
        "Removed directory/file",
        "Added elsewhere",
        "Replaced file-to-dir",
        "Added file-to-dir/x",
        "Removed gone",
        "ModeChanged kept-dir",
        "Added link",
        "Removed moved",
        "Added new",
        "Added new/deep",
        "Added new/deep/binary",
        "Added renamed",
        "Added renamed/file",
        "Changed retargeted",
        "Changed text",
        "ModeChanged tool",
        "Added tree/again",
        "Removed tree/old",
        "Added twin",
        "Removed whole",
        "Removed whole/a",
        "Removed whole/a/b",
    ];
    assert_eq!(told(&changes), expected);
    assert!(changes.conflicts().is_empty());
    let shown = |path: &str| world.layered().diff(&changes, &at(path)).expect("a diff");
    assert_eq!(shown("text"), Shown::Text("--- a/text\n+++ b/text\n@@ -1 +1,2 @@\n text\n+more\n".to_owned()));
    assert_eq!(shown("new/deep/binary"), Shown::Binary);
    assert_eq!(world.seen_outside(), before, "a preview changes nothing");
}

fn promoting_gives_the_host_what_the_command_saw() {
    let world = world();
    let baseline = world.baseline();
    world.agent(DEEDS);
    let seen = world.seen_inside();
    let changes = world.preview(&baseline);
    world.layered().promote(&baseline, &changes).expect("a promotion");
    assert_eq!(world.seen_outside(), seen);
    let owner = |path| fs::metadata(path).map(|meta| (meta.uid(), meta.gid())).expect("an owner");
    for name in ["text", "new", "new/deep/binary"] {
        assert_eq!(owner(world.lower(name)), owner(world.lower("")), "{name}");
    }
    world.layered().discard().expect("nothing more to promote");
    assert!(world.preview(&world.baseline()).is_empty());
}

fn a_preview_is_for_one_state_of_the_upper() {
    let world = world();
    let baseline = world.baseline();
    world.agent("echo reviewed > text");
    let changes = world.preview(&baseline);
    world.agent("echo smuggled > text");
    let before = world.seen_outside();
    let error = world.layered().promote(&baseline, &changes).expect_err("it is something else now");
    assert!(matches!(&error, LayerError::Outdated(paths) if *paths == [at("text")]), "{error}");
    assert_eq!(world.seen_outside(), before);
}

fn files_of_people_are_never_eaten() {
    let world = world().with(".env", "KEY=1\n");
    let baseline = world.baseline().protect([at(".env")]);
    world.agent("echo mine > text; echo mine > notes; rm -r tree; echo mine > .env; echo fine > fine");
    world.write("text", "a person's\n");
    world.write("notes", "a person's\n");
    world.write("tree/todo", "a person's\n");
    let before = world.seen_outside();
    let changes = world.preview(&baseline);
    let expected = [
        (at(".env"), Conflict::Protected),
        (at("notes"), Conflict::Appeared),
        (at("text"), Conflict::Drifted),
        (at("tree/todo"), Conflict::Appeared),
    ];
    assert_eq!(changes.conflicts(), expected);
    let error = world.layered().promote(&baseline, &changes).expect_err("people come first");
    assert!(matches!(error, LayerError::Conflicts(_)), "{error}");
    assert_eq!(world.seen_outside(), before);
}

fn a_snapshot_at_a_gate_brings_back_what_a_later_command_destroyed() {
    let world = world();
    let baseline = world.baseline();
    world.agent(DEEDS);
    let (seen, changes) = (world.seen_inside(), world.preview(&baseline));
    let snapshot = world.layered().snapshot(&world.path("snapshot")).expect("a snapshot");
    world.agent("rm -rf ./*; echo nothing > left; mkdir tree; chmod 500 tree");
    assert_ne!(world.seen_inside(), seen);
    world.layered().roll_back(&snapshot).expect("the way back");
    assert_eq!(world.seen_inside(), seen);
    assert_eq!(world.preview(&baseline), changes);
    world.agent("echo more > new/more; rm link");
}

fn what_is_discarded_never_happened() {
    let world = world();
    let before = world.seen_inside();
    world.agent(DEEDS);
    world.layered().discard().expect("an empty upper");
    assert_eq!(world.seen_inside(), before);
}

fn layers_are_not_read_while_a_cage_writes() {
    let world = world();
    let running = start(world.request("touch ready; sleep 60"));
    let open = || Layered::open(&world.lower(""), &world.upper(""), &world.path("run/work"));
    assert!(matches!(open(), Err(LayerError::Busy(_))));
    drop(running);
}

fn a_second_run_goes_on_from_what_was_promoted() {
    let world = world();
    for round in ["one", "two"] {
        let baseline = world.baseline();
        world.agent(&format!("echo {round} >> text; rm -rf tree; mkdir tree; echo {round} > tree/{round}"));
        let layered = world.layered();
        layered.promote(&baseline, &layered.preview(&baseline).expect("a preview")).expect("a promotion");
        layered.discard().expect("an empty upper");
    }
    assert_eq!(text(&world.lower("text")), "text\none\ntwo\n");
    assert!(!world.lower("tree/one").exists() && world.lower("tree/two").exists());
}
