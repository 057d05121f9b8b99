//! Spaces with real cages above them: what commands do is saved, and undone.

pub(crate) mod killed;
pub(crate) mod large;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use placet_sandbox::{Layers, Request};
use placet_workspace::space::{Effect, Space, SpaceError};
use placet_workspace::{LayerError, TreePath};
use tempfile::TempDir;

use crate::harness::tests;
use crate::world::{LISTING, run, sh, start, text};

tests![
    the_next_cage_sees_exactly_what_was_there_at_the_snapshot,
    every_snapshot_of_a_run_can_be_gone_back_to_and_worked_on_from,
    what_children_of_a_command_did_is_saved_and_undone,
    what_a_command_closed_to_everybody_is_saved_and_undone,
    a_preview_tells_what_commands_did_and_what_people_did,
    nothing_is_saved_or_undone_while_a_cage_works,
    outputs_are_handed_on_and_a_space_is_destroyed,
];

/// A folder of people, and a space above it.
pub(crate) struct World {
    outer: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { outer: TempDir::new().expect("a temporary directory") };
        for name in ["text", "gone", "tree/old", "tree/deep/file", "whole/a", "moved", "directory/file", "tool"] {
            world.person(name, &format!("{name}\n"));
        }
        Space::create(&world.path("space"), Some(&world.path("base"))).expect("a space");
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    /// What a person does.
    pub(crate) fn person(&self, name: &str, text: &str) {
        let file = self.path("base").join(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file");
    }

    pub(crate) fn space(&self) -> Space {
        Space::open(&self.path("space")).expect("a space that nobody holds")
    }

    fn request(&self, script: &str) -> Request {
        let layers = Layers::new(self.path("base"), self.path("space/upper"), self.path("space/work"));
        sh(script).workspace(layers)
    }

    /// What an action of the run does.
    #[track_caller]
    pub(crate) fn action(&self, script: &str) -> String {
        run(self.request(script))
    }

    /// What the agent keeps for itself.
    #[track_caller]
    pub(crate) fn remember(&self, script: &str) -> String {
        run(sh(script).workspace(self.path("space/agent")))
    }

    /// Everything, as commands see it: of the workspace, and of the agent's directory.
    #[track_caller]
    pub(crate) fn seen(&self) -> (String, String) {
        (self.action(LISTING), self.remember(LISTING))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        Space::destroy_at(&self.path("space")).expect("a space that can be destroyed");
    }
}

const DEEDS: &str = "echo more >> text; rm gone; rm -r tree; mkdir tree; echo new > tree/new; rm -r whole; \
                     mv moved elsewhere; mv directory renamed; ln -s text link; ln text twin; chmod 700 tool; \
                     mkdir -p new/deep; printf 'a\\0b' > new/deep/binary; touch -d @1 new/old; \
                     head -c 3000000 /dev/zero > zeros; printf x | tee \"$(printf 'odd\\nname')\"";

const HAVOC: &str = "rm -rf ./* ; echo x > tree; mkdir text gone; echo y > text/inner; ln -s / link; mkfifo pipe";

fn the_next_cage_sees_exactly_what_was_there_at_the_snapshot() {
    let world = World::new();
    world.action(DEEDS);
    world.remember("echo thought > memory; mkdir notes; echo plan > notes/plan");
    let (seen, record) = (world.seen(), world.space().snapshot(1).expect("a snapshot"));
    world.action(HAVOC);
    world.remember("echo poisoned > memory; rm -r notes");
    assert_ne!(world.seen(), seen);
    world.space().restore(1, &record).expect("the way back");
    assert_eq!(world.seen(), seen);
    assert_eq!(world.space().state().expect("a state"), record.state());
    assert_eq!(text(&world.path("base/text")), "text\n", "the base is never written");
    world.action("echo on >> tree/new; rm link; mv renamed directory; echo again > gone");
}

fn every_snapshot_of_a_run_can_be_gone_back_to_and_worked_on_from() {
    let world = World::new();
    let mut taken = vec![(world.seen(), world.space().snapshot(0).expect("a snapshot"))];
    for (number, script) in (1..).zip([DEEDS, "echo two > two; rm -r tree", HAVOC]) {
        world.action(script);
        world.remember(&format!("echo {number} >> memory"));
        taken.push((world.seen(), world.space().snapshot(number).expect("a snapshot")));
    }
    for number in [1_u8, 3, 0, 2, 1] {
        let (seen, record) = &taken[usize::from(number)];
        world.space().restore(number.into(), record).expect("the way back");
        // The pipe is not saved.
        let without_pipes = |seen: &(String, String)| {
            let lines: Vec<_> = seen.0.lines().filter(|line| !line.starts_with('p')).map(str::to_owned).collect();
            (lines, seen.1.clone())
        };
        assert_eq!(without_pipes(&world.seen()), without_pipes(seen), "{number}");
    }
}

fn what_children_of_a_command_did_is_saved_and_undone() {
    let world = World::new();
    world.action("(sh -c 'echo by a child > child; (setsid sh -c \"echo by a grandchild > grandchild\") & wait') ");
    let (seen, record) = (world.seen(), world.space().snapshot(1).expect("a snapshot"));
    world.action("sh -c 'rm child & (echo other > grandchild; mkdir -p of/a/child) & wait'");
    world.space().restore(1, &record).expect("the way back");
    assert_eq!(world.seen(), seen);
}

fn what_a_command_closed_to_everybody_is_saved_and_undone() {
    let world = World::new();
    world.action(
        "mkdir -p closed/inner; echo x > closed/inner/file; echo y > secret; chmod 000 closed/inner/file secret; \
                  chmod 100 closed/inner; chmod 000 closed; mkdir sealed; echo z > sealed/z; chmod 555 sealed",
    );
    let record = world.space().snapshot(1).expect("a snapshot");
    let mode = |name: &str| {
        fs::symlink_metadata(world.path("space/upper").join(name)).map(|meta| meta.permissions().mode() & 0o7777)
    };
    let modes = || ["closed", "secret", "sealed"].map(|name| mode(name).expect("a mode"));
    assert_eq!(modes(), [0o000, 0o000, 0o555]);
    let open = "chmod 700 closed sealed; chmod 700 closed/inner; chmod 600 secret closed/inner/file; ";
    for havoc in ["rm -r closed; echo > closed; rm secret; rm -r sealed", "echo more >> closed/inner/file; rm sealed/z"]
    {
        world.action(&format!("{open}{havoc}"));
        world.space().restore(1, &record).expect("the way back");
        assert_eq!(modes(), [0o000, 0o000, 0o555]);
        assert_eq!(world.space().state().expect("a state"), record.state());
    }
    assert_eq!(world.action(&format!("{open} cat closed/inner/file secret sealed/z")), "x\ny\nz\n");
}

fn a_preview_tells_what_commands_did_and_what_people_did() {
    let world = World::new();
    world.action("echo first > text; echo first > made");
    world.space().snapshot(1).expect("a snapshot");
    world.action("echo second > text; rm made gone; mkdir later; echo x > later/file; chmod 700 tool");
    world.remember("echo x > memory");
    world.person("tree/old", "changed by a person\n");
    world.person("notes", "by a person\n");
    let preview = world.space().preview(1).expect("a preview");
    let told: Vec<_> = preview.workspace.listed.iter().map(|line| format!("{:?} {}", line.effect, line.path)).collect();
    let expected =
        ["Created gone", "Removed later", "Removed later/file", "Created made", "Changed text", "Changed tool"];
    assert_eq!(told, expected);
    assert_eq!((preview.memory.removed, preview.memory.listed[0].effect), (1, Effect::Removed));
    let drift: Vec<_> = preview.drift.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(drift, ["notes", "tree/old"]);
}

fn nothing_is_saved_or_undone_while_a_cage_works() {
    let world = World::new();
    let space = world.space();
    let record = space.snapshot(1).expect("a snapshot");
    let running = start(world.request("sleep 60"));
    let busy = |error| matches!(error, SpaceError::Layer(LayerError::Busy(_)));
    assert!(busy(space.snapshot(2).expect_err("it works")));
    assert!(busy(space.restore(1, &record).expect_err("it works")));
    drop(running);
    space.restore(1, &record).expect("it has ended");
}

fn outputs_are_handed_on_and_a_space_is_destroyed() {
    let world = World::new();
    world.action("mkdir report; echo '# Findings' > report/final.md; ln -s /etc/passwd report/passwd.md; rm -r tree");
    let space = world.space();
    let outputs = space.outputs(|path: &TreePath| path.as_bytes().ends_with(b".md")).expect("outputs");
    let mut handed_on = Vec::new();
    space.read_output(&outputs[0], &mut handed_on).expect("an output");
    assert_eq!((outputs.len(), handed_on.as_slice()), (1, &b"# Findings\n"[..]));
    space.snapshot(1).expect("a snapshot");
    let gone = space.destroy().expect("nothing is left");
    assert!(gone.removed_files > 3 && !world.path("space").exists());
    assert_eq!(text(&world.path("base/tree/old")), "tree/old\n");
}
