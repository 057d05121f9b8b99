//! Standing still: while a run waits for a person, nothing of its agent runs, and then it goes on as if nothing had been.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use super::{PATIENCE, Scene};
use crate::support::{eventually, processes_with};

/// Counts in its memory as fast as it can, beside its work; says in it how often it was started.
const COUNTER: &str = "import threading\n\
from placet import Run, remember, remembered\n\
memory = remembered()\n\
memory['starts'] += 1\n\
remember(memory)\n\
def count():\n  \
  with open('count', 'a') as file:\n    \
    while True:\n      \
      file.write('.')\n      \
      file.flush()\n\
for _ in range(3):\n  \
  threading.Thread(target=count, daemon=True).start()\n\
run = Run()\n\
run.wait_for_work()\n\
if run.env['steps_done'] == 0:\n  \
  run.done(1, 'tried')\n\
while True:\n  \
  run.wait_for_work()\n";

struct Counting<'a> {
    scene: &'a Scene,
    run: String,
}

impl<'a> Counting<'a> {
    fn start(scene: &'a Scene, options: &[&str]) -> Self {
        let run = scene.start_steps(COUNTER, &["try", "again"], options);
        Self { scene, run }
    }

    fn memory(&self, name: &str) -> PathBuf {
        self.scene.world.home().join("runs").join(&self.run).join("space/agent").join(name)
    }

    fn count(&self) -> u64 {
        std::fs::metadata(self.memory("count")).map_or(0, |meta| meta.len())
    }

    fn starts(&self) -> serde_json::Value {
        let memory = std::fs::read(self.memory("memory.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&memory).unwrap()["starts"].clone()
    }

    /// From some moment on, for as long as it is looked at. An agent that runs counts hundreds of times in that time, even on
    /// a machine that is busy with others.
    #[track_caller]
    fn stands_still(&self) {
        eventually("it stands still", PATIENCE, || {
            let before = self.count();
            sleep(Duration::from_secs(1));
            self.count() == before
        });
    }

    #[track_caller]
    fn counts(&self) {
        let before = self.count();
        eventually("it counts", PATIENCE, || self.count() > before);
    }
}

#[test]
fn c10_while_a_run_stands_still_its_agent_does_not_run() {
    let scene = Scene::new();
    let agent = Counting::start(&scene, &["--every-steps", "1"]);
    agent.counts();
    scene.stands_at(&agent.run, 1);
    agent.stands_still();
    scene.world.by("ada", &["run", "approve", &agent.run]).ok();
    agent.counts();
    for _ in 0..2 {
        scene.world.by("admin", &["run", "pause", &agent.run, "--reason", "lunch"]).ok();
        agent.stands_still();
        scene.world.by("admin", &["run", "resume", &agent.run]).ok();
        agent.counts();
    }
    assert_eq!(agent.starts(), 1, "it is the same agent all the time, with all it knows");
    scene.world.by("admin", &["run", "cancel", &agent.run]).ok();
    scene.is_gone(&agent.run);
}

#[test]
fn c10_an_agent_that_stood_still_when_its_worker_was_killed_is_started_again_with_what_it_remembers() {
    let mut scene = Scene::new();
    let mark = format!("mark-{}", std::process::id());
    let run = {
        let agent = Counting::start(&scene, &["--launch-arg", &mark]);
        agent.counts();
        eventually("it works", PATIENCE, || scene.seen(&agent.run)["status"] == "EXECUTING");
        scene.world.by("admin", &["run", "pause", &agent.run, "--reason", "lunch"]).ok();
        agent.stands_still();
        agent.run
    };
    scene.stop_worker();
    eventually("the agent dies with its worker", PATIENCE, || processes_with(&mark).is_empty());
    scene.worker = Some(scene.world.worker(&[]));
    let agent = Counting { scene: &scene, run };
    agent.stands_still();
    assert!(processes_with(&mark).is_empty(), "nothing is started for a run that stands still");
    scene.world.by("admin", &["run", "resume", &agent.run]).ok();
    agent.counts();
    assert_eq!(agent.starts(), 2, "it was started again, and remembers the first time");
    scene.world.by("admin", &["run", "cancel", &agent.run]).ok();
    scene.is_gone(&agent.run);
    assert_eq!(processes_with(&mark), Vec::<String>::new());
}

#[test]
fn c6_a_run_that_is_cancelled_while_its_agent_stands_still_leaves_nothing() {
    let scene = Scene::new();
    let mark = format!("mark-{}", std::process::id());
    let agent = Counting::start(&scene, &["--launch-arg", &mark]);
    agent.counts();
    eventually("it works", PATIENCE, || scene.seen(&agent.run)["status"] == "EXECUTING");
    scene.world.by("admin", &["run", "pause", &agent.run, "--reason", "lunch"]).ok();
    agent.stands_still();
    scene.world.by("admin", &["run", "cancel", &agent.run]).ok();
    scene.is_gone(&agent.run);
    assert_eq!(processes_with(&mark), Vec::<String>::new());
}
