//! What agents, reviewers and workers do, as short sentences.

use std::time::Duration;

use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item, Manifest, Usage};
use placet_domain::id::{RunId, WorktreeId};
use placet_domain::proposal::Action;
use placet_domain::time::Timestamp;
use placet_wire::endpoint::{
    AmendAction, ApproveAction, CancelRun, CompleteJob, CreateRun, LeaseJob, ProposeAction, RedeemPermit, RejectAction,
    ResolveAction, SendHeartbeat, ShowAction, StoreEvidence, WithdrawAction,
};
use placet_wire::{Endpoint as _, api};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::person::{Answer, Person};
use crate::scenario::{PATIENCE, Scenario, Team};

/// Tier B: one person must agree.
pub(crate) fn scan() -> Value {
    json!({
        "tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"], "target": "10.0.0.5",
        "justification": "the inventory is from last year",
    })
}

/// Tier C: two people must agree.
pub(crate) fn deletion() -> Value {
    json!({ "tool": "rm", "arguments": ["docs/old.md"] })
}

/// Tier C as well, and no checkpoint: the run goes on while two people think about it.
pub(crate) fn sweep() -> Value {
    json!({ "tool": "nmap", "arguments": ["-sn"], "target": "10.0.0.0/24" })
}

/// Tier B: code that reaches a host of the scope.
pub(crate) fn fetching() -> Value {
    json!({ "tool": "sh", "arguments": ["true"], "network": ["http://10.0.0.5/"] })
}

/// Tier A: nobody is asked.
pub(crate) fn reading() -> Value {
    json!({ "tool": "cat", "arguments": ["README.md"] })
}

/// Tier D: beyond the scope.
pub(crate) fn scan_of_strangers() -> Value {
    json!({ "tool": "nmap", "arguments": ["-sV"], "target": "192.0.2.1" })
}

/// The name of some commit.
pub(crate) fn commit(number: u8) -> String {
    format!("{number:02x}").repeat(20)
}

/// What a worktree is opened with: an agent that may change `src/`, but not `src/secret/`, and nobody changes the Makefile.
pub(crate) fn opening(agent: &str, ticket: &str) -> Value {
    json!({
        "agent": agent, "display_name": agent, "ticket": ticket, "branch": format!("feat/{ticket}-{agent}"),
        "base_branch": "main", "base": commit(1), "path": format!(".worktrees/{ticket}/{agent}"), "layout": "plain",
        "manifest": {
            "scope": { "allow": ["src/**"], "deny": ["src/secret/**"] },
            "protected": [{ "path": "Makefile", "reason": "it runs commands" }],
        },
        "profile": Digest::of(b"profile"), "team": Digest::of(b"team"),
    })
}

/// A report on a definition of done, with these items open.
pub(crate) fn closing(open: &[&str]) -> Value {
    let done = |name: &&str| json!({ "name": name, "holds": !open.contains(name), "detail": "looked at" });
    let items: Vec<Value> = ["scope", "secrets", "commits"].iter().map(done).collect();
    json!({ "tip": commit(2), "report": Digest::of(b"report"), "items": items })
}

pub(crate) fn worktree_of(team: &Team, agent: &str, ticket: &str) -> WorktreeId {
    WorktreeId::of(team.project, &ticket.parse().unwrap(), &agent.parse().unwrap())
}

/// Agents.
impl Person {
    pub(crate) async fn proposes(&self, run: RunId, wish: &Value) -> api::ActionView {
        self.post(&ProposeAction { run }.path(), wish).await.is(201).json()
    }

    pub(crate) async fn withdraws(&self, action: &api::ActionView) -> Answer {
        self.post(&WithdrawAction { action: action.id }.path(), &json!({ "reason": "changed my mind" })).await
    }
}

/// Reviewers.
impl Person {
    pub(crate) async fn approves(&self, action: &api::ActionView) -> Answer {
        self.post_if(&ApproveAction { action: action.id }.path(), action.review, &json!({})).await
    }

    /// Approves with changes to fields of the proposal.
    pub(crate) async fn amends(&self, action: &api::ActionView, changes: Value) -> Answer {
        let body = json!({ "changes": changes, "reason": "safer like this" });
        self.post_if(&AmendAction { action: action.id }.path(), action.review, &body).await
    }

    pub(crate) async fn rejects(&self, action: &api::ActionView) -> Answer {
        let body = json!({ "reason": "not today" });
        self.post_if(&RejectAction { action: action.id }.path(), action.review, &body).await
    }

    pub(crate) async fn resolves(&self, action: &api::ActionView, resolution: &str) -> Answer {
        let body = json!({ "resolution": resolution, "reason": "I looked at the machine" });
        self.post(&ResolveAction { action: action.id }.path(), &body).await
    }

    pub(crate) async fn sees(&self, action: &api::ActionView) -> api::ActionDetail {
        self.get(&ShowAction { action: action.id }.path()).await.is(200).json()
    }

    pub(crate) async fn cancels(&self, run: RunId) -> Answer {
        self.post(&CancelRun { run }.path(), &json!({ "reason": "enough" })).await
    }
}

/// Workers.
impl Person {
    /// Leases what is there now.
    pub(crate) async fn leases(&self) -> Option<api::Job> {
        let answer = self.post(&LeaseJob {}.path(), &json!({})).await;
        (answer.status != 204).then(|| answer.is(200).json())
    }

    pub(crate) async fn redeems(&self, job: &api::Job) -> Answer {
        self.redeems_token(job, &job.permit).await
    }

    pub(crate) async fn redeems_token(&self, job: &api::Job, permit: &str) -> Answer {
        self.post(&RedeemPermit { action: job.action }.path(), &json!({ "permit": permit })).await
    }

    pub(crate) async fn beats(&self, job: &api::Job) -> Answer {
        self.post(&SendHeartbeat { action: job.action }.path(), &json!({ "attempt": job.attempt })).await
    }

    /// Uploads what the program said, and gives the piece of evidence to name in a manifest.
    pub(crate) async fn uploads(&self, job: &api::Job, name: &str, bytes: &'static [u8]) -> Item {
        let digest = Digest::of(bytes);
        self.put(&StoreEvidence { project: job.project, digest }.path(), bytes).await.is(201);
        Item { name: name.to_owned(), digest, size_bytes: bytes.len() as u64 }
    }

    pub(crate) fn manifest(&self, job: &api::Job, items: Vec<Item>) -> Manifest {
        Manifest {
            v: 1,
            action: job.action,
            executed: Action::open(job.sealed.as_bytes()).unwrap().digest(),
            attempt: job.attempt,
            worker: self.id,
            started_at: Timestamp::from_unix_ms(1),
            finished_at: Timestamp::from_unix_ms(2),
            exit: Exit::Code(0),
            usage: Usage::default(),
            program: None,
            items,
            not_taken: Vec::new(),
        }
    }

    pub(crate) async fn reports(&self, job: &api::Job, manifest: &Manifest) -> Answer {
        self.post(&CompleteJob { action: job.action }.path(), &json!({ "manifest": manifest })).await
    }

    /// The whole of a job: redeem, upload, report.
    pub(crate) async fn executes(&self, job: &api::Job) -> api::CompletionView {
        self.redeems(job).await.is(200);
        let output = self.uploads(job, "stdout", b"22/tcp open ssh\n").await;
        self.reports(job, &self.manifest(job, vec![output])).await.is(200).json()
    }
}

pub(crate) fn declaration(version: &str) -> Value {
    json!({ "declaration": {
        "version": version, "host": "<b>lab</b>", "kernel": "6.12\u{202e}", "actions_at_once": 2, "runs_at_once": 4,
        "cage": { "tier": "degraded", "missing": ["landlock"], "means": ["files are kept apart by mounts alone"] },
        "profiles": { "default": Digest::of(b"another cage"), "own": Digest::of(b"own") },
    } })
}

/// A run of the team at work, made with these wishes besides the usual ones.
pub(crate) async fn working(app: &Scenario, wishes: Value) -> api::RunView {
    let team = &app.team;
    let mut new = json!({
        "project": team.project, "goal": "g", "scope": "lab", "agent": team.agent.id, "plan": ["look", "write", "tell"],
    });
    for (key, value) in wishes.as_object().unwrap() {
        new[key] = value.clone();
    }
    let run: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200).json()
}

/// Asks again and again until the answer has this status.
pub(crate) async fn until_status(person: &Person, path: &str, status: u16) -> Answer {
    let asked = async {
        loop {
            let answer = person.get(path).await;
            if answer.status == status {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{path} never answered {status}"))
}

/// Waits for work, and comes back as often as there is no place to wait.
async fn wait_for_work(worker: Person) -> Answer {
    loop {
        let answer = worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 30_000 })).await;
        if !matches!(answer.status, 429 | 503) {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// All of them wait for work, until the set is dropped.
pub(crate) fn waiting(workers: &[Person]) -> JoinSet<Answer> {
    workers.iter().cloned().map(wait_for_work).collect()
}
