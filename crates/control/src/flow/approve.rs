//! APPROVE: people decide, each on exactly what they saw.

use placet_domain::action::{ActionCommand, ActionState, Resolution};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::passkey::Proof;
use placet_domain::proposal::Action;
use placet_domain::refusal::Refusal;

use super::order::withdraw_disowned;
use super::{Caller, No, find_action, find_ground, find_place};
use crate::app::App;

pub async fn approve(app: &App, caller: &Caller, id: ActionId, seen: Digest) -> Result<ActionState, No> {
    approve_signed(app, caller, id, seen, None).await
}

/// Approves with the signature of a passkey of the caller, if there is one.
pub async fn approve_signed(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Digest,
    proof: Option<Proof>,
) -> Result<ActionState, No> {
    change(app, caller, id, ActionCommand::Approve { seen, proof: proof.map(Box::new) }).await
}

pub async fn reject(app: &App, caller: &Caller, id: ActionId, seen: Digest, reason: String) -> Result<ActionState, No> {
    let action = change(app, caller, id, ActionCommand::Reject { seen, reason }).await?;
    // With it all orders of the run for this tool are over, and so is what they approved.
    withdraw_disowned(app, action.run).await?;
    Ok(action)
}

pub(crate) async fn withdraw(app: &App, caller: &Caller, id: ActionId, reason: String) -> Result<ActionState, No> {
    change(app, caller, id, ActionCommand::Withdraw { reason }).await
}

/// What was only rehearsed is to be done, as the policy in force judges it.
pub async fn perform(app: &App, caller: &Caller, id: ActionId, seen: Digest) -> Result<ActionState, No> {
    let state = find_action(app, caller, id).await?;
    let run = find_ground(app, caller, state.run).await?;
    let sealed = app.store().sealed(id, state.digest).await.map_err(No::Fault)?;
    let sealed = sealed.ok_or(Refusal::Unknown { what: "action" })?;
    let verdict = app.policy().judge(&Action::open(&sealed)?, &run.frame());
    change(app, caller, id, ActionCommand::Perform { seen, verdict }).await
}

pub async fn resolve(
    app: &App,
    caller: &Caller,
    id: ActionId,
    resolution: Resolution,
    reason: String,
) -> Result<ActionState, No> {
    change(app, caller, id, ActionCommand::Resolve { resolution, reason }).await
}

/// Asks something of an action that the caller may know of.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: ActionId,
    command: ActionCommand,
) -> Result<ActionState, No> {
    let run = find_place(app, caller, id).await?.run;
    let command = Command::Action { id, run, command };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.action.ok_or_else(|| Refusal::Unknown { what: "action" }.into())
}
