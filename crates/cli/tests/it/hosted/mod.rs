//! Hosted runs: a worker keeps their files and their agents, in cages, with real agents that know nothing but the handshake.

mod asking;
mod canaries;
mod crashing;
mod examples;
mod failing;
mod faults;
mod from_entry;
mod losing;
mod returning;
mod saving;
mod saying;
mod scoped;
mod simulating;
mod standing;
mod surviving;
mod walled;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Process, World, eventually, names_in};

pub(crate) use asking::model;
pub(crate) use examples::output_of;

/// On a machine that others use too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A control plane, people, a scope, and a worker that hosts.
pub(crate) struct Scene {
    pub(crate) world: World,
    worker: Option<Process>,
}

fn agents(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/agents").join(name)
}

impl Scene {
    /// `tools` is added to those that ship.
    pub(crate) fn with_tools(tools: &str) -> Self {
        Self::prepared(tools, |_| {})
    }

    /// The same, with something done to the home before the control plane reads it.
    pub(crate) fn prepared(tools: &str, prepare: impl FnOnce(&World)) -> Self {
        let mut world = World::set_up();
        prepare(&world);
        world.edit("tools.toml", |text| format!("{text}\n{tools}"));
        world.serve();
        world.by("admin", &["project", "new", "alpha"]).ok();
        for (name, role) in [("ada", "reviewer"), ("ben", "reviewer"), ("w1", "worker")] {
            world.by("admin", &["identity", "add", name, "--role", role]).ok();
        }
        let all: toml::Table =
            toml::from_str(&std::fs::read_to_string(world.home().join("tools.toml")).unwrap()).unwrap();
        let names: Vec<String> = all.keys().map(|name| format!("{name:?}")).collect();
        world.write("scope.toml", format!("allow = [\"**\"]\ntools = [{}]", names.join(", ")));
        world.by("admin", &["scope", "lock", "all", "scope.toml"]).ok();
        let worker = Some(world.worker(&[]));
        Self { world, worker }
    }

    pub(crate) fn new() -> Self {
        Self::with_tools("")
    }

    /// A run whose agent is this program of ours. Its plan waits for a reviewer.
    pub(crate) fn founded(&self, script: &str, steps: &[&str], options: &[&str]) -> String {
        let (library, script_file) = (agents("placet.py"), agents(script));
        self.founded_with(&[script_file.to_str().unwrap(), library.to_str().unwrap()], script, steps, options)
    }

    /// The same, approved and started.
    pub(crate) fn start(&self, script: &str, steps: &[&str], options: &[&str]) -> String {
        self.approved_and_started(self.founded(script, steps, options))
    }

    fn founded_with(&self, files: &[&str], script: &str, steps: &[&str], options: &[&str]) -> String {
        let mut args = vec!["run", "new", "do what is asked", "--scope", "all"];
        args.extend(["--launch", "/usr/bin/python3", "--launch-arg", script]);
        args.extend(files.iter().flat_map(|file| ["--agent-file", file]));
        args.extend(steps.iter().flat_map(|step| ["--step", step]));
        args.extend(options);
        self.world.json("admin", &args)["id"].as_str().unwrap().to_owned()
    }

    fn approved_and_started(&self, run: String) -> String {
        self.world.by("ada", &["run", "approve", &run]).ok();
        self.world.by("admin", &["run", "start", &run]).ok();
        run
    }

    /// An agent that was written for this test alone.
    pub(crate) fn start_script(&self, script: &str, options: &[&str]) -> String {
        self.start_steps(script, &["try"], options)
    }

    /// The same, with steps of its own.
    pub(crate) fn start_steps(&self, script: &str, steps: &[&str], options: &[&str]) -> String {
        self.world.write("own.py", script);
        let (own, library) = (self.world.path("own.py"), agents("placet.py"));
        let files = [own.to_str().unwrap(), library.to_str().unwrap()];
        self.approved_and_started(self.founded_with(&files, "own.py", steps, options))
    }

    /// Reads the home again.
    pub(crate) fn restart(&mut self) {
        self.stop_worker();
        self.world.stop_control();
        self.world.serve();
        self.worker = Some(self.world.worker(&[]));
    }

    pub(crate) fn stop_worker(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.kill();
        }
    }

    pub(crate) fn seen(&self, run: &str) -> Value {
        self.world.json("ada", &["run", "show", run])["run"].clone()
    }

    /// Waits until it has failed, and returns why.
    #[track_caller]
    fn fails(&self, run: &str) -> String {
        eventually("it fails", PATIENCE, || self.seen(run)["status"] == "FAILED");
        self.seen(run)["because"].as_str().unwrap().to_owned()
    }

    /// Goes on from a snapshot, once it is back.
    #[track_caller]
    fn goes_on_from(&self, run: &str, snapshot: &str) {
        self.world.by("admin", &["run", "rollback", run, "--to", snapshot, "--reason", "try again", "--yes"]).ok();
        eventually("it can go on", PATIENCE, || self.world.by("ada", &["run", "resume", run]).code == Some(0));
    }

    #[track_caller]
    pub(crate) fn reaches(&self, run: &str, status: &str) -> Value {
        let mut last = Value::Null;
        eventually(&format!("the run is {status}"), PATIENCE, || {
            last = self.seen(run);
            assert!(last["status"] == status || last["status"] != "FAILED", "{last:#}");
            last["status"] == status
        });
        last
    }

    /// Waits for a checkpoint, with what was saved at it.
    #[track_caller]
    pub(crate) fn stands_at(&self, run: &str, number: u64) -> Value {
        let mut last = Value::Null;
        eventually(&format!("it stands at checkpoint {number}"), PATIENCE, || {
            last = self.seen(run);
            assert_ne!(last["status"], "FAILED", "{last:#}");
            let saved = |snapshot: &Value| snapshot["checkpoint"] == number;
            last["checkpoint"] == number && last["snapshots"].as_array().is_some_and(|all| all.iter().any(saved))
        });
        last
    }

    /// Approves whatever action waits in the run.
    #[track_caller]
    pub(crate) fn approve_action(&self, run: &str) {
        let mut waiting = None;
        eventually("an action waits", PATIENCE, || {
            let actions = self.world.json("ada", &["run", "show", run])["actions"].clone();
            let found =
                actions.as_array().unwrap().iter().find(|action| action["status"] == "PENDING_APPROVAL").cloned();
            waiting = found.map(|action| action["id"].as_str().unwrap().to_owned());
            waiting.is_some()
        });
        self.world.confirms("ada", &waiting.unwrap()).ok();
    }

    /// The host's own directory of all runs.
    fn runs(&self) -> Vec<String> {
        let runs = self.world.home().join("runs");
        if runs.exists() { names_in(&runs) } else { Vec::new() }
    }

    /// Nothing of the run is left on its host, and its agent is nobody any more.
    #[track_caller]
    pub(crate) fn is_gone(&self, run: &str) {
        eventually("everything of it was removed", PATIENCE, || self.seen(run)["destroyed"] == true);
        assert_eq!(self.runs(), Vec::<String>::new());
        let agent = self.seen(run)["agent"].clone();
        let identities = self.world.json("admin", &["identity", "list"]);
        let known = identities["identities"].as_array().unwrap().iter().find(|identity| identity["id"] == agent);
        assert_eq!(known.unwrap()["revoked"], true);
        if let Some(worker) = &self.worker {
            assert!(!worker.stderr().contains("panicked"), "{}", worker.stderr());
        }
    }
}
