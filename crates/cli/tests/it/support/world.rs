//! A world for scenarios: a home, a control plane on a fixed port, people, an agent, and workers where wanted.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use placet_wire::{Client, Token};
use serde_json::Value;

use super::{Process, Said, free_port, placet};

/// Starting takes well under a second; a busy machine may take longer.
const START: Duration = Duration::from_secs(60);

pub(crate) struct World {
    dir: tempfile::TempDir,
    port: u16,
    control: Option<Process>,
    /// Variables that every process of this world finds.
    planted: RefCell<Vec<(String, String)>>,
}

/// One action that came to its end.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) manifest: Value,
}

impl World {
    /// A home that nothing runs in yet.
    pub(crate) fn set_up() -> Self {
        let world =
            Self { dir: tempfile::tempdir().unwrap(), port: free_port(), control: None, planted: RefCell::default() };
        world.cli(&["init", "--address", &format!("127.0.0.1:{}", world.port)]).ok();
        // Tests ask as fast as machines do. What becomes of agents that do, is a scenario of its own.
        ["most_undecided", "most_asked"].iter().for_each(|bound| world.term(bound, 0));
        world
    }

    /// A control plane with a project, a reviewer `ada`, an agent `tom`, a worker `w1` and a run that has been started.
    pub(crate) fn start() -> (Self, String) {
        let mut world = Self::set_up();
        world.serve();
        let run = world.undertake();
        (world, run)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path(".placet")
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Changes a file of the home.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let path = self.home().join(name);
        std::fs::write(&path, change(std::fs::read_to_string(&path).unwrap())).unwrap();
    }

    /// Sets one of the terms in `placet.toml`.
    pub(crate) fn term(&self, name: &str, value: u64) {
        self.edit("placet.toml", |text| {
            let lines = text
                .lines()
                .map(|line| if line.starts_with(name) { format!("{name} = {value}") } else { line.to_owned() });
            lines.collect::<Vec<_>>().join("\n")
        });
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = placet();
        command.current_dir(self.dir.path()).envs(self.planted()).args(args);
        command
    }

    /// Sets a variable for every process of this world from now on.
    pub(crate) fn plant(&self, name: &str, value: &str) {
        self.planted.borrow_mut().push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn planted(&self) -> Vec<(String, String)> {
        self.planted.borrow().clone()
    }

    /// Runs a command as the administrator.
    pub(crate) fn cli(&self, args: &[&str]) -> Said {
        Said::by(&mut self.command(args))
    }

    /// Runs a command as somebody.
    pub(crate) fn by(&self, name: &str, args: &[&str]) -> Said {
        Said::by(self.command(&["--as", name]).args(args))
    }

    /// The JSON answer to a command of somebody.
    #[track_caller]
    pub(crate) fn json(&self, name: &str, args: &[&str]) -> Value {
        Said::by(self.command(&["--json", "--as", name]).args(args)).ok().json()
    }

    pub(crate) fn serve(&mut self) {
        let control = Process::start(&mut self.command(&["serve"]));
        control.line(START, |line| line.starts_with("serving "));
        self.control = Some(control);
    }

    pub(crate) fn kill_control(&mut self) {
        self.control.take().unwrap().kill();
    }

    pub(crate) fn stop_control(&mut self) {
        let status = self.control.take().unwrap().interrupt("TERM", Duration::from_secs(30));
        assert!(status.success(), "a control plane that is asked to stop does so in order: {status}");
    }

    /// The control plane's process.
    pub(crate) fn control(&self) -> &Process {
        self.control.as_ref().unwrap()
    }

    /// A worker that has reported in.
    pub(crate) fn worker(&self, more: &[&str]) -> Process {
        self.worker_at(&self.url(), more)
    }

    /// The same, for which the control plane is there.
    pub(crate) fn worker_at(&self, url: &str, more: &[&str]) -> Process {
        let scratch = self.path("scratch");
        let mut command = self.command(&["--server", url, "--as", "w1", "work", "--scratch"]);
        // A proxy in between is not the control plane and could not prove its identity, so the token is passed explicitly.
        if url != self.url() {
            command.env("PLACET_TOKEN", self.token("w1"));
        }
        let worker = Process::start(command.arg(scratch).args(more));
        super::eventually("the worker reports in", START, || worker.stderr().contains("working as"));
        worker
    }

    /// The same, which is given so many open files and cannot take more.
    pub(crate) fn worker_within(&self, open_files: u32) -> Process {
        let url = self.url();
        let plain = self.command(&["--server", &url, "--as", "w1", "work", "--scratch"]);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("ulimit -n {open_files} && exec \"$0\" \"$@\"")]);
        command.arg(plain.get_program()).args(plain.get_args()).arg(self.path("scratch")).current_dir(self.dir.path());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let worker = Process::start(&mut command);
        super::eventually("the worker reports in", START, || worker.stderr().contains("working as"));
        worker
    }

    /// Sets everything up and starts a run; returns its id.
    pub(crate) fn undertake(&self) -> String {
        self.undertake_reaching(&["10.0.0.0/24"])
    }

    /// The same, with these targets in its scope.
    pub(crate) fn undertake_reaching(&self, targets: &[&str]) -> String {
        self.cli(&["project", "new", "alpha"]).ok();
        for (name, role) in [("ada", "reviewer"), ("tom", "agent"), ("w1", "worker")] {
            self.cli(&["identity", "add", name, "--role", role]).ok();
        }
        let tools: Vec<String> = self.tools().iter().map(|tool| format!("{tool:?}")).collect();
        self.write(
            "scope.toml",
            format!("allow = [\"out/**\"]\ntargets = {targets:?}\ntools = [{}]", tools.join(", ")),
        );
        self.cli(&["scope", "lock", "all", "scope.toml"]).ok();
        self.run_of("tom")
    }

    /// A run of this agent, started and attached to.
    pub(crate) fn run_of(&self, agent: &str) -> String {
        let run =
            self.json("admin", &["run", "new", "try things", "--scope", "all", "--agent", agent, "--step", "try"]);
        let id = run["id"].as_str().unwrap().to_owned();
        self.by("ada", &["run", "approve", &id]).ok();
        self.cli(&["run", "start", &id]).ok();
        id
    }

    fn tools(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.home().join("tools.toml")).unwrap();
        let tools: toml::Table = toml::from_str(&text).unwrap();
        tools.keys().cloned().collect()
    }

    /// Proposes as `tom`; returns what the control plane answers.
    #[track_caller]
    pub(crate) fn propose(&self, run: &str, args: &[&str]) -> Value {
        let said = Said::by(self.command(&["--json", "--as", "tom", "action", "propose", run]).args(args));
        said.ok().json()
    }

    /// Proposes as `tom` and lets `ada` approve where it needs a person; returns the action's id.
    #[track_caller]
    pub(crate) fn cleared(&self, run: &str, args: &[&str]) -> String {
        let view = self.propose(run, args);
        let id = view["id"].as_str().unwrap().to_owned();
        if view["status"] == "PENDING_APPROVAL" {
            self.by("ada", &["approve", &id, "--yes"]).ok();
        }
        id
    }

    /// Says yes where two people are asked: with the name of the tool, and to what was seen.
    pub(crate) fn confirms(&self, who: &str, id: &str) -> Said {
        let seen = self.json(who, &["show", id]);
        let [tool, review] = ["tool", "review"].map(|name| seen[name].as_str().unwrap());
        self.by(who, &["approve", id, "--yes", "--confirm", tool, "--seen", review])
    }

    /// Proposes, approves and waits until it is over.
    #[track_caller]
    pub(crate) fn perform(&self, run: &str, args: &[&str]) -> Done {
        let id = self.cleared(run, args);
        self.done(&id)
    }

    #[track_caller]
    pub(crate) fn done(&self, id: &str) -> Done {
        self.reaches(id, &["SUCCEEDED", "FAILED"]);
        let manifest = self.json("ada", &["evidence", "list", id]);
        Done { id: id.to_owned(), status: self.status(id), manifest }
    }

    pub(crate) fn status(&self, id: &str) -> String {
        self.json("ada", &["show", id])["status"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn reaches(&self, id: &str, wanted: &[&str]) {
        super::eventually(&format!("{id} becomes {wanted:?}"), START, || wanted.contains(&self.status(id).as_str()));
    }

    /// The bytes of one piece of evidence.
    #[track_caller]
    pub(crate) fn evidence(&self, id: &str, name: &str) -> Vec<u8> {
        self.by("ada", &["evidence", "get", id, name]).ok().stdout
    }

    /// How often something of this kind happened to an action, by the ledger.
    pub(crate) fn times(&self, run: &str, id: &str, event: &str) -> usize {
        let trail = self.json("admin", &["run", "audit", run]);
        trail["rows"].as_array().unwrap().iter().filter(|row| row["event"] == event && row["action"] == id).count()
    }

    /// A client that acts as somebody.
    pub(crate) fn client(&self, name: &str) -> Client {
        Client::new(self.url(), Token::new(self.token(name)))
    }

    pub(crate) fn token(&self, name: &str) -> String {
        std::fs::read_to_string(self.home().join(format!("tokens/{name}.token"))).unwrap().trim().to_owned()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }
}
