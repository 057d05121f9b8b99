//! REPORT: uploads the evidence, then says what happened. A control plane that restarts meanwhile loses nothing.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::evidence::{Item, Manifest, NotTaken, NotTakenBecause};
use placet_wire::api::{Completion, Job};
use placet_wire::endpoint::{CompleteJob, StoreEvidence};
use placet_wire::{ClientError, Problem};

use crate::collect::{OUTPUTS, Piece};
use crate::execute::{Execution, bounded, judged};
use crate::job::JobError;
use crate::lease::Worker;

/// Together about five minutes: longer than a restart, shorter than anybody's patience.
const PATIENCE: &[u64] = &[100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 60_000, 120_000];

/// The HTTP status of a body that is longer than is taken.
pub(crate) const TOO_LARGE: u16 = 413;

pub(crate) async fn report(worker: &Worker, job: &Job, execution: Execution) -> Result<(), JobError> {
    let (mut items, mut not_taken, mut exit) = (Vec::new(), execution.not_taken, execution.exit);
    for piece in execution.pieces {
        let name = piece.name.clone();
        match upload(worker, job, piece).await {
            Ok(item) => items.push(item),
            // Left out and seen to be missing: what happened must be reported even if not all of it can be shown.
            Err(JobError::Control(ClientError::Refused(problem))) if problem.status == TOO_LARGE => {
                tracing::warn!(action = %job.action, name, "a piece of evidence is larger than the control plane takes");
                if let Some(path) = name.strip_prefix(OUTPUTS) {
                    let file = NotTaken { path: path.to_owned(), why: NotTakenBecause::TooLarge };
                    not_taken.push(file);
                }
            }
            Err(error) => return Err(error),
        }
    }
    exit = judged(exit, &not_taken, 0);
    let manifest = Manifest {
        v: 1,
        action: job.action,
        executed: execution.permit.digest(),
        attempt: execution.permit.attempt(),
        worker: worker.identity,
        started_at: execution.started_at,
        finished_at: execution.finished_at,
        exit,
        usage: execution.usage,
        program: execution.program,
        items,
        not_taken: bounded(not_taken),
    };
    let key = format!("complete-{}-{}", job.action, job.attempt);
    let body = Completion { manifest };
    let view = insist(|| worker.config.client.post_once(CompleteJob { action: job.action }, &key, &body)).await?;
    if view.quarantined {
        tracing::warn!(action = %job.action, attempt = job.attempt, "the result came too late and was quarantined");
    }
    Ok(())
}

async fn upload(worker: &Worker, job: &Job, piece: Piece) -> Result<Item, JobError> {
    let digest = Digest::of(&piece.bytes);
    let bytes = Bytes::from(piece.bytes);
    let kept = insist(|| worker.config.client.put_bytes(StoreEvidence { project: job.project, digest }, bytes.clone()))
        .await?;
    Ok(Item { name: piece.name, digest, size_bytes: kept.size_bytes })
}

/// Calls again while the control plane cannot be reached or cannot write. A refusal is an answer and is taken as one.
pub(crate) async fn insist<T, F>(mut call: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    for wait_ms in PATIENCE {
        match call().await {
            Err(error) if passes(&error) => tokio::time::sleep(Duration::from_millis(*wait_ms)).await,
            answer => return answer,
        }
    }
    call().await
}

/// Whether it was no answer at all, or one that says to ask again.
pub(crate) fn passes(error: &ClientError) -> bool {
    match error {
        // Another process has the server's port for now; no token was sent, so a retry is safe.
        ClientError::Unreachable { .. } | ClientError::Stranger { .. } => true,
        ClientError::Refused(problem) => is_temporary(problem),
        ClientError::Garbled { .. } => false,
    }
}

/// Whether the same call may succeed in a moment: too slow, too busy, or a disk that is full just now.
pub(crate) const fn is_temporary(problem: &Problem) -> bool {
    matches!(problem.status, 408 | 429 | 503)
}
