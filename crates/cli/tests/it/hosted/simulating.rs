//! Simulation is the execution: what a run would do outside is shown, and done exactly so when somebody says so; what it changed in its
//! own copy of people's files is made in theirs, unless they changed them meanwhile.

use std::fs;
use std::path::Path;

use super::{PATIENCE, Scene, output_of};
use crate::support::{eventually, names_in};

/// Mail here is a file that appears.
const MAIL: &str = "[mail]\nprogram = \"/usr/bin/touch\"\nkind = \"send_email\"\n";

fn agent(body: &str) -> String {
    format!("from placet import Run\nrun = Run()\nrun.wait_for_work()\n{body}\nrun.finish('done')\n")
}

#[test]
fn c2_what_a_simulation_would_have_sent_is_sent_once_when_somebody_says_so() {
    let scene = Scene::with_tools(MAIL);
    let run = scene.start_script(&agent("run.act('mail', 'sent.txt')"), &["--mode", "simulation"]);
    scene.reaches(&run, "PENDING_EXPORT");
    let shown = scene.world.by("ada", &["run", "effects", &run]).ok();
    assert!(shown.out().contains("send_email") && shown.out().contains("/usr/bin/touch sent.txt"), "{}", shown.out());
    scene.world.by("admin", &["run", "perform", &run, "--yes"]).exits(3);
    let decided = scene.world.json("ada", &["run", "perform", &run, "--yes"]);
    assert_eq!(decided[0]["status"], "APPROVED", "who says so approves it");
    eventually("it was done", PATIENCE, || scene.seen(&run)["performed"] == 1);
    output_of(&scene, &run, "sent.txt");
    assert!(scene.world.json("ada", &["run", "effects", &run])["effects"].as_array().unwrap().is_empty());
    scene.world.json("ada", &["run", "perform", &run, "--yes"]);
    let audit = scene.world.by("ada", &["run", "audit", &run]).ok();
    assert_eq!(audit.out().matches("permit.redeemed").count(), 1, "{}", audit.out());
    scene.world.by("ada", &["run", "complete", &run]).ok();
    scene.is_gone(&run);
}

#[test]
fn c2_what_is_performed_writes_over_nothing_of_the_results() {
    let scene = Scene::with_tools(MAIL);
    let body = "one = run.provide('report.txt', b'first')\ntwo = run.provide('report.txt', b'second')\n\
        run.act('mail', 'sent.txt', files=[one])\nrun.act('cp', 'report.txt', 'copy.txt', files=[two], outputs=['copy.txt'])";
    let run = scene.start_script(&agent(body), &["--mode", "simulation"]);
    scene.reaches(&run, "PENDING_EXPORT");
    output_of(&scene, &run, "copy.txt");
    let decided = scene.world.json("ada", &["run", "perform", &run, "--yes"]);
    let action = decided[0]["id"].as_str().unwrap().to_owned();
    scene.world.reaches(&action, &["FAILED"]);
    let shown = scene.world.by("ada", &["show", &action]).ok();
    assert!(shown.out().contains("another one by now"), "{}", shown.out());
    let seen = scene.seen(&run);
    assert_eq!((&seen["performed"], seen["performing"].get(0)), (&0.into(), None));
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap()]).ok();
    assert_eq!(fs::read_to_string(to.join("report.txt")).unwrap(), "second", "the results are as they were seen");
}

/// A folder of people: the agent changes one file, makes one, removes one and leaves one.
fn shared(scene: &Scene) -> std::path::PathBuf {
    let folder = scene.world.path("docs");
    fs::create_dir_all(folder.join("sub")).unwrap();
    for (path, text) in [("keep.md", "keep\n"), ("sub/change.md", "old\n"), ("remove.md", "away\n")] {
        fs::write(folder.join(path), text).unwrap();
    }
    folder
}

const CHANGES: &str = "one = run.provide('new.txt', b'new\\n')\n\
    run.act('executable', 'keep.md')\n\
    run.act('cp', 'new.txt', 'sub/change.md', files=[one], outputs=['sub/change.md'])\n\
    run.act('remove', 'remove.md')";

/// Removing is not one of those that always ask, here.
const REMOVE: &str = "[remove]\nprogram = \"/usr/bin/unlink\"\nkind = \"execute_code\"\n\
    [executable]\nprogram = \"/usr/bin/chmod\"\nprefix = [\"755\"]\nkind = \"modify_file\"\n";

fn changed(scene: &Scene) -> (String, std::path::PathBuf) {
    let folder = shared(scene);
    let inside = folder.join(".");
    let options = ["--mode", "simulation", "--input", inside.to_str().unwrap()];
    let run = scene.start_script(&agent(CHANGES), &options);
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    output_of(scene, &run, "sub/change.md");
    (run, folder)
}

fn text(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_default()
}

#[test]
fn c19_what_a_run_changed_is_made_in_the_folder_it_was_given_byte_for_byte() {
    let scene = Scene::with_tools(REMOVE);
    let (run, folder) = changed(&scene);
    let onto = folder.to_str().unwrap();
    let shown = scene.world.by("ada", &["run", "export", &run, "--onto", onto, "--preview"]).ok();
    for part in ["changes  sub/change.md", "creates  new.txt", "removes  remove.md", "old", "new"] {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
    assert_eq!(scene.seen(&run)["status"], "PENDING_EXPORT", "to look decides nothing");
    scene.world.by("ada", &["run", "export", &run, "--onto", onto]).ok();
    assert_eq!(names_in(&folder), ["keep.md", "new.txt", "sub"]);
    assert_eq!((text(&folder, "keep.md"), text(&folder, "sub/change.md")), ("keep\n".into(), "new\n".into()));
    let mode = fs::metadata(folder.join("keep.md")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o111, 0o111, "it can be run now");
    let again = scene.world.by("ada", &["run", "export", &run, "--onto", onto]).ok();
    assert!(again.out().contains("0 changes"), "{}", again.out());
    assert!(names_in(folder.parent().unwrap()).iter().all(|name| !name.contains("placet-onto")));
}

#[test]
fn c2_what_people_changed_meanwhile_is_drift_and_nothing_is_touched() {
    let scene = Scene::with_tools(REMOVE);
    let (run, folder) = changed(&scene);
    fs::write(folder.join("sub/change.md"), "theirs\n").unwrap();
    let onto = folder.to_str().unwrap();
    let refused = scene.world.by("ada", &["run", "export", &run, "--onto", onto]).exits(9);
    assert!(refused.stderr.contains("sub/change.md"), "{}", refused.stderr);
    assert_eq!(text(&folder, "sub/change.md"), "theirs\n");
    assert_eq!(names_in(&folder), ["keep.md", "remove.md", "sub"], "nothing at all");
    assert_eq!(scene.seen(&run)["status"], "PENDING_EXPORT", "and nobody has decided anything");
    fs::write(folder.join("sub/change.md"), "old\n").unwrap();
    scene.world.by("ada", &["run", "reject-results", &run, "--reason", "not yet"]).ok();
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.world.by("ada", &["run", "export", &run, "--onto", onto]).exits(9);
    assert_eq!(names_in(&folder), ["keep.md", "remove.md", "sub"], "nobody approved that anything is removed");
}
