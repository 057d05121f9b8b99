//! DISPATCH: a worker gets a lease and the permit that goes with it, and redeems that permit once.

use std::time::Duration;

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::command::About;
use placet_domain::id::ActionId;
use placet_domain::permit::Permit;
use placet_domain::refusal::{PermitFlaw, Refusal};
use placet_wire::api::Job;

use super::approve::change;
use super::record::note_refusal;
use super::{Caller, No, find_place, find_run};
use crate::app::App;

/// How long a worker may wait for work in one request.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Leases the oldest approved action to the worker, waiting for one if there is none.
pub(crate) async fn lease(app: &App, caller: &Caller, wait: Duration) -> Result<Option<Job>, No> {
    let mut changes = app.store().subscribe();
    let until = tokio::time::Instant::now() + wait.min(LONGEST_WAIT);
    loop {
        changes.mark_unchanged();
        if let Some(job) = lease_now(app, caller).await? {
            return Ok(Some(job));
        }
        let changed = tokio::select! {
            changed = changes.changed() => changed.is_ok(),
            () = tokio::time::sleep_until(until) => false,
            () = app.closed() => false,
        };
        if !changed {
            return Ok(None);
        }
    }
}

async fn lease_now(app: &App, caller: &Caller) -> Result<Option<Job>, No> {
    let (terms, policy) = (app.settings().terms, app.policy().version());
    let outcome = app.store().lease_next(caller.identity.clone(), terms, policy, caller.key.clone()).await;
    let Some(receipt) = app.settled("lease", outcome)? else { return Ok(None) };
    app.metrics().runs.observe(&receipt);
    let state = receipt.loaded.action.ok_or(Refusal::Unknown { what: "action" })?;
    job(app, caller, &state).await.map(Some)
}

async fn job(app: &App, caller: &Caller, state: &ActionState) -> Result<Job, No> {
    let permit = Permit::for_lease(state).ok_or(Refusal::Permit(PermitFlaw::Replayed))?;
    let sealed = match app.facts().sealed(state.digest) {
        Some(sealed) => sealed,
        None => app
            .store()
            .sealed(state.id, state.digest)
            .await
            .map_err(No::Fault)?
            .ok_or(Refusal::Unknown { what: "action" })?
            .into(),
    };
    let ground = match app.facts().ground(state.run) {
        Some(ground) => ground,
        None => app.facts().learn_run(find_run(app, caller, state.run).await?),
    };
    Ok(Job {
        hosted: ground.hosted.then_some(state.run),
        scope: ground.hosted.then(|| ground.scope.rules().clone()),
        performing: state.performing,
        action: state.id,
        project: state.project,
        attempt: permit.attempt(),
        sealed: String::from_utf8_lossy(&sealed).into_owned(),
        permit: app.signer().sign(&permit),
        lease_ms: app.settings().terms.lease_ms,
    })
}

/// Takes a permit back for good: from here on the action counts as started.
pub(crate) async fn redeem(app: &App, caller: &Caller, id: ActionId, token: &str) -> Result<ActionState, No> {
    match app.signer().verifier().check(token) {
        Ok(permit) => change(app, caller, id, ActionCommand::Redeem { permit }).await,
        Err(flaw) => {
            let place = find_place(app, caller, id).await?;
            let about = About { project: Some(place.project), run: Some(place.run), action: Some(id) };
            note_refusal(app, caller, about, "redeem", flaw.into()).await?;
            Err(Refusal::Permit(flaw).into())
        }
    }
}
