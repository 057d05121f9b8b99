//! AMEND: what a reviewer made of a proposal is sealed and judged like one, and takes its place in the same step.
//!
//! What it is given and was not there yet is kept before it, because nothing is approved that names bytes which are not here. So the domain
//! is asked first, on what stands now: what it refuses leaves no bytes, and is recorded as ever. Only what changes between that and the
//! step itself, because somebody else decided in that very moment, leaves bytes that nothing names.

use bytes::Bytes;
use placet_domain::action::{ActionCommand, ActionState, Amended};
use placet_domain::command::{About, Command};
use placet_domain::decide::{AdmittedSubmission, Loaded, decide};
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::proposal::{Action, Proposal};
use placet_domain::refusal::Refusal;
use placet_wire::api::AmendmentRequest;

use super::propose::{needs_files, seal};
use super::{Caller, No, find_action, find_ground, find_run, keep_blob, note_refusal};
use crate::app::App;
use crate::names::fresh_uuid;

/// What the action is to be given and is not kept yet.
#[derive(Debug)]
pub struct Content {
    pub digest: Digest,
    pub bytes: Bytes,
}

/// Gives the action that stands in its place.
pub(crate) async fn amend(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Digest,
    request: AmendmentRequest,
) -> Result<ActionState, No> {
    amend_with(app, caller, id, seen, request, Vec::new()).await
}

/// The same, with contents that come along with it.
pub async fn amend_with(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Digest,
    request: AmendmentRequest,
    contents: Vec<Content>,
) -> Result<ActionState, No> {
    let state = find_action(app, caller, id).await?;
    let run = find_ground(app, caller, state.run).await?;
    let proposal = wish_behind(app, &state).await?.with(&request.changes)?;
    let action = seal(app, &run, &proposal, &run.scope, state.proposer).await?;
    let verdict = app.policy().judge(&action, &run.frame());
    let amended = Amended { id: ActionId::from_uuid(fresh_uuid()), action: action.clone(), verdict };
    let command = ActionCommand::Amend { seen, reason: request.reason, amended: Box::new(amended) };
    let command = Command::Action { id, run: run.id, command };
    if !contents.is_empty() {
        needs_no_refusal(app, caller, &state, &command).await?;
    }
    for Content { digest, bytes } in contents {
        keep_blob(app, caller, state.project, digest, bytes).await?;
    }
    needs_files(app, &run, &action).await?;
    app.facts().learn_sealed(&action);
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    let successor = receipt.loaded.successor.ok_or(Refusal::Unknown { what: "action" })?;
    app.facts().learn_action(&successor);
    Ok(successor)
}

/// What the domain says of it as things stand. Nothing is committed but that somebody tried.
async fn needs_no_refusal(app: &App, caller: &Caller, state: &ActionState, command: &Command) -> Result<(), No> {
    let run = find_run(app, caller, state.run).await?;
    let about = About { project: Some(run.project), run: Some(run.id), action: Some(state.id) };
    let organisation = app.store().organisation().await.map_err(No::Fault)?;
    let actor = app.store().identity(caller.identity.id).await.map_err(No::Fault)?;
    let valid = actor.as_ref().filter(|actor| !actor.revoked).map(|actor| actor.token);
    let loaded = Loaded { run: Some(run), action: Some(state.clone()), actor, organisation, ..Loaded::default() };
    let submission = app.submission(caller.actor(), command.clone(), None);
    let decided = AdmittedSubmission::check(&submission, valid)
        .and_then(|admitted| decide(&loaded, &admitted, app.store().now()));
    let Err(refusal) = decided else { return Ok(()) };
    if refusal.is_recorded() && app.door().may_note_refusal_of(caller.identity.id) {
        note_refusal(app, caller, about, command.name(), refusal.clone()).await?;
    }
    Err(refusal.into())
}

async fn wish_behind(app: &App, state: &ActionState) -> Result<Proposal, No> {
    let sealed = app.store().sealed(state.id, state.digest).await.map_err(No::Fault)?;
    let sealed = sealed.ok_or(Refusal::Unknown { what: "action" })?;
    Ok(Proposal::behind(Action::open(&sealed)?.spec(), app.tools())?)
}
