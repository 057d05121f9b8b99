//! A whole leased action over real HTTP: lease with its permit, workspace, redeem, cage, evidence uploaded and recorded.
//!
//! The worker is the one of `placet work`, in this process; proposing and approving happen before the clock starts.

use std::time::{Duration, Instant};

use placet_domain::action::ActionStatus;
use placet_domain::identity::Role;
use placet_domain::proposal::Proposal;
use placet_egress::Team;
use placet_sandbox::Profiles;
use placet_wire::api::{ActionDetail, ActionView, Decision};
use placet_wire::endpoint::{ApproveAction, ProposeAction, ShowAction};
use placet_worker::{Worker, WorkerConfig};
use serde_json::{Value, json};

use super::stats::Times;
use crate::command::demo::World;
use crate::error::CliError;

pub(super) async fn measure(world: &World, seconds: u64) -> Result<Value, CliError> {
    let (_, client) = world.introduce("bench-worker", Role::Worker).await?;
    let run = world.started_run().await?;
    let (verifier, scratch) = (world.verifier()?, world.scratch());
    let config = WorkerConfig {
        client,
        verifier,
        scratch,
        jobs_at_once: 1,
        profiles: Profiles::default(),
        team: Team::default(),
        hosting: None,
    };
    let worker = Worker::connect(config).await?;
    let mut times = Times::default();
    let until = Instant::now() + Duration::from_secs(seconds);
    let proposal = json!({ "tool": "sh", "arguments": ["true"] });
    let proposal: Proposal = serde_json::from_value(proposal).map_err(|error| CliError::failed(error.to_string()))?;
    while Instant::now() < until {
        let action = world.agent.post(ProposeAction { run }, &proposal).await?;
        approve(world, &action).await?;
        let before = Instant::now();
        let job = worker.lease(Duration::from_secs(5)).await?;
        worker.work(job.ok_or_else(|| CliError::failed("the approved action was not leased"))?).await;
        times.push(before.elapsed());
        succeeded(world, &action).await?;
    }
    let mut report = times.spread_ms();
    report["command"] = json!("sh -c true");
    Ok(report)
}

async fn approve(world: &World, action: &ActionView) -> Result<(), CliError> {
    world.reviewer.post_if(ApproveAction { action: action.id }, action.review, &Decision::default()).await?;
    Ok(())
}

async fn succeeded(world: &World, action: &ActionView) -> Result<(), CliError> {
    let detail: ActionDetail = world.reviewer.get(ShowAction { action: action.id }).await?;
    let status = detail.action.status;
    if status == ActionStatus::Succeeded {
        Ok(())
    } else {
        Err(CliError::failed(format!("an action ended as {status}")))
    }
}
