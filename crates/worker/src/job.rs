//! One job, from leased bytes to reported evidence.

use std::io;
use std::time::Duration;

use placet_domain::id::ActionId;
use placet_domain::permit::Fitting;
use placet_domain::proposal::{Action, Unsealable};
use placet_domain::refusal::PermitFlaw;
use placet_wire::ClientError;
use placet_wire::api::{Job, JobReport, Redemption, RedemptionView};
use tokio::sync::watch;

use crate::execute::{Cancel, execute};
use crate::lease::Worker;
use crate::report;
use crate::workspace::Workspace;

/// Why a job was not done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error("the leased bytes are not an action: {0}")]
    Sealed(#[from] Unsealable),
    #[error("the permit does not fit: {0}")]
    Permit(#[from] PermitFlaw),
    #[error("the workspace cannot be made: {0}")]
    Workspace(#[source] io::Error),
    #[error("the file `{path}` that was fetched is not the one that was approved")]
    WrongFile { path: String },
    #[error(transparent)]
    Control(#[from] ClientError),
    #[error("the evidence cannot be collected: {0}")]
    Collect(#[source] io::Error),
    #[error("the job was abandoned: {0}")]
    Panicked(String),
}

pub(crate) async fn perform(worker: &Worker, job: Job) -> Result<(), JobError> {
    let fitting = check(worker, &job)?;
    let workspace = Workspace::prepare(worker, &job, fitting.sealed()).await?;
    let lease = redeem(worker, &job).await?;
    let cancel = Cancel::default();
    let (done, finished) = watch::channel(false);
    let beats = tokio::spawn(keep_alive(worker.clone(), job.action, job.attempt, lease, cancel.clone(), finished));
    let result = tokio::task::spawn_blocking(move || execute(fitting, workspace, &cancel)).await;
    let result = result.map_err(|error| JobError::Panicked(error.to_string()));
    // The lease is kept until the evidence is in: uploading it is part of the job.
    let reported = match result {
        Ok(execution) => report::report(worker, &job, execution).await,
        Err(error) => Err(error),
    };
    let _ = done.send(true);
    let _ = beats.await;
    reported
}

/// The worker's own check, before it does anything: our control plane's signature, these bytes, this worker.
fn check(worker: &Worker, job: &Job) -> Result<Fitting, JobError> {
    let sealed = Action::open(job.sealed.as_bytes())?;
    let signed = worker.config.verifier.check(&job.permit)?;
    Ok(signed.fit(job.action, sealed, worker.identity)?)
}

/// Spends the permit at the control plane. The key makes a repeated call after a lost answer harmless, and only for us.
async fn redeem(worker: &Worker, job: &Job) -> Result<Duration, JobError> {
    let key = uuid::Uuid::now_v7().simple().to_string();
    let path = format!("/api/v1/jobs/{}/redeem", job.action);
    let body = Redemption { permit: job.permit.clone() };
    let view: RedemptionView = report::insist(|| worker.config.client.post_once(&path, &key, &body)).await?;
    Ok(Duration::from_millis(view.lease_ms))
}

/// Renews the lease until the job is done. Losing it means losing all say: the cage is ended at once.
async fn keep_alive(
    worker: Worker,
    action: ActionId,
    attempt: u32,
    lease: Duration,
    cancel: Cancel,
    mut finished: watch::Receiver<bool>,
) {
    let path = format!("/api/v1/jobs/{action}/heartbeat");
    let mut alive_until = tokio::time::Instant::now() + lease;
    loop {
        tokio::select! {
            _ = finished.changed() => return,
            () = tokio::time::sleep(lease / 3) => {}
        }
        let beat = worker.config.client.post::<serde_json::Value>(&path, &JobReport { attempt }).await;
        match beat {
            Ok(_) => alive_until = tokio::time::Instant::now() + lease,
            Err(ClientError::Refused(problem)) => {
                tracing::warn!(%action, attempt, %problem, "the lease is lost; stopping");
                return cancel.now();
            }
            Err(_) if tokio::time::Instant::now() >= alive_until => {
                tracing::warn!(%action, attempt, "the control plane was silent for too long; stopping");
                return cancel.now();
            }
            Err(_) => {}
        }
    }
}
