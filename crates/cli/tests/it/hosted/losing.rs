//! What is lost or late on the way between a host and its control plane changes nothing.

use super::Scene;
use crate::support::{Between, Mishap, eventually};

/// Never asleep: whatever is saved of it is another thing a moment later.
const RESTLESS: &str = "import threading, time\nfrom placet import Run, remember, remembered\n\
    def write():\n  while True:\n    remember({'done': 0, 'at': time.time()})\n    time.sleep(0.4)\n\
    run = Run()\nrun.wait_for_work()\nthreading.Thread(target=write, daemon=True).start()\n\
    if run.get(run.path)['steps_done'] == 0:\n  run.done(1, 'the first')\nrun.wait_for_work()\nrun.finish('done')\n";

#[test]
fn c11_a_snapshot_whose_answer_was_lost_stays_the_one_that_is_on_record() {
    let mut scene = Scene::new();
    scene.stop_worker();
    let is_report = |head: &str| {
        head.starts_with("POST /api/v1/runs/") && head.contains("/snapshots HTTP") && head.contains("\"number\":1")
    };
    let between = Between::start(&scene.world.url(), Mishap::AnswerLost, is_report);
    scene.worker = Some(scene.world.worker_at(&between.url, &[]));
    let run = scene.start_script(RESTLESS, &["--every-steps", "1", "--step", "again"]);
    scene.stands_at(&run, 1);
    assert!(between.has_happened());
    // Long enough to have taken it again.
    std::thread::sleep(std::time::Duration::from_secs(3));
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.reaches(&run, "PENDING_EXPORT");
    scene.goes_on_from(&run, "1");
    scene.reaches(&run, "PENDING_EXPORT");
}

#[test]
fn c11_the_files_of_an_action_that_became_void_do_not_reach_the_restored_workspace() {
    let mut scene = Scene::new();
    scene.stop_worker();
    let is_fetch = |head: &str| head.starts_with("GET /api/v1/projects/");
    let script = "from placet import Run, remember, remembered\nrun = Run()\nrun.wait_for_work()\n\
                  late = run.provide('late.md', b'too late')\nrun.act('sh', 'cp late.md copy.md', files=[late])\n\
                  run.finish('done')\n";
    let run = scene.start_script(script, &[]);
    scene.worker = Some(scene.world.worker(&[]));
    // Its agent and library are fetched by the first worker; the second one is held up at the file of the action.
    eventually("its agent works", super::PATIENCE, || scene.seen(&run)["status"] == "EXECUTING");
    scene.stop_worker();
    let between = Between::start(&scene.world.url(), Mishap::HeldUp, is_fetch);
    scene.worker = Some(scene.world.worker_at(&between.url, &[]));
    eventually("it fetches the file", super::PATIENCE, || {
        let actions = scene.world.json("ada", &["run", "show", &run])["actions"].clone();
        for action in actions.as_array().unwrap().iter().filter(|action| action["status"] == "PENDING_APPROVAL") {
            let _ = scene.world.by("ada", &["approve", action["id"].as_str().unwrap(), "--yes"]);
        }
        between.has_happened()
    });
    scene.world.by("admin", &["run", "rollback", &run, "--to", "0", "--reason", "not so", "--yes"]).ok();
    eventually("it is back", super::PATIENCE, || {
        let trail = scene.world.json("admin", &["run", "audit", &run]);
        trail["rows"].as_array().unwrap().iter().any(|row| row["event"] == "run.restored")
    });
    between.let_go();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let upper = scene.world.home().join("runs").join(&run).join("space/upper");
    assert_eq!(crate::support::names_in(&upper), Vec::<String>::new(), "nothing of what is void");
}
