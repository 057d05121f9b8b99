//! A small world to tell scenarios in: a store, a clock that moves on command, people, agents, workers and runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::approval::{Asking, Terms};
use placet_domain::command::{Command, IdempotencyKey, Submission};
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Manifest, Usage};
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, IdentityCommand, Reach, Role};
use placet_domain::permit::{Permit, PermitSigner};
use placet_domain::policy::Verdict;
use placet_domain::project::{ProjectCommand, Separation};
use placet_domain::proposal::{Action, Proposal, Tools};
use placet_domain::run::{Founding, Hosting, Posture, Run, RunCommand};
use placet_domain::scope::{Scope, ScopeDraft};
use placet_domain::time::Timestamp;
use placet_ledger::SigningKey;
use placet_store::{Clock, Config, Extras, ManualClock, Receipt, Store, SubmitError};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) const START_MS: i64 = 1_769_851_800_000;
pub(crate) const ORIGIN: &str = "example.com/ledger";

/// A place where a store is opened, and opened again.
pub(crate) trait Ground {
    fn fresh() -> Self;
    async fn open(&self) -> Store;
    fn clock(&self) -> &ManualClock;
}

/// A folder with a SQLite store in it.
pub(crate) struct Folder {
    pub(crate) dir: TempDir,
    clock: ManualClock,
}

impl Ground for Folder {
    fn fresh() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir, clock: ManualClock::at(Timestamp::from_unix_ms(START_MS)) }
    }

    async fn open(&self) -> Store {
        Store::open(self.config()).await.unwrap()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

impl Folder {
    pub(crate) fn config(&self) -> Config {
        let key = SigningKey::from_seed(ORIGIN.parse().unwrap(), &[7; 32]);
        let clock = Clock::Manual(self.clock.clone());
        Config { clock, ..Config::new(self.dir.path().join("store"), key) }
    }

    /// A second connection, as a curious administrator would open one.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.path().join("store/placet.db")).unwrap()
    }
}

/// A store with everybody in it.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) project: ProjectId,
    pub(crate) operator: Identity,
    pub(crate) reviewers: [Identity; 2],
    pub(crate) agent: Identity,
    pub(crate) worker: Identity,
    pub(crate) run: Run,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

fn uuid() -> Uuid {
    Uuid::from_u128(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)))
}

pub(crate) fn new_action() -> ActionId {
    ActionId::from_uuid(uuid())
}

pub(crate) fn new_run() -> RunId {
    RunId::from_uuid(uuid())
}

pub(crate) fn new_project() -> ProjectId {
    ProjectId::from_uuid(uuid())
}

pub(crate) fn policy() -> Digest {
    Digest::of(b"the policy in force")
}

pub(crate) fn scope() -> Scope {
    let targets = ["10.0.0.0/24".parse().unwrap()].into();
    Scope::lock(ScopeDraft { targets, tools: ["sh".parse().unwrap()].into(), ..ScopeDraft::default() })
}

/// Time stands still until it is moved, so whatever is asked is asked at once: agents may.
pub(crate) fn terms() -> Terms {
    Terms { asking: Asking::UNBOUNDED, ..Terms::default() }
}

pub(crate) fn asking(actor: Actor, command: Command) -> Submission {
    Submission { actor, command, terms: terms(), policy: policy(), idempotency: None }
}

pub(crate) fn by(identity: &Identity) -> Actor {
    Actor::Identity(identity.clone())
}

pub(crate) fn keyed(submission: Submission, key: &str, request: &str) -> Submission {
    Submission { idempotency: Some(idempotency(key, request)), ..submission }
}

pub(crate) fn idempotency(key: &str, request: &str) -> IdempotencyKey {
    IdempotencyKey { key: key.to_owned(), request: Digest::of(request.as_bytes()) }
}

pub(crate) async fn submit(store: &Store, submission: Submission) -> Result<Receipt, SubmitError> {
    store.submit(submission, Extras::default()).await
}

/// A sealed action of this run that prints some text.
pub(crate) fn sealed(run: &Run, agent: IdentityId, text: &str) -> Action {
    sealed_as("execute_code", run, agent, text)
}

/// The same with a tool of another kind.
pub(crate) fn sealed_as(kind: &str, run: &Run, agent: IdentityId, text: &str) -> Action {
    let tools = format!("[sh]\nprogram = \"/bin/sh\"\nkind = \"{kind}\"\nprefix = [\"-c\"]");
    let tools = Tools::parse(&tools).unwrap();
    let proposal = Proposal {
        tool: "sh".parse().unwrap(),
        arguments: vec![format!("echo {text}")],
        target: None,
        environment: BTreeMap::new(),
        files: Vec::new(),
        outputs: Vec::new(),
        network: Vec::new(),
        credentials: BTreeSet::new(),
        timeout_ms: None,
        justification: String::new(),
    };
    Action::seal(&proposal, &tools, &run.scope, run.id, agent).unwrap()
}

pub(crate) fn verdict(action: Digest, policy: Digest, tier: &str, risk: f64) -> Verdict {
    serde_json::from_value(json!({
        "action": action, "policy": policy, "tier": tier, "risk": risk,
        "reasons": [{ "rule": "r", "demands": tier, "weight": risk, "because": { "code": "rule", "text": "the scenario says so" } }],
    }))
    .unwrap()
}

pub(crate) async fn make_project(store: &Store, name: &str) -> ProjectId {
    let id = new_project();
    let command = ProjectCommand::Create { name: name.to_owned(), separation: Separation::FourEyes };
    submit(store, asking(Actor::Runtime, Command::Project { id, command })).await.unwrap();
    id
}

pub(crate) async fn register(store: &Store, name: &str, roles: &[Role], reach: Reach) -> Identity {
    let id = IdentityId::from_uuid(uuid());
    let roles: BTreeSet<Role> = roles.iter().copied().collect();
    let token = Digest::of(format!("token of {id}").as_bytes());
    let command = IdentityCommand::Register { name: name.to_owned(), roles, reach, parent: None, token };
    let receipt = submit(store, asking(Actor::Runtime, Command::Identity { id, command })).await.unwrap();
    receipt.loaded.identity.unwrap()
}

impl World {
    pub(crate) async fn on(ground: &impl Ground) -> Self {
        let store = ground.open().await;
        let project = make_project(&store, "alpha").await;
        let operator = register(&store, "olga", &[Role::Operator], Reach::Everywhere).await;
        let ruth = register(&store, "ruth", &[Role::Reviewer], Reach::Everywhere).await;
        let rolf = register(&store, "rolf", &[Role::Reviewer], Reach::Everywhere).await;
        let agent = register(&store, "agent", &[Role::Agent], Reach::Everywhere).await;
        let worker = register(&store, "worker", &[Role::Worker], Reach::Everywhere).await;
        let run = executing_run(&store, project, &operator, &ruth, &agent).await;
        Self { store, project, operator, reviewers: [ruth, rolf], agent, worker, run }
    }

    pub(crate) fn about(&self, id: ActionId, actor: Actor, command: ActionCommand) -> Submission {
        asking(actor, Command::Action { id, run: self.run.id, command })
    }

    pub(crate) fn proposal(&self, id: ActionId, tier: &str, risk: f64) -> Submission {
        let action = sealed(&self.run, self.agent.id, &id.to_string());
        let verdict = verdict(action.digest(), policy(), tier, risk);
        let command = ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
        self.about(id, by(&self.agent), command)
    }

    pub(crate) async fn propose(&self, tier: &str) -> ActionState {
        let receipt = submit(&self.store, self.proposal(new_action(), tier, 0.2)).await.unwrap();
        receipt.loaded.action.unwrap()
    }

    pub(crate) fn approval(&self, action: &ActionState, reviewer: &Identity) -> Submission {
        self.about(action.id, by(reviewer), ActionCommand::Approve { seen: action.review(), proof: None })
    }

    pub(crate) async fn lease(&self, worker: &Identity) -> Option<ActionState> {
        let receipt = self.store.lease_next(worker.clone(), Terms::default(), policy(), None).await.unwrap();
        receipt.and_then(|receipt| receipt.loaded.action)
    }

    pub(crate) fn redemption(&self, leased: &ActionState) -> Submission {
        let signer = PermitSigner::from_seed(&[9; 32]);
        let token = signer.sign(&Permit::for_lease(leased).unwrap());
        let permit = signer.verifier().check(&token).unwrap();
        self.about(leased.id, by(&self.worker), ActionCommand::Redeem { permit })
    }

    pub(crate) fn completion(&self, action: &ActionState) -> Submission {
        let manifest = Manifest {
            v: 1,
            action: action.id,
            executed: action.digest,
            attempt: action.attempt,
            worker: self.worker.id,
            started_at: Timestamp::from_unix_ms(START_MS),
            finished_at: Timestamp::from_unix_ms(START_MS + 5),
            exit: Exit::Code(0),
            usage: Usage::default(),
            program: None,
            items: Vec::new(),
            not_taken: Vec::new(),
        };
        let command = ActionCommand::Complete { evidence: Box::new(manifest.seal()) };
        self.about(action.id, by(&self.worker), command)
    }

    /// An action that went all the way: proposed, approved, leased, started and done.
    pub(crate) async fn carry_through(&self) -> ActionState {
        let proposed = self.propose("B").await;
        submit(&self.store, self.approval(&proposed, &self.reviewers[0])).await.unwrap();
        let leased = self.lease(&self.worker).await.unwrap();
        submit(&self.store, self.redemption(&leased)).await.unwrap();
        let done = submit(&self.store, self.completion(&leased)).await.unwrap();
        done.loaded.action.unwrap()
    }
}

/// What a usual run of the agent is made with.
pub(crate) fn founding(project: ProjectId, agent: &Identity) -> Founding {
    Founding {
        project,
        separation: Separation::FourEyes,
        goal: "look around".to_owned(),
        prepared: None,
        plan: vec!["look".to_owned()],
        scope: scope(),
        agent: agent.id,
        agent_lineage: agent.lineage.clone(),
        agent_token: None,
        parent: None,
        posture: Posture::default(),
        hosting: Hosting::External,
        allowance: None,
        planning: None,
    }
}

/// A run whose agent is at work.
pub(crate) async fn executing_run(
    store: &Store,
    project: ProjectId,
    operator: &Identity,
    reviewer: &Identity,
    agent: &Identity,
) -> Run {
    let id = new_run();
    let create = RunCommand::Create(Box::new(founding(project, agent)));
    let ask = async |actor: Actor, command| {
        let receipt = submit(store, asking(actor, Command::Run { id, command })).await.unwrap();
        receipt.loaded.run.unwrap()
    };
    let run = ask(by(operator), create).await;
    ask(by(reviewer), RunCommand::ApprovePlan { seen: run.review() }).await;
    ask(by(operator), RunCommand::Start).await;
    ask(by(agent), RunCommand::Attach).await
}
