//! Whatever is lost comes back: the control plane, the worker, the agent.

use super::Scene;

const STEPS: [&str; 4] = ["one", "two", "three", "together"];

fn finish(scene: &Scene, run: &str, from: u64) {
    for number in from..=3 {
        scene.stands_at(run, number);
        scene.world.by("ada", &["run", "approve", run]).ok();
    }
    scene.approve_action(run);
    scene.reaches(run, "PENDING_EXPORT");
    super::examples::output_of(scene, run, "report.md");
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", run, "--to", to.to_str().unwrap()]).ok();
    let report = std::fs::read_to_string(to.join("report.md")).unwrap();
    assert_eq!(report, "## one\n\nSection 1.\n## two\n\nSection 2.\n## three\n\nSection 3.\n");
    scene.is_gone(run);
}

#[test]
fn e1_an_agent_survives_the_restart_of_the_control_plane() {
    let mut scene = Scene::new();
    let mark = format!("mark-{}", std::process::id());
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1", "--launch-arg", &mark]);
    scene.stands_at(&run, 1);
    let processes = crate::support::processes_with(&mark);
    assert!(!processes.is_empty());
    for number in 2..=3 {
        scene.world.kill_control();
        scene.world.serve();
        scene.world.by("ada", &["run", "approve", &run]).ok();
        scene.stands_at(&run, number);
        assert_eq!(crate::support::processes_with(&mark), processes, "the same processes all the time");
    }
    let memory = scene.world.home().join("runs").join(&run).join("space/agent/memory.json");
    let memory: serde_json::Value = serde_json::from_slice(&std::fs::read(memory).unwrap()).unwrap();
    assert_eq!((&memory["starts"], &memory["done"]), (&1.into(), &3.into()), "it was started once");
    finish(&scene, &run, 3);
    assert_eq!(scene.times_of(&run, "run.equipped"), 1, "it was given a token once");
}

#[test]
fn e2_a_run_goes_on_where_it_was_after_its_worker_was_killed() {
    let mut scene = Scene::new();
    // By which its agent is told from those of others.
    let mark = format!("mark-{}", std::process::id());
    let run = scene.start("report.py", &STEPS, &["--every-steps", "1", "--launch-arg", &mark]);
    scene.stands_at(&run, 1);
    let seat = scene.world.home().join("runs").join(&run).join("space/agent");
    assert!(!crate::support::processes_with(&mark).is_empty());
    scene.worker.take().unwrap().kill();
    let gone = || crate::support::processes_with(&mark).is_empty();
    crate::support::eventually("the agent dies with its worker", super::PATIENCE, gone);
    assert!(seat.join("memory.json").exists(), "its files do not");
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.worker = Some(scene.world.worker(&[]));
    finish(&scene, &run, 2);
}

#[test]
fn c6_a_cancelled_run_ends_at_once_and_leaves_nothing() {
    let scene = Scene::new();
    // Nobody else sleeps exactly so long.
    let sleep = format!("sleep 600.{}", std::process::id());
    let script = format!("from placet import Run\nrun = Run()\nrun.wait_for_work()\nrun.act('sh', '{sleep}')\n");
    let run = scene.start_script(&script, &[]);
    scene.approve_action(&run);
    crate::support::eventually("it works", super::PATIENCE, || !crate::support::processes_with(&sleep).is_empty());
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
    assert_eq!(crate::support::processes_with(&sleep), Vec::<String>::new());
}

#[test]
fn d11_the_switch_ends_agents_and_their_actions_and_they_go_on_where_they_were() {
    let scene = Scene::new();
    let sleep = format!("sleep 601.{}", std::process::id());
    let script = format!(
        "from placet import Run, remembered, remember\nrun = Run()\nrun.wait_for_work()\nmemory = remembered()\n\
         if memory['done'] == 0:\n  remember({{'done': 1}})\n  run.act('sh', '{sleep}')\nrun.finish('the second time')\n"
    );
    let run = scene.start_script(&script, &[]);
    scene.approve_action(&run);
    let sleeps = || !crate::support::processes_with(&sleep).is_empty();
    crate::support::eventually("it works", super::PATIENCE, sleeps);
    scene.world.by("ada", &["kill", "--all", "--reason", "fire"]).ok();
    crate::support::eventually("everything of it has ended", super::PATIENCE, || !sleeps());
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(scene.seen(&run)["status"], "EXECUTING", "it did not fail for that");
    scene.world.by("admin", &["kill", "--release", "--reason", "it is out"]).ok();
    assert_eq!(scene.reaches(&run, "PENDING_EXPORT")["said"], "the second time");
}

#[test]
fn what_cannot_be_started_fails_with_a_reason_and_can_be_cancelled() {
    let scene = Scene::new();
    let new = ["run", "new", "try", "--scope", "all", "--step", "try", "--launch", "/usr/bin/no-such-program"];
    let run = scene.world.json("admin", &new)["id"].as_str().unwrap().to_owned();
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.world.by("admin", &["run", "start", &run]).ok();
    crate::support::eventually("it fails", super::PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    let because = scene.seen(&run)["because"].as_str().unwrap().to_owned();
    assert!(because.contains("no-such-program"), "{because}");
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
}
