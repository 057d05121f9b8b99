//! PROPOSE and JUDGE: an agent's wish is sealed, judged and recorded, all in one step.

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::proposal::{Action, Proposal, Unsealable};
use placet_domain::refusal::Refusal;
use placet_domain::run::too_many_questions;
use placet_domain::scope::Scope;
use placet_store::Extras;

use super::{Caller, No, find_ground};
use crate::app::App;
use crate::facts::Ground;
use crate::names::fresh_uuid;

/// The agent's words are kept for the reviewer, but not without end.
const LONGEST_JUSTIFICATION: usize = 8_000;

pub(crate) async fn propose(app: &App, caller: &Caller, run: RunId, proposal: Proposal) -> Result<ActionState, No> {
    let run = find_ground(app, caller, run).await?;
    if proposal.justification.len() > LONGEST_JUSTIFICATION {
        return Err(Refusal::invalid("the justification is longer than 8000 bytes").into());
    }
    let action = seal(app, &run, &proposal, &run.scope, caller.identity.id).await?;
    needs_files(app, &run, &action).await?;
    let verdict = app.policy().judge(&action, &run.frame());
    app.facts().learn_sealed(&action);
    let advice = (!proposal.justification.is_empty()).then_some(proposal.justification);
    let advice_digest = advice.as_ref().map(|words| Digest::of(words.as_bytes()));
    let command = ActionCommand::Propose { action: Box::new(action), verdict, advice: advice_digest };
    let command = Command::Action { id: ActionId::from_uuid(fresh_uuid()), run: run.id, command };
    let receipt =
        app.submit_with(Extras { advice, ..Extras::default() }, caller.actor(), command, caller.key.clone()).await?;
    // Where it is not there, something else was recorded in its place: that too much is asked.
    let action = receipt.loaded.action.ok_or_else(|| too_many_questions(receipt.loaded.questions))?;
    app.facts().learn_action(&action);
    Ok(action)
}

/// The only way to seal here: whose credentials may be used depends on the project, which the sealed bytes do not name.
pub(super) async fn seal(
    app: &App,
    run: &Ground,
    proposal: &Proposal,
    scope: &Scope,
    agent: IdentityId,
) -> Result<Action, No> {
    if !proposal.credentials.is_empty() {
        let project = app.store().project(run.project).await.map_err(No::Fault)?;
        let project = project.ok_or(Refusal::Unknown { what: "project" })?;
        let book = app.tools().credentials();
        book.check_project(&proposal.credentials, &project.name).map_err(Unsealable::from)?;
    }
    Ok(Action::seal(proposal, app.tools(), scope, run.id, agent)?)
}

/// Every file the action names must be here already: what is approved must be what will be executed.
pub(super) async fn needs_files(app: &App, run: &Ground, action: &Action) -> Result<(), No> {
    for file in &action.spec().files {
        let kept = app.store().kept(run.project, file.digest).await.map_err(No::Fault)?;
        if kept.map(|kept| kept.size_bytes) != Some(file.size_bytes) {
            return Err(No::MissingEvidence(file.path.clone()));
        }
    }
    Ok(())
}
