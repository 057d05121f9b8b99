//! The way back: files, memory and place in the plan return, and the agent goes on from there.

use super::Scene;

const STEPS: [&str; 5] = ["one", "two", "three", "four", "together"];

fn snapshot_at(seen: &serde_json::Value, checkpoint: u64) -> String {
    snapshot(seen, checkpoint)["number"].to_string()
}

fn snapshot(seen: &serde_json::Value, checkpoint: u64) -> &serde_json::Value {
    seen["snapshots"].as_array().unwrap().iter().find(|snapshot| snapshot["checkpoint"] == checkpoint).unwrap()
}

#[test]
fn c11_a_run_returns_to_an_earlier_checkpoint_with_its_files_its_memory_and_its_place_in_the_plan() {
    let scene = Scene::new();
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1"]);
    for number in 1..=3 {
        scene.stands_at(&run, number);
        if number < 3 {
            scene.world.by("ada", &["run", "approve", &run]).ok();
        }
    }
    let at_three = scene.seen(&run);
    let back = snapshot_at(&at_three, 1);
    scene.world.by("admin", &["run", "rollback", &run, "--to", &back, "--reason", "section two is wrong"]).ok();
    let rolled = scene.reaches(&run, "ROLLED_BACK");
    assert_eq!(rolled["steps_done"], 1);
    // Going on from a snapshot skips a checkpoint: that takes a reviewer, and only once everything is back.
    scene.world.by("admin", &["run", "resume", &run]).exits(3);
    crate::support::eventually("it can go on", super::PATIENCE, || {
        scene.world.by("ada", &["run", "resume", &run]).code == Some(0)
    });
    let again = scene.stands_at(&run, 4);
    assert_eq!((&again["steps_done"], &again["said"]), (&2.into(), &"wrote two".into()), "it went on where it was");
    assert_eq!(snapshot(&at_three, 2)["files"], snapshot(&again, 4)["files"], "the same work makes the same files");
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
        scene.world.by("admin", &["run", "rollback", &run, "--to", "0", "--reason", "try again"]).ok();
        crate::support::eventually("it can go on", super::PATIENCE, || {
            scene.world.by("ada", &["run", "resume", &run]).code == Some(0)
        });
        // Its memory is gone with the rollback, so it fails for the same reason.
        crate::support::eventually("it fails again", super::PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    }
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}
