//! One job, from leased bytes to reported evidence.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::permit::Fitting;
use placet_domain::proposal::{Action, ActionSpec, Cages, Unsealable};
use placet_domain::refusal::PermitFlaw;
use placet_domain::scope::{Scope, ScopeDraft};
use placet_wire::ClientError;
use placet_wire::api::{Job, JobReport, Redemption};
use placet_wire::endpoint::{RedeemPermit, SendHeartbeat};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::execute::{Cancel, Reins, chain, decline, execute};
use crate::grants::{self, Attempt};
use crate::host::{Seat, SeatError};
use crate::lease::{Worker, fresh_key};
use crate::report;
use crate::tap::{Speaker, Tap, Teller};
use crate::way_out::WayOut;
use crate::workspace::{Files, Workspace, fetch};

/// Why a job was not done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error("the leased bytes are not an action: {0}")]
    Sealed(#[from] Unsealable),
    #[error("the permit does not fit: {0}")]
    Permit(#[from] PermitFlaw),
    #[error("the workspace cannot be made: {0}")]
    Workspace(#[source] io::Error),
    #[error("the workspace of its run cannot be used: {0}")]
    Seat(#[from] SeatError),
    #[error("the file `{path}` cannot be fetched: {source}")]
    Fetch { path: String, source: ClientError },
    #[error("the file `{path}` that was fetched is not the one that was approved")]
    WrongFile { path: String },
    #[error(
        "the control plane sent no scope for this action of a hosted run; upgrade it, and propose the action again"
    )]
    NoScope,
    #[error("the scope that the control plane sent is {sent}, sealed was {sealed}; propose the action again")]
    OtherScope { sent: Digest, sealed: Digest },
    #[error("the file `{path}` is outside of the scope and would replace another one; give it another name")]
    OutsideScope { path: String },
    #[error(transparent)]
    Control(#[from] ClientError),
    #[error("the evidence cannot be collected: {0}")]
    Collect(#[source] io::Error),
    #[error("the job was abandoned: {0}")]
    Panicked(String),
}

impl JobError {
    /// Whether somebody else, or this worker in a while, may do it: then the lease is left to lapse.
    fn passes(&self) -> bool {
        match self {
            Self::Control(source) | Self::Fetch { source, .. } => report::passes(source),
            Self::Sealed(_)
            | Self::Permit(_)
            | Self::Workspace(_)
            | Self::Seat(_)
            | Self::WrongFile { .. }
            | Self::NoScope
            | Self::OtherScope { .. }
            | Self::OutsideScope { .. }
            | Self::Collect(_)
            | Self::Panicked(_) => false,
        }
    }
}

pub(crate) async fn perform(worker: &Worker, job: Job) -> Result<(), JobError> {
    let fitting = check(worker, &job)?;
    if let Some(why) = other_cage(&worker.cages, fitting.sealed().spec()) {
        tracing::warn!(action = %job.action, attempt = job.attempt, why, "not started");
        return report::report(worker, &job, decline(fitting, why)).await;
    }
    let (way_out, wishes) = match WayOut::of(fitting.sealed().spec(), &worker.config.team, worker.limits).await {
        Ok(way) => way.unzip(),
        Err(error) => {
            // Where secrets of this machine are looked for is for its owner, and the agent reads the reason.
            tracing::warn!(action = %job.action, why = chain(&error), "its way out cannot be opened");
            let why = format!("its way out cannot be opened: {error}");
            return report::report(worker, &job, decline(fitting, why)).await;
        }
    };
    let seat = job.hosted.map(|run| worker.seats.of(run));
    let (mut workspace, mut files) = match prepare(worker, &job, fitting.sealed(), seat.as_deref()).await {
        Ok(prepared) => prepared,
        Err(error) if error.passes() => return Err(error),
        Err(error) => return report::report(worker, &job, decline(fitting, error.to_string())).await,
    };
    if job.performing {
        let looked =
            tokio::task::spawn_blocking(move || workspace.written_over(&files).map(|over| (workspace, files, over)));
        let looked = looked.await.map_err(|error| JobError::Panicked(error.to_string()))?;
        match looked {
            Ok((kept, wanted, None)) => (workspace, files) = (kept, wanted),
            Ok((_, _, Some(path))) => {
                let why = format!(
                    "`{path}` is another one by now than when this was rehearsed; send the run back to work, and its agent proposes it anew"
                );
                return report::report(worker, &job, decline(fitting, why)).await;
            }
            Err(error) => return report::report(worker, &job, decline(fitting, error.to_string())).await,
        }
    }
    let lease = redeem(worker, &job).await?;
    if let Err(error) = workspace.place(&files) {
        // Removes the files that were lent before the placement failed.
        if let Err(left) = workspace.settle() {
            tracing::warn!(action = %job.action, error = chain(&left), "a file outside of the scope was left behind");
        }
        return report::report(worker, &job, decline(fitting, error.to_string())).await;
    }
    let cancel = Cancel::default();
    if let Some(seat) = &seat {
        seat.executes(cancel.clone());
    }
    let (done, finished) = watch::channel(false);
    let beats = tokio::spawn(keep_alive(worker.clone(), job.action, job.attempt, lease, cancel.clone(), finished));
    let asks = way_out.clone().zip(wishes).map(|(way_out, wishes)| {
        let attempt = Attempt { action: job.action, number: job.attempt };
        tokio::spawn(grants::follow(worker.clone(), attempt, way_out, wishes))
    });
    let tap = Tap::default();
    let watched = tokio::spawn(tell(worker.clone(), job.action, job.attempt, tap.clone()));
    let (config, reins) = (Arc::clone(&worker.config), Reins { cancel, tap, way_out });
    let result = tokio::task::spawn_blocking(move || execute(fitting, workspace, &config.profiles, &reins)).await;
    let result = result.map_err(|error| JobError::Panicked(error.to_string()));
    asks.iter().chain([&watched]).for_each(tokio::task::JoinHandle::abort);
    // The lease is kept until the evidence is in: uploading it is part of the job.
    let reported = match result {
        Ok(execution) => report::report(worker, &job, execution).await,
        Err(error) => Err(error),
    };
    let _ = done.send(true);
    let _ = beats.await;
    reported
}

/// Everything that is needed, and a place to work in that is this attempt's alone. Nothing is written there before the permit is
/// redeemed: what became void meanwhile must not leave its files in the workspace of a run.
async fn prepare(
    worker: &Worker,
    job: &Job,
    action: &Action,
    seat: Option<&Seat>,
) -> Result<(Workspace, Files), JobError> {
    let files = fetch(worker, job, action).await?;
    let workspace = match seat {
        None => Workspace::fresh(&worker.config.scratch, job)?,
        Some(seat) => Workspace::of_run(seat, approved_scope(job.scope.as_ref(), action.spec())?).await?,
    };
    Ok((workspace, files))
}

/// Checks that the sent scope is the one that the action was sealed under. The permit covers its digest, so it cannot be widened on the
/// way.
fn approved_scope(sent: Option<&ScopeDraft>, spec: &ActionSpec) -> Result<Scope, JobError> {
    let scope = Scope::lock(sent.ok_or(JobError::NoScope)?.clone());
    if scope.version() == spec.scope {
        return Ok(scope);
    }
    Err(JobError::OtherScope { sent: scope.version(), sealed: spec.scope })
}

/// The worker's own check, before it does anything: our control plane's signature, these bytes, this worker.
fn check(worker: &Worker, job: &Job) -> Result<Fitting, JobError> {
    let sealed = Action::open(job.sealed.as_bytes())?;
    let signed = worker.config.verifier.check(&job.permit)?;
    Ok(signed.fit(job.action, sealed, worker.identity)?)
}

/// Why this worker's cage is not the one that was approved, if it is not. Found out before the permit is spent: what was
/// approved did not happen, and is not half done.
fn other_cage(cages: &Cages, spec: &ActionSpec) -> Option<String> {
    let name = &spec.profile;
    match (cages.get(name), spec.profile_digest) {
        (None, _) => Some(format!("this worker has no profile `{name}`, only {}", cages.listed())),
        (Some(here), Some(approved)) if here != approved => Some(format!(
            "the profile `{name}` of this worker is {here}, approved was {approved}; restart what reads older files, and \
             propose it again"
        )),
        (Some(_), _) => None,
    }
}

/// Spends the permit at the control plane. The key makes a repeated call after a lost answer harmless, and only for us.
async fn redeem(worker: &Worker, job: &Job) -> Result<Lease, JobError> {
    let asked_at = Instant::now();
    let key = fresh_key();
    let body = Redemption { permit: job.permit.clone() };
    let view =
        report::insist(|| worker.config.client.post_once(RedeemPermit { action: job.action }, &key, &body)).await?;
    Ok(Lease { asked_at, length: Duration::from_millis(view.lease_ms) })
}

/// What its program says, for those who watch. It ends with the program: from then on what it said is evidence.
async fn tell(worker: Worker, action: ActionId, attempt: u32, tap: Tap) {
    Teller { worker, speaker: Speaker::Action(action), start: u64::from(attempt), tap }.tell().await;
}

/// How long the job is ours. Counted from when it was asked for: the answer may have been long on its way.
#[derive(Debug, Clone, Copy)]
struct Lease {
    asked_at: Instant,
    length: Duration,
}

/// Renews the lease until the job is done. Losing it means losing all say: the cage is ended at once.
async fn keep_alive(
    worker: Worker,
    action: ActionId,
    attempt: u32,
    lease: Lease,
    cancel: Cancel,
    mut finished: watch::Receiver<bool>,
) {
    let report = JobReport { attempt };
    let mut alive_until = lease.asked_at + lease.length;
    let mut next = lease.asked_at + lease.length / 3;
    loop {
        tokio::select! {
            _ = finished.changed() => return,
            () = tokio::time::sleep_until(next.min(alive_until)) => {}
        }
        let asked_at = Instant::now();
        if asked_at >= alive_until {
            tracing::warn!(%action, attempt, "the control plane was silent for too long; stopping");
            return cancel.now();
        }
        // Never longer than the lease: a control plane that hangs must not keep the cage running after it was given up.
        let beat = worker.config.client.post(SendHeartbeat { action }, &report);
        match tokio::time::timeout_at(alive_until, beat).await {
            Ok(Ok(_)) => alive_until = asked_at + lease.length,
            Ok(Err(ClientError::Refused(problem))) if !report::is_temporary(&problem) => {
                tracing::warn!(%action, attempt, %problem, "the lease is lost; stopping");
                return cancel.now();
            }
            Ok(Err(_)) | Err(_) => {}
        }
        next = Instant::now() + lease.length / 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(profile_digest: Option<Digest>) -> ActionSpec {
        let (id, digest) = ("0".repeat(32), Digest::of(b""));
        let spec = serde_json::json!({
            "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "sh",
            "tool_version": digest, "kind": "execute_code", "argv": ["/bin/true"], "environment": {}, "files": [],
            "outputs": [], "profile": "ours", "profile_digest": profile_digest, "limits": {},
        });
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn only_the_sealed_scope_is_taken() {
        let (spec, narrow) = (spec(None), ScopeDraft::default());
        let wide = ScopeDraft { allow: vec!["**".parse().unwrap()], ..ScopeDraft::default() };
        let sealed = ActionSpec { scope: Scope::lock(narrow.clone()).version(), ..spec };
        assert_eq!(approved_scope(Some(&narrow), &sealed).unwrap().rules(), &narrow);
        assert!(matches!(approved_scope(Some(&wide), &sealed), Err(JobError::OtherScope { .. })));
        assert!(matches!(approved_scope(None, &sealed), Err(JobError::NoScope)));
    }

    #[test]
    fn another_cage_than_was_approved_is_found_out_and_an_older_build_named_none() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let here: Cages = [("ours".to_owned(), one)].into_iter().collect();
        assert_eq!(other_cage(&here, &spec(Some(one))), None);
        assert_eq!(other_cage(&here, &spec(None)), None);
        let why = other_cage(&here, &spec(Some(other))).unwrap();
        assert!(why.contains(&one.to_string()) && why.contains(&format!("approved was {other}")), "{why}");
        assert!(other_cage(&Cages::default(), &spec(None)).unwrap().contains("no profile `ours`"));
    }
}
