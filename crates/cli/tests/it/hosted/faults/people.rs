//! People who bring one planned run to its end, whatever happens to the control plane meanwhile: they look where it stands, decide, and
//! look again. What they were told is done goes into a book.

use crate::support::{AnyGet, AnyPost, AnyPostIf};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{PlanExecution, ShowRun};
use placet_wire::{Client, ClientError};
use serde_json::{Value, json};

use super::super::Scene;

/// How often the control plane acknowledged something of each kind.
pub(super) type Books = Arc<Mutex<BTreeMap<&'static str, usize>>>;

/// Nothing in the run takes so long, except that nobody goes on with it.
const STANDSTILL: Duration = Duration::from_secs(45);

pub(super) struct People {
    admin: Client,
    ada: Client,
    pub(super) books: Books,
    run: String,
    rolled_back: bool,
}

impl People {
    pub(super) fn of(scene: &Scene) -> Self {
        let [admin, ada] = ["admin", "ada"].map(|name| scene.world.client(name));
        Self { admin, ada, books: Books::default(), run: String::new(), rolled_back: false }
    }

    /// States what is wanted, until that is heard: under one name, so that one run is made of it.
    pub(super) async fn plan(&mut self, project: &str) -> String {
        let steps = [("the question", "write_text"), ("put it together", "write_text")];
        let steps = steps.map(|(title, capability)| json!({ "title": title, "capability": capability }));
        let intent = json!({ "goal": "write the report", "mode": "CHECKPOINT", "agent": "writer", "steps": steps });
        let asked = json!({ "project": project, "intent": intent, "scope": "all" });
        let made: Value = loop {
            match self.admin.post_once(AnyPost(PlanExecution {}.path()), "the-report", &asked).await {
                Ok(made) => break made,
                Err(error) => self.is_away(&error).await,
            }
        };
        self.note("run.created");
        self.run = made["execution_id"].as_str().unwrap().to_owned();
        self.run.clone()
    }

    /// Decides whatever waits, until nothing of the run is left but its results.
    pub(super) async fn finish(&mut self, goes_on: impl Fn() -> bool) {
        let (mut last, mut since) = (Value::Null, Instant::now());
        loop {
            assert!(goes_on(), "something was not as it must be after a crash");
            if let Ok(run) = self.ada.get(AnyGet(self.path(""))).await {
                if run["status"] == "COMPLETED" && run["destroyed"] == true {
                    return;
                }
                let seen = self.turn_to(&run).await;
                if seen != last {
                    (last, since) = (seen, Instant::now());
                }
            }
            assert!(since.elapsed() < STANDSTILL, "nothing happens any more: {last:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Does what is to be done now, if anything; returns what was seen.
    async fn turn_to(&mut self, run: &Value) -> Value {
        let actions = self.ada.get(AnyGet(self.path("/actions"))).await.unwrap_or_default()["actions"].clone();
        let review = run["review"].as_str().unwrap_or_default().to_owned();
        match run["status"].as_str().unwrap() {
            "PENDING_APPROVAL" => self.decides("run.plan_approved", &self.path("/approve"), &review, json!({})).await,
            "APPROVED" => self.does("run.started", &self.path("/start"), json!({})).await,
            "CHECKPOINT_REACHED" if !is_saved(run) => {}
            "CHECKPOINT_REACHED" if !self.rolled_back => {
                let back = json!({ "to": 0, "reason": "once more from the beginning" });
                self.does("run.rolled_back", &self.path("/rollback"), back).await;
                self.rolled_back = self.has_noted("run.rolled_back");
            }
            "CHECKPOINT_REACHED" => self.passes(run["checkpoint"].as_u64().unwrap()).await,
            // Its answer was lost, or it is back already.
            "ROLLED_BACK" => {
                self.rolled_back = true;
                self.does("run.resumed", &self.path("/resume"), json!({})).await;
            }
            "PENDING_EXPORT" if run["outputs"].is_array() => {
                self.decides("run.completed", &self.path("/export"), &review, json!({})).await;
            }
            "FAILED" | "CANCELLED" => panic!("{run:#}"),
            _ => self.clears(&actions).await,
        }
        let stands = |action: &Value| action["status"].clone();
        json!([
            run["status"],
            run["steps_done"],
            actions.as_array().map(|all| all.iter().map(stands).collect::<Vec<_>>())
        ])
    }

    async fn passes(&self, number: u64) {
        let Ok(seen) = self.ada.get(AnyGet(self.path("/checkpoint"))).await else { return };
        let path = self.path(&format!("/checkpoints/{number}/approve"));
        self.decides("run.checkpoint_passed", &path, seen["review"].as_str().unwrap_or_default(), json!({})).await;
    }

    /// Approves what waits. What nobody knows the end of is given up: its agent proposes it anew.
    async fn clears(&self, actions: &Value) {
        for action in actions.as_array().into_iter().flatten() {
            let path = |verb: &str| format!("/api/v1/actions/{}/{verb}", action["id"].as_str().unwrap());
            match action["status"].as_str().unwrap() {
                "PENDING_APPROVAL" => {
                    let review = action["review"].as_str().unwrap();
                    self.decides("action.approved", &path("approve"), review, json!({})).await;
                }
                "INTERRUPTED" => {
                    let given_up = json!({ "resolution": "abandon", "reason": "nobody knows how far it came" });
                    self.does("action.resolved", &path("resolve"), given_up).await;
                }
                _ => {}
            }
        }
    }

    async fn decides(&self, what: &'static str, path: &str, seen: &str, body: Value) {
        if self.ada.post_if(AnyPostIf(path.to_owned()), seen, &body).await.is_ok() {
            self.note(what);
        }
    }

    /// What needs no look at something that may have changed meanwhile. Started by whoever made it, decided by a reviewer.
    async fn does(&self, what: &'static str, path: &str, body: Value) {
        let who = if what == "run.started" { &self.admin } else { &self.ada };
        if who.post(AnyPost(path.to_owned()), &body).await.is_ok() {
            self.note(what);
        }
    }

    async fn is_away(&self, error: &ClientError) {
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    fn path(&self, rest: &str) -> String {
        ShowRun { run: self.run.parse().unwrap() }.path() + rest
    }

    fn note(&self, what: &'static str) {
        *self.books.lock().unwrap().entry(what).or_default() += 1;
    }

    fn has_noted(&self, what: &'static str) -> bool {
        self.books.lock().unwrap().contains_key(what)
    }
}

/// Whether what there is at the checkpoint can be gone back to.
fn is_saved(run: &Value) -> bool {
    let saved = |snapshot: &Value| snapshot["checkpoint"] == run["checkpoint"];
    run["snapshots"].as_array().is_some_and(|all| all.iter().any(saved))
}
