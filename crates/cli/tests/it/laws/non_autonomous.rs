//! NON_AUTONOMOUS: a person decides at the start, at checkpoints, before external actions, about money, and at the end.

use super::agent;
use crate::hosted::Scene;

#[test]
fn c1_non_autonomous_nothing_starts_before_a_person_approved_the_plan() {
    let scene = Scene::new();
    let run = scene.founded("report.py", &["one", "two"], &[]);
    scene.world.by("admin", &["run", "start", &run]).exits(9);
    // Whoever made it does not approve it.
    scene.world.by("admin", &["run", "approve", &run]).exits(3);
    assert_eq!(scene.seen(&run)["status"], "PENDING_APPROVAL");
    assert!(!scene.world.home().join("runs").join(&run).exists(), "no file was made for it");
}

#[test]
fn c1_non_autonomous_an_agent_does_not_pass_its_own_checkpoint() {
    let scene = Scene::new();
    let body = "run.post(run.path + '/checkpoints', {'summary': 'look'})\n\
        for verb, body in [('approve', {}), ('modify', {'note': 'x'}), ('reject', {'reason': 'x'}), ('rollback', {'reason': 'x'})]:\n  try:\n    \
        run.post(run.path + '/checkpoints/1/' + verb, body)\n    said.append(verb)\n  except Refused as refused:\n    said.append(str(refused.status))\n\
        try:\n  run.post(run.path + '/actions', {'tool': 'ls'})\n  said.append('acted')\nexcept Refused as refused:\n  said.append(str(refused.status))\n\
        run.wait_for_work()";
    let run = scene.start_script(&agent(body), &[]);
    scene.stands_at(&run, 1);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(scene.seen(&run)["status"], "CHECKPOINT_REACHED");
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    let said = seen["said"].as_str().unwrap();
    // It may have been made to stand still between any two of its tries.
    assert!(["403\n403\n403\n403\n409", "403\n403\n403\n403\nacted"].contains(&said), "{said}");
    let audit = scene.world.json("ada", &["run", "audit", &run])["rows"].clone();
    let place = |event: &str| audit.as_array().unwrap().iter().position(|row| row["event"] == event);
    let (passed, proposed) = (place("run.checkpoint_passed").unwrap(), place("action.proposed"));
    assert!(proposed.is_none_or(|proposed| proposed > passed), "while it stands still, nothing is taken from it");
}

#[test]
fn c1_non_autonomous_most_of_the_budget_is_a_question_and_all_of_it_a_stop() {
    let scene = Scene::new();
    let body = "for n in range(12):\n  said.append(run.act('ls'))";
    let run = scene.start_script(&agent(body), &["--budget-actions", "10"]);
    let seen = scene.stands_at(&run, 1);
    assert_eq!(seen["budget"]["spent"]["actions"], 8, "at 80 % a person is asked");
    scene.world.by("ada", &["run", "approve", &run]).ok();
    let stopped = scene.reaches(&run, "PAUSED");
    assert_eq!(stopped["budget"]["spent"]["actions"], 10);
    assert_ne!(scene.world.by("admin", &["run", "resume", &run]).code, Some(0), "there is nothing left");
    scene.world.by("ada", &["run", "budget", &run, "--budget-actions", "50"]).ok();
    scene.world.by("admin", &["run", "resume", &run]).ok();
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    assert_eq!(seen["said"].as_str().unwrap().lines().count(), 12);
}
