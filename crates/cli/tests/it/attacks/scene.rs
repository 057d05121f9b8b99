//! A control plane with people, an agent in a cage of its own, and a run: the ground most attacks take place on.
//!
//! The agent is the real command line in a real cage, with nothing but its token and a door to the API: what it is told
//! is what a hostile agent would be told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item, Manifest, Usage};
use placet_domain::time::Timestamp;
use placet_wire::Client;
use placet_wire::api::{Completion, IdentityView, Job, LeaseRequest, Redemption};
use placet_wire::endpoint::{CompleteJob, LeaseJob, RedeemPermit, ShowCaller, StoreEvidence};
use serde_json::{Value, json};

use super::Ground;
use crate::support::{Process, Said, World, clean};

/// The port of the door in the agent's cage.
const DOOR: u16 = 7_070;

/// Rules and keys: what only people with files of the home may change.
const RULES: [&str; 5] = ["policy", "profiles", "keys", "tools.toml", "placet.toml"];

pub(super) struct Scene {
    pub(super) world: World,
    pub(super) run: String,
    /// A word that is nowhere else: what carries it was written by the attacker.
    pub(super) canary: String,
}

impl Ground for Scene {
    fn begin() -> Self {
        let (world, run) = World::start();
        Self { world, run, canary: format!("canary{}", uuid::Uuid::now_v7().simple()) }
    }

    fn untouchable(&self) -> String {
        let mut found = Vec::new();
        RULES.iter().for_each(|name| digests(&self.world.home().join(name), &mut found));
        found.join("\n")
    }

    /// Whatever was started had been allowed, by the policy or by a reviewer, and its permit counted once.
    fn wrong_in_the_record(&self) -> Option<String> {
        let trail = self.world.json("admin", &["run", "audit", &self.run]);
        unlawful(trail["rows"].as_array().unwrap())
    }
}

/// An action of an audit trail that was started without leave, or more than once.
fn unlawful(rows: &[Value]) -> Option<String> {
    let (mut allowed, mut started) = (BTreeSet::new(), BTreeMap::<&str, usize>::new());
    for row in rows {
        let action = row["action"].as_str().unwrap_or_default();
        match (row["event"].as_str().unwrap(), row["approval_status"].as_str()) {
            (_, Some("tier A" | "approved")) => drop(allowed.insert(action)),
            ("permit.redeemed", _) => *started.entry(action).or_default() += 1,
            _ => {}
        }
    }
    let wrong = started.iter().find(|(action, times)| **times > 1 || !allowed.contains(*action));
    wrong.map(|(action, times)| format!("{action} was started {times} times; allowed: {allowed:?}"))
}

#[test]
fn what_was_started_without_leave_or_twice_is_noticed() {
    let row = |event: &str, status: Option<&str>| json!({ "action": "a", "event": event, "approval_status": status });
    let (yes, start) = (row("action.approved", Some("approved")), row("permit.redeemed", None));
    assert_eq!(unlawful(&[yes.clone(), start.clone()]), None);
    assert!(unlawful(&[row("action.approved", Some("approved in part")), start.clone()]).is_some());
    assert!(unlawful(&[yes, start.clone(), start]).is_some());
}

#[test]
fn the_record_calls_it_by_that_name() {
    let scene = Scene::begin();
    let _worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", "true"]);
    assert_eq!(scene.world.times(&scene.run, &done.id, "permit.redeemed"), 1);
}

fn digests(path: &Path, found: &mut Vec<String>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| digests(entry, found));
    } else {
        found.push(format!("{} {}", path.display(), Digest::of(&std::fs::read(path).unwrap())));
    }
}

/// What a command came to: how it ended and what it said, or that it was done.
pub(super) fn ended(said: &Said) -> String {
    let error = said.stderr.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&said.stderr);
    match said.code {
        Some(0) => super::DONE.to_owned(),
        code => format!("exit {}: {error}", code.unwrap_or(-1)),
    }
}

pub(super) fn done_if(holds: bool, otherwise: impl FnOnce() -> String) -> String {
    if holds { super::DONE.to_owned() } else { otherwise() }
}

pub(super) fn block_on<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
}

impl Scene {
    fn token(&self, name: &str) -> String {
        let path = self.world.home().join(format!("tokens/{name}.token"));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }

    fn port(&self) -> String {
        self.world.url().rsplit(':').next().unwrap().to_owned()
    }

    /// The agent's own command line, in its cage.
    pub(super) fn agent(&self, args: &[&str]) -> Said {
        let cage = [
            "sandbox",
            "run",
            "--door",
            &format!("{DOOR}=127.0.0.1:{}", self.port()),
            "--read-only",
            concat!(env!("CARGO_BIN_EXE_placet"), ":/opt/placet"),
            "--env",
            &format!("PLACET_TOKEN={}", self.token("tom")),
            "--",
            "/opt/placet",
            "--server",
            &format!("http://127.0.0.1:{DOOR}"),
        ];
        Said::by(self.world.command(&cage).args(args))
    }

    /// What the agent in its cage proposes; the action's id.
    #[track_caller]
    pub(super) fn proposes(&self, args: &[&str]) -> String {
        let said = self.agent(&[&["--json", "action", "propose", &self.run], args].concat()).ok();
        said.json()["id"].as_str().unwrap().to_owned()
    }

    /// A script of the agent's that waits for a person. If it ever runs, it says so.
    #[track_caller]
    pub(super) fn waiting(&self) -> String {
        self.proposes(&["sh", &format!("echo {}", self.canary)])
    }

    /// What `ada` sees of an action at a terminal that shows colour.
    #[track_caller]
    pub(super) fn card(&self, id: &str) -> String {
        let mut show = self.world.command(&["--as", "ada", "show", id]);
        Said::by(show.env("CLICOLOR_FORCE", "1")).ok().out().to_owned()
    }

    /// What a command says at a real terminal.
    #[track_caller]
    pub(super) fn at_a_terminal(&self, args: &[&str]) -> String {
        let quoted: Vec<String> = args.iter().map(|word| format!("'{word}'")).collect();
        let line = format!("'{}' --as ada {}", env!("CARGO_BIN_EXE_placet"), quoted.join(" "));
        let mut command = clean(std::process::Command::new("script"));
        command.current_dir(self.world.dir()).args(["-q", "-e", "-c", &line, "/dev/null"]).stdin(Stdio::null());
        String::from_utf8_lossy(&Said::by(&mut command).ok().stdout).into_owned()
    }

    /// The review digest of an action, as `ada` sees it.
    pub(super) fn review(&self, id: &str) -> String {
        self.world.json("ada", &["show", id])["review"].as_str().unwrap().to_owned()
    }

    /// `ada` approves it.
    pub(super) fn approved(&self, id: &str) -> String {
        ended(&self.world.by("ada", &["approve", id, "--yes"]))
    }

    /// The newest action of the run.
    pub(super) fn newest(&self) -> String {
        let shown = self.world.json("ada", &["run", "show", &self.run]);
        shown["actions"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn worker(&self) -> Process {
        self.world.worker(&[])
    }
}

/// A worker by hand: what a malicious one could send.
pub(super) struct Hand {
    client: Client,
    me: IdentityView,
}

impl Hand {
    pub(super) fn of(scene: &Scene, name: &str) -> Self {
        let client = scene.world.client(name);
        let me = block_on(client.get(ShowCaller {})).unwrap();
        Self { client, me }
    }

    #[track_caller]
    pub(super) fn lease(&self) -> Job {
        let asked = LeaseRequest { wait_ms: 20_000 };
        block_on(self.client.post_maybe(LeaseJob {}, &uuid::Uuid::now_v7().simple().to_string(), &asked))
            .unwrap()
            .expect("something was approved")
    }

    pub(super) fn redeem(&self, job: &Job) {
        let body = Redemption { permit: job.permit.clone() };
        block_on(self.client.post(RedeemPermit { action: job.action }, &body)).unwrap();
    }

    /// Stores bytes as evidence under their digest.
    pub(super) fn keep(&self, job: &Job, bytes: &'static [u8]) {
        let to = StoreEvidence { project: job.project, digest: Digest::of(bytes) };
        block_on(self.client.put_bytes(to, Bytes::from_static(bytes))).unwrap();
    }

    /// A result with one piece of evidence of this name.
    pub(super) fn manifest(&self, job: &Job, name: &str, bytes: &[u8]) -> Manifest {
        let item = Item { name: name.to_owned(), digest: Digest::of(bytes), size_bytes: bytes.len() as u64 };
        Manifest {
            v: 1,
            action: job.action,
            executed: Digest::of(job.sealed.as_bytes()),
            attempt: job.attempt,
            worker: self.me.id,
            started_at: Timestamp::from_unix_ms(1),
            finished_at: Timestamp::from_unix_ms(2),
            exit: Exit::Code(0),
            usage: Usage::default(),
            program: None,
            items: vec![item],
            not_taken: Vec::new(),
        }
    }

    pub(super) fn complete(&self, manifest: &Manifest) {
        let body = Completion { manifest: manifest.clone() };
        block_on(self.client.post(CompleteJob { action: manifest.action }, &body)).unwrap();
    }
}
