//! Crashes at every step of the pipeline: control plane and worker are killed as soon as a step is on the record, and the run still
//! comes to its end, with the same result and nothing done twice.

use serde_json::Value;

use super::Scene;
use crate::support::eventually;

const STEPS: [&str; 3] = ["one", "two", "together"];

impl Scene {
    /// Kills both without warning, and starts them again.
    fn crash(&mut self) {
        self.stop_worker();
        self.world.kill_control();
        self.world.serve();
        self.worker = Some(self.world.worker(&[]));
    }

    fn rows(&self, run: &str) -> Vec<Value> {
        self.world.json("admin", &["run", "audit", run])["rows"].as_array().unwrap().clone()
    }

    pub(super) fn times_of(&self, run: &str, event: &str) -> usize {
        self.rows(run).iter().filter(|row| row["event"] == event).count()
    }

    /// What an agent proposed before it was killed may still wait beside what it proposes now.
    #[track_caller]
    fn approve_all_until(&self, run: &str, event: &str) {
        eventually(&format!("{event} is on the record"), super::PATIENCE, || {
            let actions = self.world.json("ada", &["run", "show", run])["actions"].clone();
            for action in actions.as_array().unwrap().iter().filter(|action| action["status"] == "PENDING_APPROVAL") {
                // It may have been decided or become void a moment ago.
                let _ = self.world.by("ada", &["approve", action["id"].as_str().unwrap(), "--yes"]);
            }
            self.times_of(run, event) > 0
        });
    }

    /// As soon as this has happened so often, everything is killed.
    #[track_caller]
    fn crash_after(&mut self, run: &str, event: &str, times: usize) {
        eventually(&format!("{event} is on the record {times} times"), super::PATIENCE, || {
            self.times_of(run, event) >= times
        });
        self.crash();
    }
}

#[test]
fn c7_killed_at_every_step_of_the_pipeline_a_run_still_comes_to_its_end() {
    let mut scene = Scene::new();
    let run = scene.founded("report.py", &STEPS, &["--every-steps", "1", "--budget-actions", "50"]);
    scene.crash_after(&run, "run.submitted", 1);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.crash_after(&run, "run.plan_approved", 1);
    scene.world.by("admin", &["run", "start", &run]).ok();
    scene.crash_after(&run, "run.started", 1);
    for event in ["run.hosted", "run.snapshot_kept", "run.equipped", "run.attached", "job.completed"] {
        scene.crash_after(&run, event, 1);
    }
    for number in 1..=2 {
        scene.stands_at(&run, number);
        scene.crash_after(&run, "run.checkpoint_reached", usize::try_from(number).unwrap());
        scene.stands_at(&run, number);
        scene.world.by("ada", &["run", "approve", &run]).ok();
        scene.crash_after(&run, "run.checkpoint_passed", usize::try_from(number).unwrap());
    }
    scene.approve_all_until(&run, "run.finished");
    scene.crash_after(&run, "run.finished", 1);
    scene.crash_after(&run, "run.collected", 1);
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap()]).ok();
    scene.crash_after(&run, "run.completed", 1);
    scene.is_gone(&run);
    assert_eq!(std::fs::read_to_string(to.join("report.md")).unwrap(), "## one\n\nSection 1.\n## two\n\nSection 2.\n");
    for once in ["run.hosted", "run.attached", "run.finished", "run.completed", "run.destroyed"] {
        assert_eq!(scene.times_of(&run, once), 1, "{once}");
    }
    let redeemed = scene.rows(&run).into_iter().filter(|row| row["event"] == "permit.redeemed");
    let mut actions: Vec<String> = redeemed.map(|row| row["action"].to_string()).collect();
    actions.sort();
    let all = actions.len();
    actions.dedup();
    assert_eq!(actions.len(), all, "no action was begun twice");
    scene.world.stop_control();
    let exported = scene.world.json("admin", &["ledger", "export", "copy", "--offline"]);
    scene.world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap()]).ok();
    scene.world.cli(&["ledger", "scrub"]).ok();
}
