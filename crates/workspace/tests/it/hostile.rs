//! Commands that try to harm whoever reads what they left.

use std::fs;

use placet_workspace::layer::{Conflict, Node};
use placet_workspace::{LayerError, Limits, TreePath};

use crate::harness::tests;
use crate::world::{World, told};

tests![
    links_lead_nobody_out_of_the_tree,
    pipes_hold_nobody_up,
    names_are_kept_whatever_they_are,
    a_tree_without_an_end_is_refused_and_discarded,
    a_file_larger_than_any_disk_is_refused_and_discarded,
    closed_directories_do_not_keep_a_run_from_being_discarded,
    notes_for_the_kernel_hide_nothing_from_a_preview,
    no_repository_is_promoted_wherever_it_lies,
];

/// Refused for this limit, then thrown away; the host's directory stays as it is.
#[track_caller]
fn is_refused_and_discarded(world: &World, limit: &str, limits: Limits) {
    let (baseline, before) = (world.baseline(), world.seen_outside());
    let layered = world.layered().limits(limits);
    let error = layered.preview(&baseline).expect_err("too much");
    assert!(matches!(&error, LayerError::TooLarge { what, .. } if *what == limit), "{error}");
    let error = layered.snapshot(&world.path("snapshot")).expect_err("too much");
    assert!(matches!(&error, LayerError::TooLarge { .. }), "{error}");
    layered.discard().expect("it can always be thrown away");
    assert_eq!(fs::read_dir(world.upper("")).expect("the upper").count(), 0);
    assert_eq!(world.seen_outside(), before);
}

fn links_lead_nobody_out_of_the_tree() {
    let world = World::new().with("dir/file", "inside\n");
    fs::write(world.path("outside"), "outside\n").expect("a file");
    let baseline = world.baseline();
    world.agent(&format!("rm -r dir; ln -s {} dir; ln -s ../../outside up", world.path("").display()));
    let layered = world.layered();
    let changes = layered.preview(&baseline).expect("a preview");
    assert_eq!(told(&changes), ["Replaced dir", "Removed dir/file", "Added up"]);
    layered.promote(&baseline, &changes).expect("links are promoted as links");
    assert!(fs::symlink_metadata(world.lower("dir")).expect("a link").is_symlink());
    assert_eq!(fs::read_to_string(world.path("outside")).expect("a file"), "outside\n");
    // From now on the link is part of the lower, and a later run finds a way through it only in its own cage.
    let later = world.baseline();
    layered.discard().expect("an empty upper");
    drop(layered);
    world.agent("rm dir; mkdir dir; echo hostile > dir/outside");
    let layered = world.layered();
    layered.promote(&later, &layered.preview(&later).expect("a preview")).expect("a promotion");
    assert_eq!(fs::read_to_string(world.path("outside")).expect("a file"), "outside\n");
}

fn pipes_hold_nobody_up() {
    let world = World::new().with("file", "x\n");
    let baseline = world.baseline();
    world.agent("rm file; mkfifo file pipe");
    let layered = world.layered();
    let changes = layered.preview(&baseline).expect("a preview");
    assert_eq!(told(&changes), ["Replaced file", "Added pipe"]);
    assert!(changes.conflicts().iter().all(|(_, why)| matches!(why, Conflict::Special(_))));
    let snapshot = layered.snapshot(&world.path("snapshot")).expect("a snapshot has pipes, too");
    layered.roll_back(&snapshot).expect("the way back");
    assert!(matches!(layered.promote(&baseline, &changes), Err(LayerError::Conflicts(_))));
}

fn names_are_kept_whatever_they_are() {
    let world = World::new();
    let baseline = world.baseline();
    let script = "import os\nfor n in (b'new\\nline', b'\\xff\\xfe', b' ', b'-rf', b'..a', b'\\x1b[2J'):\n  open(n, 'w').write('x')\n\
                  for _ in range(15):\n  os.mkdir('n' * 255); os.chdir('n' * 255)\nopen('f', 'w').write('x')";
    world.agent(&format!("python3 -c \"{script}\""));
    let layered = world.layered();
    let changes = layered.preview(&baseline).expect("a preview");
    layered.promote(&baseline, &changes).expect("a promotion");
    assert_eq!(changes.len(), 6 + 15 + 1);
    let shown: Vec<String> = changes.iter().map(|change| change.path().to_string()).collect();
    assert!(shown.contains(&"new%0Aline".to_owned()) && shown.contains(&"%1B[2J".to_owned()), "{shown:?}");
    layered.discard().expect("an empty upper");
    let again = layered.preview(&world.baseline()).expect("a preview");
    assert!(again.is_empty() && world.lower("-rf").exists());
}

fn a_tree_without_an_end_is_refused_and_discarded() {
    let world = World::new().with("file", "x\n");
    let script = "import os\nfor _ in range(5000):\n  os.mkdir('d'); os.chdir('d')";
    world.agent(&format!("python3 -c \"{script}\""));
    is_refused_and_discarded(&world, "depth", Limits::default());
    world.agent("for i in $(seq 1 300); do : > $i; done");
    is_refused_and_discarded(&world, "entries", Limits { entries: 200, ..Limits::default() });
}

fn a_file_larger_than_any_disk_is_refused_and_discarded() {
    let world = World::new().with("file", "x\n");
    world.agent("truncate -s 60M a; truncate -s 60M b");
    is_refused_and_discarded(&world, "bytes", Limits { bytes: 100 << 20, ..Limits::default() });
}

fn closed_directories_do_not_keep_a_run_from_being_discarded() {
    let world = World::new().with("file", "x\n");
    let snapshot = world.layered().snapshot(&world.path("snapshot")).expect("a snapshot");
    for way_back in ["discard", "roll back"] {
        world.agent("mkdir -p a/b; touch a/b/c; chmod 000 a/b a; chmod 000 file");
        let layered = world.layered();
        match way_back {
            "discard" => layered.discard().expect("an empty upper"),
            _ => layered.roll_back(&snapshot).expect("the way back"),
        }
        assert_eq!(fs::read_dir(world.upper("")).expect("the upper").count(), 0, "{way_back}");
    }
}

/// Attributes that a command sets under the kernel's prefix are stored under another name.
fn notes_for_the_kernel_hide_nothing_from_a_preview() {
    let world = World::new().with("dir/kept", "x\n");
    let baseline = world.baseline();
    let script = "import os\nos.mkdir('new'); open('new/planted', 'w').close(); open('dir/planted', 'w').close()\n\
                  for d in 'dir', 'new':\n  for v in b'x', b'y':\n    try: os.setxattr(d, 'user.overlay.opaque', v)\n    except OSError: pass\n  \
                  for n in 'whiteout', 'redirect':\n    try: os.setxattr(d + '/planted', 'user.overlay.' + n, b'y')\n    except OSError: pass";
    world.agent(&format!("python3 -c \"{script}\""));
    let changes = world.preview(&baseline);
    assert_eq!(told(&changes), ["Added dir/planted", "Added new", "Added new/planted"]);
    let planted = changes.get(&TreePath::new("new/planted").expect("a path")).and_then(|change| change.after());
    assert!(matches!(planted, Some(Node::File { size_bytes: 0, .. })));
}

/// Git on the host would run what the settings of such a repository name.
fn no_repository_is_promoted_wherever_it_lies() {
    let world = World::new().with(".git", "gitdir: elsewhere\n").with("file", "x\n");
    let before = world.seen_outside();
    for script in
        ["rm .git; git init --quiet .", "git init --quiet deep/inner", "mkdir .GIT; touch .GIT/config", "rm .git"]
    {
        let baseline = world.baseline();
        world.agent(&format!("{script}; echo fine > fine"));
        let layered = world.layered();
        let changes = layered.preview(&baseline).expect("a preview");
        assert!(changes.conflicts().iter().all(|(_, why)| *why == Conflict::Repository), "{script}");
        let error = layered.promote(&baseline, &changes).expect_err("it would be obeyed");
        assert!(matches!(error, LayerError::Conflicts(_)), "{script}: {error}");
        layered.discard().expect("an empty upper");
        assert_eq!(world.seen_outside(), before, "{script}");
    }
}
