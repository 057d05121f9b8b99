//! Crashes before and after everything that changes something: a planned run whose control plane, or whose host, ends at every such
//! moment comes to its end, and what must be so is so each time.

mod invariants;
mod killing;
mod people;
mod restarting;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use placet_testkit::rounds;

use super::Scene;
use super::from_entry::entry;
use crate::support::{Process, names_in, placet};
use invariants::Invariants;
use killing::Killing;
use people::People;
use restarting::Restarting;

impl Scene {
    /// People and a worker, with an agent of the team's own in the catalogue.
    fn with_writer() -> Self {
        let mut scene = Self::new();
        entry(&scene, "report.py");
        scene.restart();
        scene
    }

    fn project(&self) -> String {
        self.world.json("admin", &["project", "list"])["projects"][0]["id"].as_str().unwrap().to_owned()
    }

    /// What was asked for came out of it, and nothing else is left of it anywhere.
    fn came_to_its_end(&self, run: &str) {
        let to = self.world.path("results");
        self.world.by("ada", &["run", "export", run, "--to", to.to_str().unwrap()]).ok();
        assert_eq!(fs::read_to_string(to.join("report.md")).unwrap(), "## the question\n\nSection 1.\n");
        self.is_gone(run);
        let identities = self.world.json("admin", &["identity", "list"]);
        let agents =
            identities["identities"].as_array().unwrap().iter().filter(|identity| identity["roles"][0] == "agent");
        for agent in agents {
            assert_eq!(agent["revoked"], true, "nobody is left over: {agent}");
        }
    }
}

/// Where processes have ended so far: `before` or `after`, and what.
fn ends(file: &Path) -> BTreeSet<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether a process ended on this side of a commit with this in it.
fn is_of(end: &str, side: &str, what: &str) -> bool {
    end.strip_prefix(side).is_some_and(|commit| commit.trim().split(", ").any(|entry| entry == what))
}

#[test]
fn c7_ended_before_and_after_every_commit_of_a_planned_run_the_control_plane_loses_nothing_and_does_nothing_twice() {
    let mut scene = Scene::with_writer();
    let (project, mut people) = (scene.project(), People::of(&scene));
    scene.world.stop_control();
    let (dir, home) = (scene.world.dir().to_owned(), scene.world.home());
    let points = scene.world.path("crash-points");
    let file = points.clone();
    let most_of_a_kind = rounds(2, 4);
    let serve = move || {
        let mut command = placet();
        command.current_dir(&dir).arg("serve").env("PLACET_CRASH_POINTS", &file);
        command.env("PLACET_CRASH_POINTS_OF_A_KIND", most_of_a_kind.to_string());
        command
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let handle = runtime.handle().clone();
    let mut invariants = Invariants::new(home, people.books.clone());
    let control = Restarting::start(serve, move || handle.block_on(invariants.hold()));
    let run = runtime.block_on(async {
        let run = people.plan(&project).await;
        people.finish(|| control.goes_on()).await;
        run
    });
    scene.came_to_its_end(&run);
    let crashes = control.stop();
    let mut after = Invariants::new(scene.world.home(), people.books.clone());
    runtime.block_on(after.hold());
    let ends = ends(&points);
    assert_eq!(ends.len(), crashes, "one for each");
    let ours = |kind: &str| ["run.", "action.", "job.", "permit."].iter().any(|family| kind.starts_with(family));
    for (kind, times) in after.counts().into_iter().filter(|(kind, _)| ours(kind)) {
        // The last of them and all later ones are not told apart.
        for number in 1..=times.min(most_of_a_kind - 1) {
            let passed = |side: &str| ends.iter().any(|end| is_of(end, side, &format!("{kind} {number}")));
            assert!(passed("before") && passed("after"), "{kind} {number} of {times}: {ends:#?}");
        }
    }
    let exported = scene.world.json("admin", &["ledger", "export", "copy", "--offline"]);
    scene.world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap()]).ok();
    assert_eq!(names_in(&scene.world.home().join("runs")), Vec::<String>::new());
    eprintln!("{crashes} crashes");
}

#[test]
fn e2_ended_before_and_after_every_call_of_its_host_a_planned_run_loses_nothing_and_does_nothing_twice() {
    let mut scene = Scene::with_writer();
    scene.stop_worker();
    // Short, so that what was leased to somebody who is gone is soon given to somebody else.
    scene.world.term("lease_ms", 2_000);
    scene.world.stop_control();
    scene.world.serve();
    let token = fs::read_to_string(scene.world.home().join("tokens/w1.token")).unwrap().trim().to_owned();
    let dir = scene.world.dir().to_owned();
    let worker = Killing::start(&scene.world.url(), token.clone(), move |url| {
        let mut command = placet();
        command.env("PLACET_TOKEN", &token);
        command.current_dir(&dir).args(["--server", url, "--as", "w1", "work", "--scratch", "scratch"]);
        Process::start(&mut command)
    });
    let (project, mut people) = (scene.project(), People::of(&scene));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let run = runtime.block_on(async {
        let run = people.plan(&project).await;
        people.finish(|| true).await;
        run
    });
    scene.came_to_its_end(&run);
    let met = worker.met();
    for call in ["host", "agent-token", "leases", "redeem", "complete", "restored", "outputs", "destroyed"] {
        for side in ["before", "after"] {
            assert!(met.contains(&format!("{side} {call}")), "{side} {call}: {met:#?}");
        }
    }
    assert!(met.iter().filter(|call| call.starts_with("after snapshots")).count() >= 3, "{met:#?}");
    worker.stop();
    scene.world.stop_control();
    let mut invariants = Invariants::new(scene.world.home(), people.books.clone());
    runtime.block_on(invariants.hold());
    let exported = scene.world.json("admin", &["ledger", "export", "copy", "--offline"]);
    scene.world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap()]).ok();
    eprintln!("{} kills", met.len());
}
