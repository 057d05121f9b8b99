//! Rows of which no two ask the same, wherever in the queue the others stand; and those others, as many as are decided at once.

use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::time::Timestamp;
use placet_store::{Listed, Waits, Whose};
use placet_wire::api::{ActionDetail, ActionView, AttentionView};

use super::{actions, attention, names};
use crate::app::App;
use crate::error::No;
use crate::flow::Caller;

/// Limit of actions that one request decides together.
pub const MOST_AT_ONCE: usize = 50;
/// Limit of twins of one action, so that it and they are decided together.
pub const MOST_TWINS: u32 = MOST_AT_ONCE as u32 - 1;

/// An action that waits, and those that are identical.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub detail: ActionDetail,
    pub since: Timestamp,
    pub agent: String,
    pub goal: String,
    pub twins: Twins,
    /// Who should look at it, and who set it aside.
    pub attention: AttentionView,
}

/// Other waiting actions of the project of which the same would be done, and about which people are asked for the same reasons.
#[derive(Debug, Clone, Default)]
pub struct Twins {
    /// As many of them as are decided at once.
    pub some: Vec<Twin>,
    /// How many there are.
    pub count: u64,
}

/// One of them: whose it is, and in which undertaking.
#[derive(Debug, Clone)]
pub struct Twin {
    pub id: ActionId,
    pub review: Digest,
    pub agent: String,
    pub goal: String,
}

impl Twins {
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The action itself and its twins, each with what is decided on.
    pub fn all(&self, action: &ActionView) -> impl Iterator<Item = (ActionId, Digest)> {
        std::iter::once((action.id, action.review)).chain(self.some.iter().map(|twin| (twin.id, twin.review)))
    }
}

/// Rows, each with those that ask the same and wait for the same word, which have no row of their own: `most` of them, and how many there
/// are.
pub async fn folded(
    app: &App,
    caller: &Caller,
    queue: Vec<Listed<ActionState>>,
    waits: &Waits,
    most: u32,
) -> Result<Vec<Waiting>, No> {
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
        let detail = actions::detail(app, &listed).await?;
        let (agent, goal) = (names::person(app, listed.proposer).await?, names::goal(app, listed.run).await?);
        let attention = attention::view(app, caller, &listed).await?;
        rows.push(Waiting { detail, since: listed.created_at, agent, goal, twins, attention });
    }
    Ok(rows)
}

/// Others that ask the same of these people as one action.
pub async fn of(app: &App, action: &ActionState, whose: Whose) -> Result<Twins, No> {
    let asked = action.shared_question().map(|question| (action.id, question));
    let found = found(app, asked.into_iter().collect(), whose, MOST_TWINS).await?;
    Ok(found.into_iter().next().map(|(_, twins)| twins).unwrap_or_default())
}

async fn found(
    app: &App,
    asked: Vec<(ActionId, Digest)>,
    whose: Whose,
    most: u32,
) -> Result<Vec<(ActionId, Twins)>, No> {
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

async fn twin(app: &App, other: &ActionState) -> Result<Twin, No> {
    let (agent, goal) = (names::person(app, other.proposer).await?, names::goal(app, other.run).await?);
    Ok(Twin { id: other.id, review: other.review(), agent, goal })
}
