//! Measures how many durable changes a store takes in a second, with real waits for the disk; prints one line of JSON.
//!
//! `cargo run --profile fast -p placet-store --example append_rate`
//!
//! Two kinds of change: `records`, which only append an entry, and `heartbeats`, which also decide on and update an action.

use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::approval::{Asking, Terms};
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, IdentityCommand, Reach, Role};
use placet_domain::permit::{Permit, PermitSigner};
use placet_domain::project::{ProjectCommand, Separation};
use placet_domain::proposal::{Action, Tools};
use placet_domain::run::{Founding, Hosting, Posture, Run, RunCommand};
use placet_domain::scope::{Scope, ScopeDraft};
use placet_ledger::SigningKey;
use placet_store::{Config, Extras, Receipt, Store, SubmitError};
use serde_json::{Value, json};
use uuid::Uuid;

const SUBMITTERS: [u64; 4] = [1, 32, 128, 512];
const LASTS: Duration = Duration::from_secs(3);

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let key = SigningKey::from_seed("example.com/rate".parse()?, &[7; 32]);
    let store = Store::open(Config::new(dir.path().join("store"), key)).await?;
    let crew = Crew::assemble(&store).await?;
    let mut result = json!({ "fsync_ms": fsync_ms(dir.path())? });
    let project = crew.project;
    for submitters in SUBMITTERS {
        let record = move |submitter: u64, round: u64| {
            let digest = Digest::of(&[submitter.to_be_bytes(), round.to_be_bytes()].concat());
            Ok(asking(
                Actor::Runtime,
                Command::KeepBlob { project, digest, size_bytes: round, secrets: SecretsSeen::default() },
            ))
        };
        result["records"][submitters.to_string()] = measure(&store, submitters, record).await?;
    }
    let running = crew.start_actions(&store, 512).await?;
    for submitters in SUBMITTERS {
        let (worker, run, running) = (crew.worker.clone(), crew.run.id, running.clone());
        let heartbeat = move |submitter: u64, _| {
            let id = running[usize::try_from(submitter)?];
            let command = ActionCommand::Heartbeat { attempt: 1 };
            Ok(asking(Actor::Identity(worker.clone()), Command::Action { id, run, command }))
        };
        result["heartbeats"][submitters.to_string()] = measure(&store, submitters, heartbeat).await?;
    }
    let started = Instant::now();
    store.sign_head().await?;
    result["sign_head_entries"] = store.size().into();
    result["sign_head_ms"] = (started.elapsed().as_millis() as u64).into();
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}

/// How long the disk takes to keep 4 KiB, in the middle of many tries.
fn fsync_ms(dir: &std::path::Path) -> Result<f64> {
    let mut file = std::fs::File::create(dir.join("probe"))?;
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[100] * 1e3).round() / 1e3)
}

/// Lets submitters ask one thing after the other for a while; answers changes per second and the latency of one.
async fn measure<F>(store: &Store, submitters: u64, ask: F) -> Result<Value>
where
    F: Fn(u64, u64) -> Result<Submission> + Clone + Send + 'static,
{
    let started = Instant::now();
    let tasks = (0..submitters).map(|submitter| {
        let (store, ask) = (store.clone(), ask.clone());
        tokio::spawn(async move {
            let mut latencies = Vec::new();
            for round in 0.. {
                if started.elapsed() > LASTS {
                    break;
                }
                let asked = Instant::now();
                store.submit(ask(submitter, round)?, Extras::default()).await?;
                latencies.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(latencies)
        })
    });
    let mut latencies = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        latencies.extend(task.await??);
    }
    let per_s = latencies.len() as f64 / started.elapsed().as_secs_f64();
    latencies.sort_by(f64::total_cmp);
    let at = |part: f64| (latencies[(latencies.len() as f64 * part) as usize] * 1e2).round() / 1e2;
    Ok(json!({ "per_s": per_s as u64, "p50_ms": at(0.5), "p99_ms": at(0.99) }))
}

fn policy() -> Digest {
    Digest::of(b"policy")
}

fn asking(actor: Actor, command: Command) -> Submission {
    // More is asked here than any agent may.
    let terms = Terms { asking: Asking::UNBOUNDED, ..Terms::default() };
    Submission { actor, command, terms, policy: policy(), idempotency: None }
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_f2c4_7d1e_7a55_9b0e_0000_0000_0000 + number)
}

/// Everybody who is needed to have actions running.
struct Crew {
    project: ProjectId,
    agent: Identity,
    worker: Identity,
    run: Run,
}

impl Crew {
    async fn assemble(store: &Store) -> Result<Self> {
        let project = ProjectId::from_uuid(uuid(1));
        let create = ProjectCommand::Create { name: "rate".into(), separation: Separation::FourEyes };
        submit(store, asking(Actor::Runtime, Command::Project { id: project, command: create })).await?;
        let operator = register(store, 2, Role::Operator).await?;
        let reviewer = register(store, 3, Role::Reviewer).await?;
        let agent = register(store, 4, Role::Agent).await?;
        let worker = register(store, 5, Role::Worker).await?;
        let id = RunId::from_uuid(uuid(6));
        let create = RunCommand::Create(Box::new(Founding {
            project,
            separation: Separation::FourEyes,
            goal: "measure".into(),
            prepared: None,
            plan: vec!["measure".into()],
            scope: Scope::lock(ScopeDraft { tools: ["sh".parse()?].into(), ..ScopeDraft::default() }),
            agent: agent.id,
            agent_lineage: agent.lineage.clone(),
            agent_token: None,
            parent: None,
            posture: Posture::default(),
            hosting: Hosting::External,
            allowance: None,
            planning: None,
        }));
        let mut run = step(store, id, &operator, create).await?;
        let seen = run.review();
        for (who, command) in [
            (&reviewer, RunCommand::ApprovePlan { seen }),
            (&operator, RunCommand::Start),
            (&agent, RunCommand::Attach),
        ] {
            run = step(store, id, who, command).await?;
        }
        Ok(Self { project, agent, worker, run })
    }

    async fn start_actions(&self, store: &Store, count: u128) -> Result<Vec<ActionId>> {
        let signer = PermitSigner::from_seed(&[9; 32]);
        let mut running = Vec::new();
        for number in 0..count {
            self.propose(store, ActionId::from_uuid(uuid(100 + number))).await?;
            let leased = store.lease_next(self.worker.clone(), Terms::default(), policy(), None).await?;
            let leased: ActionState = leased.and_then(|receipt| receipt.loaded.action).ok_or("nothing to lease")?;
            let permit = signer.sign(&Permit::for_lease(&leased).ok_or("no lease")?);
            let command = ActionCommand::Redeem { permit: signer.verifier().check(&permit)? };
            let redeem = Command::Action { id: leased.id, run: self.run.id, command };
            submit(store, asking(Actor::Identity(self.worker.clone()), redeem)).await?;
            running.push(leased.id);
        }
        Ok(running)
    }

    async fn propose(&self, store: &Store, id: ActionId) -> Result<()> {
        let tools = Tools::parse("[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"")?;
        let proposal = serde_json::from_value(json!({ "tool": "sh", "arguments": ["-c", id.to_string()] }))?;
        let action = Action::seal(&proposal, &tools, &self.run.scope, self.run.id, self.agent.id)?;
        let verdict = json!({ "action": action.digest(), "policy": policy(), "tier": "A", "risk": 0.1, "reasons": [] });
        let verdict = serde_json::from_value(verdict)?;
        let command = ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
        let propose = Command::Action { id, run: self.run.id, command };
        submit(store, asking(Actor::Identity(self.agent.clone()), propose)).await?;
        Ok(())
    }
}

async fn submit(store: &Store, submission: Submission) -> std::result::Result<Receipt, SubmitError> {
    store.submit(submission, Extras::default()).await
}

async fn register(store: &Store, number: u128, role: Role) -> Result<Identity> {
    let id = IdentityId::from_uuid(uuid(number));
    let token = Digest::of(id.to_string().as_bytes());
    let (name, roles) = (role.to_string(), [role].into());
    let command = IdentityCommand::Register { name, roles, reach: Reach::Everywhere, parent: None, token };
    let receipt = submit(store, asking(Actor::Runtime, Command::Identity { id, command })).await?;
    receipt.loaded.identity.ok_or_else(|| "not registered".into())
}

async fn step(store: &Store, id: RunId, who: &Identity, command: RunCommand) -> Result<Run> {
    let receipt = submit(store, asking(Actor::Identity(who.clone()), Command::Run { id, command })).await?;
    receipt.loaded.run.ok_or_else(|| "no run".into())
}
