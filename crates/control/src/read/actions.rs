//! Actions as people and programs are shown them: opened, with a title and the name of their agent.

use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::proposal::{Action, ActionSpec, Proposal};
use placet_domain::refusal::Refusal;
use placet_store::Listed;
use placet_wire::api;

use super::names::person;
use super::view;
use crate::app::App;
use crate::error::No;

/// Opens the sealed bytes of an action.
pub async fn opened(app: &App, id: ActionId, digest: Digest) -> Result<ActionSpec, No> {
    let sealed = app.store().sealed(id, digest).await?;
    let sealed = sealed.ok_or(No::Refused(Refusal::Unknown { what: "action" }))?;
    Ok(Action::open(&sealed)?.spec().clone())
}

/// What would be done, in a line. One that cannot be opened any more is told by its tool, and takes no other with it.
pub async fn title(app: &App, action: &ActionState) -> String {
    opened(app, action.id, action.digest).await.map_or_else(|_| action.tool.to_string(), |spec| spec.title())
}

/// As a person is told of it: what would be done, and whose it is.
pub async fn titled(app: &App, action: &ActionState) -> Result<api::ActionView, No> {
    let title = title(app, action).await;
    named(app, action, title).await
}

async fn named(app: &App, action: &ActionState, title: String) -> Result<api::ActionView, No> {
    let (title, agent) = (Some(title), Some(person(app, action.proposer).await?));
    Ok(api::ActionView { title, agent, ..view::action(action) })
}

/// The same for each of a list.
pub async fn titled_all(app: &App, actions: &[Listed<ActionState>]) -> Result<Vec<api::ActionView>, No> {
    let mut views = Vec::with_capacity(actions.len());
    for listed in actions {
        views.push(titled(app, listed).await?);
    }
    Ok(views)
}

/// Tells of each in a list what it does; of what cannot be opened any more nothing.
pub async fn entitle(app: &App, actions: &mut [api::ActionView]) {
    for action in actions {
        action.title = opened(app, action.id, action.digest).await.ok().map(|spec| spec.title());
    }
}

/// An action with everything that would be done.
pub async fn detail(app: &App, action: &ActionState) -> Result<api::ActionDetail, No> {
    let spec = opened(app, action.id, action.digest).await?;
    let justification = match action.advice {
        Some(digest) => app.store().advice(action.id, digest).await?,
        None => None,
    };
    let proposal = Proposal::behind(&spec, app.tools()).ok();
    let action = named(app, action, spec.title()).await?;
    Ok(api::ActionDetail { action, spec, proposal, justification, interruption: None })
}
