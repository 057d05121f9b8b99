//! What a host cannot do is said, and fails the run: nothing hangs, nothing is repeated for ever, nothing begins again from nothing.

use std::fs;
use std::time::Duration;

use placet_domain::digest::Digest;

use super::Scene;
use crate::support::{Process, eventually};

const STEPS: [&str; 4] = ["one", "two", "three", "together"];

#[test]
fn c19_more_outputs_than_can_be_recorded_fail_the_run_and_it_says_what_to_do() {
    let scene = Scene::new();
    let script = "from placet import Run\nrun = Run()\nrun.wait_for_work()\n\
                  run.act('sh', 'for i in $(seq 700); do echo $i > output-with-a-name-$i; done')\nrun.finish('many')\n";
    let run = scene.start_script(script, &[]);
    scene.approve_action(&run);
    let because = scene.fails(&run);
    assert!(because.contains("700 files") && because.contains("packed together"), "{because}");
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}

#[test]
fn e2_a_definite_no_to_a_host_fails_the_run_with_the_reason() {
    let mut scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    let agent = scene.stands_at(&run, 1)["agent"].as_str().unwrap().to_owned();
    scene.stop_worker();
    scene.world.by("admin", &["identity", "revoke", &agent]).ok();
    // The revocation paused it; a person lets it go on all the same.
    scene.world.by("ada", &["run", "resume", &run]).ok();
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.worker = Some(scene.world.worker(&[]));
    let because = scene.fails(&run);
    assert!(because.contains("revoked"), "{because}");
    let trail = scene.world.json("admin", &["run", "audit", &run]);
    let equipped = trail["rows"].as_array().unwrap().iter().filter(|row| row["event"] == "run.equipped").count();
    assert_eq!(equipped, 1, "nothing is recorded of what was not done");
}

#[test]
fn e2_a_run_whose_files_are_elsewhere_fails_instead_of_beginning_anew() {
    let mut scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    scene.stands_at(&run, 1);
    scene.stop_worker();
    let (runs, elsewhere) = (scene.world.home().join("runs"), scene.world.path("elsewhere"));
    fs::rename(&runs, &elsewhere).unwrap();
    scene.worker = Some(scene.world.worker(&[]));
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let because = scene.fails(&run);
    assert!(because.contains("its files are not here") && because.contains("--runs"), "{because}");
    scene.stop_worker();
    let _ = fs::remove_dir_all(&runs);
    fs::rename(&elsewhere, &runs).unwrap();
    scene.worker = Some(scene.world.worker(&[]));
    scene.goes_on_from(&run, "1");
    scene.stands_at(&run, 2);
}

#[test]
fn c11_after_a_restart_of_the_machine_a_run_goes_on_only_from_a_snapshot() {
    let mut scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    scene.stands_at(&run, 1);
    scene.stop_worker();
    fs::write(scene.world.home().join("runs").join(&run).join("space/boot"), "another start of the machine").unwrap();
    scene.worker = Some(scene.world.worker(&[]));
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let because = scene.fails(&run);
    assert!(because.contains("the machine was restarted") && because.contains("roll it back"), "{because}");
    scene.goes_on_from(&run, "1");
    scene.stands_at(&run, 2);
}

#[test]
fn c11_a_snapshot_that_could_not_be_brought_back_fails_the_run_and_names_the_file() {
    let scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    scene.stands_at(&run, 1);
    // What is kept under the digest of the next section is as long as that, and something else: a disk that rotted.
    let next = "## two\n\nSection 2.\n";
    let digest = Digest::of(next.as_bytes()).to_string();
    let (shelf, name) = digest.strip_prefix("sha256:").unwrap().split_at(2);
    let shelf = scene.world.home().join("runs").join(&run).join("space/objects").join(shelf);
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join(name), "x".repeat(next.len())).unwrap();
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let because = scene.fails(&run);
    assert!(because.contains("2.md") && because.contains("did not come back as it was"), "{because}");
    let kept = scene.seen(&run)["snapshots"].as_array().unwrap().len();
    assert_eq!(kept, 2, "what was not proven is no snapshot: only the first one and that of checkpoint 1 are");
    scene.goes_on_from(&run, "1");
    let seen = scene.stands_at(&run, 3);
    assert_eq!(seen["steps_done"], 2, "once the content is kept anew, it is saved");
}

#[test]
fn e2_a_second_worker_does_not_touch_the_runs_of_the_first() {
    let scene = Scene::new();
    let mut command = scene.world.command(&["--as", "w1", "work"]);
    let mut second = Process::start(&mut command);
    let ended = second.wait(super::PATIENCE);
    assert_eq!(ended.code(), Some(9), "{}", second.stderr());
    eventually("it says why", super::PATIENCE, || second.stderr().contains("another worker"));
    // One that hosts nothing is in nobody's way.
    drop(scene.world.worker(&["--host", "0"]));
}

#[test]
fn e2_a_worker_stops_at_once_while_its_control_plane_is_away() {
    let mut scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    scene.stands_at(&run, 1);
    scene.world.kill_control();
    let log = || scene.worker.as_ref().unwrap().stderr();
    eventually("it notices", super::PATIENCE, || log().contains("trying again"));
    let mut worker = scene.worker.take().unwrap();
    let ended = worker.interrupt("TERM", Duration::from_secs(10));
    assert!(ended.success(), "{}", worker.stderr());
    assert!(!worker.stderr().contains("panicked"), "{}", worker.stderr());
}
