//! The governed loop over real HTTP with an executor that does nothing:
//! propose → approve → lease → redeem → complete, each answer recorded and on disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Manifest, Usage};
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::identity::Role;
use placet_domain::proposal::Proposal;
use placet_domain::time::Timestamp;
use placet_wire::Endpoint as _;
use placet_wire::api::{Completion, Redemption};
use placet_wire::endpoint::{ApproveAction, CompleteJob, LeaseJob, ProposeAction, RedeemPermit};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::line::Line;
use super::stats::{Times, per_second, round};
use crate::command::demo::World;
use crate::error::CliError;

/// Everybody the loop needs, by their tokens.
struct Cast {
    server: String,
    agent: String,
    reviewer: String,
    worker: String,
    worker_id: IdentityId,
    run: RunId,
    proposal: Proposal,
}

/// What a client must read of a proposed action to go on.
#[derive(Deserialize)]
struct Proposed {
    id: ActionId,
    review: String,
}

/// What a worker must read of a leased job to go on.
#[derive(Deserialize)]
struct Leased {
    action: ActionId,
    attempt: u32,
    sealed: String,
    permit: String,
}

#[derive(Deserialize)]
struct Completed {
    quarantined: bool,
}

pub(super) async fn measure(world: &World, seconds: u64) -> Result<Value, CliError> {
    let (worker_id, worker) = world.introduce("bench-worker", Role::Worker).await?;
    let run = world.started_run().await?;
    let proposal = json!({ "tool": "sh", "arguments": ["true"] });
    let proposal = serde_json::from_value(proposal).map_err(|error| CliError::failed(error.to_string()))?;
    let cast = Arc::new(Cast {
        server: worker.server().to_owned(),
        agent: world.agent.token().reveal().to_owned(),
        reviewer: world.reviewer.token().reveal().to_owned(),
        worker: worker.token().reveal().to_owned(),
        worker_id,
        run,
        proposal,
    });
    let mut report = serde_json::Map::new();
    report.insert("requests_per_loop".into(), json!(5));
    for clients in [1, 32, 128] {
        let before_ms = world.control_cpu_ms();
        let mut measured = drive(&cast, clients, Duration::from_secs(seconds)).await?;
        let used_ms = world.control_cpu_ms().zip(before_ms).map(|(after, before)| after - before);
        measured["control_cpu_ms_per_loop"] = json!(per_loop(used_ms, &measured));
        report.insert(format!("clients_{clients}"), measured);
    }
    Ok(report.into())
}

/// What the control plane alone spends on one loop; the rest of the processors goes to the load itself.
fn per_loop(used_ms: Option<u64>, measured: &Value) -> Option<f64> {
    let loops = measured["count"].as_u64().filter(|loops| *loops > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds and counts of a benchmark are far below 2^52")]
    Some(round(used_ms? as f64 / loops as f64))
}

async fn drive(cast: &Arc<Cast>, clients: usize, time: Duration) -> Result<Value, CliError> {
    let started = Instant::now();
    let until = started + time;
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let cast = Arc::clone(cast);
        tasks.spawn(async move {
            let mut times = Times::default();
            let mut line = Line::open(&cast.server).await?;
            while Instant::now() < until {
                let before = Instant::now();
                once(&cast, &mut line).await?;
                times.push(before.elapsed());
            }
            Ok::<_, CliError>(times)
        });
    }
    let mut times = Times::default();
    while let Some(done) = tasks.join_next().await {
        times.merge(done.map_err(|error| CliError::failed(error.to_string()))??);
    }
    let rate = per_second(times.len(), started.elapsed());
    let mut report = times.in_ms();
    report["loops_per_second"] = json!(rate);
    Ok(report)
}

/// One loop. With many clients a worker may get another client's action; every action is still carried through once.
async fn once(cast: &Cast, line: &mut Line) -> Result<(), CliError> {
    let path = ProposeAction { run: cast.run }.path();
    let proposed: Proposed = line.post(&path, &cast.agent, None, &cast.proposal).await?;
    let path = ApproveAction { action: proposed.id }.path();
    line.post::<IgnoredAny>(&path, &cast.reviewer, Some(&proposed.review), &json!({})).await?;
    let job: Leased = line.post(&LeaseJob {}.path(), &cast.worker, None, &json!({ "wait_ms": 5_000 })).await?;
    let redemption = Redemption { permit: job.permit };
    line.post::<IgnoredAny>(&RedeemPermit { action: job.action }.path(), &cast.worker, None, &redemption).await?;
    let manifest = Manifest {
        v: 1,
        action: job.action,
        executed: Digest::of(job.sealed.as_bytes()),
        attempt: job.attempt,
        worker: cast.worker_id,
        started_at: Timestamp::from_unix_ms(1),
        finished_at: Timestamp::from_unix_ms(2),
        exit: Exit::Code(0),
        usage: Usage::default(),
        program: None,
        items: Vec::new(),
        not_taken: Vec::new(),
    };
    let path = CompleteJob { action: job.action }.path();
    let completed: Completed = line.post(&path, &cast.worker, None, &Completion { manifest }).await?;
    if completed.quarantined { Err(CliError::failed("a result was quarantined")) } else { Ok(()) }
}
