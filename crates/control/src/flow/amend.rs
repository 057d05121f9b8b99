//! AMEND: what a reviewer made of a proposal is sealed and judged like one, and takes its place in the same step.

use placet_domain::action::{ActionCommand, ActionState, Amended};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::proposal::{Action, Proposal};
use placet_domain::refusal::Refusal;
use placet_wire::api::AmendmentRequest;

use super::propose::{needs_files, seal};
use super::{Caller, No, find_action, find_ground};
use crate::app::App;
use crate::names::fresh_uuid;

/// Gives the action that stands in its place.
pub(crate) async fn amend(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Digest,
    request: AmendmentRequest,
) -> Result<ActionState, No> {
    let state = find_action(app, caller, id).await?;
    let run = find_ground(app, caller, state.run).await?;
    let proposal = wish_behind(app, &state).await?.with(&request.changes)?;
    let action = seal(app, &run, &proposal, &run.scope, state.proposer).await?;
    needs_files(app, &run, &action).await?;
    let verdict = app.policy().judge(&action, &run.frame());
    app.facts().learn_sealed(&action);
    let amended = Box::new(Amended { id: ActionId::from_uuid(fresh_uuid()), action, verdict });
    let command = ActionCommand::Amend { seen, reason: request.reason, amended };
    let receipt = app.submit(caller.actor(), Command::Action { id, run: run.id, command }, caller.key.clone()).await?;
    let successor = receipt.loaded.successor.ok_or(Refusal::Unknown { what: "action" })?;
    app.facts().learn_action(&successor);
    Ok(successor)
}

async fn wish_behind(app: &App, state: &ActionState) -> Result<Proposal, No> {
    let sealed = app.store().sealed(state.id, state.digest).await.map_err(No::Fault)?;
    let sealed = sealed.ok_or(Refusal::Unknown { what: "action" })?;
    Ok(Proposal::behind(Action::open(&sealed)?.spec(), app.tools())?)
}
