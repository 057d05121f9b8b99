//! Load: agents that propose, a reviewer who approves, workers that lease, redeem and complete. They keep books.
//!
//! Every client repeats what was not answered, as a careful client does: under the same idempotency key where there is one,
//! and otherwise by looking where things stand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use placet_domain::action::ActionStatus;
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item, Manifest, Usage};
use placet_domain::id::{IdentityId, RunId};
use placet_domain::proposal::Proposal;
use placet_domain::time::Timestamp;
use placet_testkit::Random;
use placet_wire::api::{ActionView, Completion, Decision, Job, LeaseRequest, Redemption};
use placet_wire::endpoint::{
    ApproveAction, CompleteJob, LeaseJob, ProposeAction, RedeemPermit, ShowAction, ShowCaller, StoreEvidence,
};
use placet_wire::{Client, ClientError};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::support::World;
use crate::support::books::Books;

const PROPOSERS: usize = 2;
const WORKERS: usize = 2;

pub(super) struct Load {
    runs: Vec<RunId>,
    reviewer: Client,
    workers: Vec<Client>,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn start(world: &mut World, books: &Arc<Mutex<Books>>, random: &mut Random, runtime: &Runtime) -> Self {
        let first = world.undertake();
        world.by("tom", &["action", "propose", &first, "cat"]).ok(); // attaches to the run
        for number in 1..PROPOSERS {
            world.cli(&["identity", "add", &format!("tom{number}"), "--role", "agent"]).ok();
        }
        for number in 1..WORKERS {
            world.cli(&["identity", "add", &format!("w{}", number + 1), "--role", "worker"]).ok();
        }
        let mut runs = vec![first.parse().unwrap()];
        for number in 1..PROPOSERS {
            let run = world.run_of(&format!("tom{number}"));
            world.by(&format!("tom{number}"), &["action", "propose", &run, "cat"]).ok();
            runs.push(run.parse().unwrap());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let workers: Vec<Client> = (1..=WORKERS).map(|number| world.client(&format!("w{number}"))).collect();
        let mut load = Self { runs, reviewer: world.client("ada"), workers, stop, tasks: Vec::new() };
        load.set_off(world, books, random, runtime);
        load
    }

    fn set_off(&mut self, world: &World, books: &Arc<Mutex<Books>>, random: &mut Random, runtime: &Runtime) {
        for (number, run) in self.runs.clone().into_iter().enumerate() {
            let name = if number == 0 { "tom".to_owned() } else { format!("tom{number}") };
            let proposer =
                Proposer { agent: world.client(&name), reviewer: self.reviewer.clone(), run, books: Arc::clone(books) };
            self.tasks.push(runtime.spawn(proposer.go(Arc::clone(&self.stop), random.branch())));
        }
        for (number, client) in self.workers.iter().enumerate() {
            let worker = Worker { number, client: client.clone(), books: Arc::clone(books) };
            self.tasks.push(runtime.spawn(worker.go(Arc::clone(&self.stop))));
        }
    }

    pub(super) fn runs(&self) -> &[RunId] {
        &self.runs
    }

    pub(super) fn reviewer(&self) -> &Client {
        &self.reviewer
    }

    pub(super) fn worker(&self, number: usize) -> &Client {
        &self.workers[number]
    }

    /// Lets everybody finish what they are at.
    pub(super) fn stop(&self, runtime: &Runtime) {
        self.stop.store(true, Ordering::Relaxed);
        let patience = Duration::from_secs(30);
        for task in &self.tasks {
            let ended = runtime.block_on(async {
                let wait = async {
                    while !task.is_finished() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                tokio::time::timeout(patience, wait).await
            });
            assert!(ended.is_ok(), "a client never got an answer");
        }
    }
}

/// Repeats a call until it is answered.
async fn answered<T, F: Future<Output = Result<T, ClientError>>>(
    mut call: impl FnMut() -> F,
) -> Result<T, ClientError> {
    loop {
        match call().await {
            Err(ClientError::Unreachable { .. } | ClientError::Garbled { .. }) => {
                tokio::time::sleep(Duration::from_millis(30)).await
            }
            answer => return answer,
        }
    }
}

struct Proposer {
    agent: Client,
    reviewer: Client,
    run: RunId,
    books: Arc<Mutex<Books>>,
}

impl Proposer {
    async fn go(self, stop: Arc<AtomicBool>, mut random: Random) {
        while !stop.load(Ordering::Relaxed) {
            let id = self.propose(random.next_number()).await.id;
            if random.between(0, 9) > 0 {
                self.approve(id).await;
            }
            tokio::time::sleep(Duration::from_millis(random.between(0, 40))).await;
        }
    }

    async fn propose(&self, number: u64) -> ActionView {
        let (run, key) = (self.run, format!("propose-{number}"));
        let body =
            serde_json::json!({ "tool": "sh", "arguments": [format!("echo {number}")], "justification": "load" });
        let body: Proposal = serde_json::from_value(body).unwrap();
        let view: ActionView =
            answered(|| self.agent.post_once(ProposeAction { run }, &key, &body)).await.expect("a proposal is taken");
        self.books.lock().unwrap().of(view.id);
        view
    }

    async fn approve(&self, id: placet_domain::id::ActionId) {
        let look = || self.reviewer.get(ShowAction { action: id });
        let (seen, yes) = (answered(look).await.expect("it is there").action.review, Decision::default());
        let answer = answered(|| self.reviewer.post_if(ApproveAction { action: id }, seen, &yes)).await;
        let view = match answer {
            Ok(view) => view,
            // The first answer was lost: then it must stand as approved now.
            Err(_) => answered(look).await.expect("it is there").action,
        };
        assert_ne!(view.status, ActionStatus::PendingApproval, "an approval was neither taken nor refused");
        self.books.lock().unwrap().of(id).approved = true;
    }
}

struct Worker {
    number: usize,
    client: Client,
    books: Arc<Mutex<Books>>,
}

impl Worker {
    async fn go(self, stop: Arc<AtomicBool>) {
        let me: placet_wire::api::IdentityView =
            answered(|| self.client.get(ShowCaller {})).await.expect("it is known");
        while !stop.load(Ordering::Relaxed) {
            let request = LeaseRequest { wait_ms: 100 };
            match self.client.post_maybe(LeaseJob {}, &uuid::Uuid::now_v7().simple().to_string(), &request).await {
                Ok(Some(job)) => self.work(job, me.id).await,
                Ok(None) => {}
                // If a job was given in an answer that was lost, its lease lapses and it is given again.
                Err(_) => tokio::time::sleep(Duration::from_millis(30)).await,
            }
        }
    }

    async fn work(&self, job: Job, me: IdentityId) {
        let key = uuid::Uuid::now_v7().simple().to_string();
        let body = Redemption { permit: job.permit.clone() };
        let redeem = || self.client.post_once(RedeemPermit { action: job.action }, &key, &body);
        let Ok(redeemed) = answered(redeem).await else {
            return;
        };
        {
            let mut books = self.books.lock().unwrap();
            books.of(job.action).redeemed = Some((redeemed.attempt, self.number));
            books.spent.push((self.number, job.clone()));
        }
        self.complete(&job, me).await;
    }

    async fn complete(&self, job: &Job, me: IdentityId) {
        let output = bytes::Bytes::from(format!("output of {}\n", job.action));
        let digest = Digest::of(&output);
        let project = job.project;
        answered(|| self.client.put_bytes(StoreEvidence { project, digest }, output.clone()))
            .await
            .expect("evidence is taken");
        let manifest = Manifest {
            v: 1,
            action: job.action,
            executed: Digest::of(job.sealed.as_bytes()),
            attempt: job.attempt,
            worker: me,
            started_at: Timestamp::from_unix_ms(1),
            finished_at: Timestamp::from_unix_ms(2),
            exit: Exit::Code(0),
            usage: Usage::default(),
            program: None,
            items: vec![Item { name: "stdout".into(), digest, size_bytes: output.len() as u64 }],
            not_taken: Vec::new(),
        };
        let key = format!("complete-{}-{}", job.action, job.attempt);
        let body = Completion { manifest };
        let answer = answered(|| self.client.post_once(CompleteJob { action: job.action }, &key, &body)).await;
        let Ok(view) = answer else { return };
        if !view.quarantined {
            self.books.lock().unwrap().of(job.action).completed = Some(view.evidence);
        }
    }
}
