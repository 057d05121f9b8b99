//! The way back: files, memory and place in the plan return, and the agent goes on from there.

use std::collections::BTreeMap;

use placet_domain::digest::Digest;

use super::Scene;
use crate::support::names_in;

const STEPS: [&str; 5] = ["one", "two", "three", "four", "together"];

fn snapshot_at(seen: &serde_json::Value, checkpoint: u64) -> String {
    let mut all = seen["snapshots"].as_array().unwrap().iter();
    all.find(|snapshot| snapshot["checkpoint"] == checkpoint).unwrap()["number"].to_string()
}

/// The files of the run on its host, each with the digest of its bytes.
fn made_by(scene: &Scene, run: &str) -> BTreeMap<String, Digest> {
    let upper = scene.world.home().join("runs").join(run).join("space/upper");
    let files = names_in(&upper).into_iter().filter(|name| upper.join(name).is_file());
    files.map(|name| (name.clone(), Digest::of(&std::fs::read(upper.join(&name)).unwrap()))).collect()
}

#[test]
fn c11_a_run_returns_to_an_earlier_checkpoint_with_its_files_its_memory_and_its_place_in_the_plan() {
    let scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    scene.stands_at(&run, 1);
    let at_one = made_by(&scene, &run);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.stands_at(&run, 2);
    let at_two = made_by(&scene, &run);
    assert_eq!(at_two.len(), at_one.len() + 1, "each step makes a section");
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let at_three = scene.stands_at(&run, 3);
    let back = snapshot_at(&at_three, 1);
    scene
        .world
        .by("admin", &["run", "rollback", &run, "--to", &back, "--reason", "section two is wrong", "--yes"])
        .ok();
    let rolled = scene.reaches(&run, "ROLLED_BACK");
    assert_eq!(rolled["steps_done"], 1);
    // Going on from a snapshot skips a checkpoint: that takes a reviewer, and only once everything is back.
    scene.world.by("admin", &["run", "resume", &run]).exits(3);
    crate::support::eventually("it is back", super::PATIENCE, || scene.times_of(&run, "run.restored") == 1);
    assert_eq!(made_by(&scene, &run), at_one, "to the byte");
    scene.world.by("ada", &["run", "resume", &run]).ok();
    let again = scene.stands_at(&run, 4);
    assert_eq!((&again["steps_done"], &again["said"]), (&2.into(), &"wrote two".into()), "it went on where it was");
    assert_eq!(made_by(&scene, &run), at_two, "the same work makes the same bytes");
    for number in 5..=6 {
        scene.world.by("ada", &["run", "approve", &run]).ok();
        scene.stands_at(&run, number);
    }
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    let trail = scene.world.json("admin", &["run", "audit", &run]);
    let happened = |event: &str| trail["rows"].as_array().unwrap().iter().filter(|row| row["event"] == event).count();
    assert_eq!((happened("run.rolled_back"), happened("run.restored")), (1, 1), "the way back is in the record");
}

#[test]
fn c11_a_finished_run_and_a_failed_one_can_go_back_too() {
    let scene = Scene::new();
    let script = "from placet import Run, remembered, remember\nrun = Run()\nmemory = remembered()\nrun.wait_for_work()\n\
                  if memory['done'] == 0:\n  remember({'done': 1})\n  raise SystemExit('I forgot what to do')\n\
                  run.finish('done')\n";
    let run = scene.start_script(script, &[]);
    let mut failed = serde_json::Value::Null;
    crate::support::eventually("it fails", super::PATIENCE, || {
        failed = scene.seen(&run);
        failed["status"] == "FAILED"
    });
    let because = failed["because"].as_str().unwrap();
    assert!(because.contains("ended with code 1") && because.contains("I forgot what to do"), "{because}");
    for _ in 0..2 {
        scene.world.by("admin", &["run", "rollback", &run, "--to", "0", "--reason", "try again", "--yes"]).ok();
        crate::support::eventually("it can go on", super::PATIENCE, || {
            scene.world.by("ada", &["run", "resume", &run]).code == Some(0)
        });
        // Its memory is gone with the rollback, so it fails for the same reason.
        crate::support::eventually("it fails again", super::PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    }
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}
