//! Rows of which no two ask the same, wherever in the queue the others stand; and those others, as many as are decided at once.

use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_pages::{Twin, Twins, Waiting};
use placet_store::{Listed, Waits, Whose};

use super::super::attention;
use super::super::problem::Failure;
use super::action::MOST_AT_ONCE;
use super::names;
use crate::app::App;
use crate::flow::Caller;

/// A row says how many there are, and its card which.
pub(super) const COUNTED: u32 = 0;
/// With the one that stands for them, as many as one form decides.
pub(in crate::http) const MOST_TWINS: u32 = MOST_AT_ONCE as u32 - 1;

/// Rows, each with those that ask the same and wait for the same word, which have no row of their own: `most` of them, and how many there
/// are.
pub(in crate::http) async fn folded(
    app: &App,
    caller: &Caller,
    queue: Vec<Listed<ActionState>>,
    waits: &Waits,
    most: u32,
) -> Result<Vec<Waiting>, Failure> {
    let asked = queue.iter().filter_map(|listed| Some((listed.id, listed.shared_question()?)));
    let mut found = match waits {
        Waits::ForApproval(whose) => found(app, asked.collect(), whose.clone(), most).await?,
        Waits::ForResolution => Vec::new(),
    }
    .into_iter()
    .peekable();
    let mut rows = Vec::new();
    for listed in queue {
        let twins = found.next_if(|(of, _)| *of == listed.id).map(|(_, twins)| twins).unwrap_or_default();
        let detail = super::super::actions::detail(app, &listed).await?;
        let (agent, goal) = (names::person(app, listed.proposer).await?, names::goal(app, listed.run).await?);
        let attention = attention::view(app, caller, &listed).await?;
        rows.push(Waiting { detail, since: listed.created_at, agent, goal, twins, attention });
    }
    Ok(rows)
}

/// Others that ask the same of these people as one action.
pub(super) async fn of(app: &App, action: &ActionState, whose: Whose) -> Result<Twins, Failure> {
    let asked = action.shared_question().map(|question| (action.id, question));
    let found = found(app, asked.into_iter().collect(), whose, MOST_TWINS).await?;
    Ok(found.into_iter().next().map(|(_, twins)| twins).unwrap_or_default())
}

async fn found(
    app: &App,
    asked: Vec<(ActionId, Digest)>,
    whose: Whose,
    most: u32,
) -> Result<Vec<(ActionId, Twins)>, Failure> {
    let ids: Vec<ActionId> = asked.iter().map(|(id, _)| *id).collect();
    let mut found = Vec::new();
    for (id, twins) in ids.into_iter().zip(app.store().twins(asked, whose, most).await?) {
        let mut some = Vec::new();
        for other in &twins.actions {
            some.push(twin(app, other).await?);
        }
        found.push((id, Twins { some, count: twins.count }));
    }
    Ok(found)
}

async fn twin(app: &App, other: &ActionState) -> Result<Twin, Failure> {
    let (agent, goal) = (names::person(app, other.proposer).await?, names::goal(app, other.run).await?);
    Ok(Twin { id: other.id, review: other.review(), agent, goal })
}
