//! Rows of which no two are identical. How far that goes: among the rows of one page, each of which is opened for it.

use std::collections::BTreeMap;

use placet_domain::action::ActionState;
use placet_domain::approval::{self, Width};
use placet_domain::digest::Digest;
use placet_domain::proposal::ActionSpec;
use placet_pages::{Twin, Twins, Waiting};
use placet_store::Listed;

use super::super::attention;
use super::super::problem::Failure;
use super::names;
use crate::app::App;
use crate::flow::{Caller, No};

/// Rows of which no two are identical: those that are stand behind the first of them.
pub(in crate::http) async fn folded(
    app: &App,
    caller: &Caller,
    queue: Vec<Listed<ActionState>>,
) -> Result<Vec<Waiting>, Failure> {
    let mut rows: Vec<Waiting> = Vec::new();
    let mut known: BTreeMap<Digest, usize> = BTreeMap::new();
    for listed in queue {
        let detail = super::super::actions::detail(app, &listed).await?;
        let class = class(&listed, &detail.spec);
        // Where two people are asked, each action is looked at by itself; so is one about which people said something.
        let is_plain = detail.action.verdict.tier == "B" && listed.attention.is_none();
        let twin = known.get(&class).filter(|_| is_plain);
        let (agent, goal) = (names::person(app, listed.proposer).await?, goal(app, &listed).await?);
        if let Some(first) = twin.and_then(|index| rows.get_mut(*index)) {
            first.twins.0.push(Twin { id: detail.action.id, review: detail.action.review, agent, goal });
            continue;
        }
        if is_plain {
            known.insert(class, rows.len());
        }
        let attention = attention::view(app, caller, &listed).await?;
        rows.push(Waiting { detail, since: listed.created_at, agent, goal, twins: Twins::default(), attention });
    }
    Ok(rows)
}

async fn goal(app: &App, action: &ActionState) -> Result<String, Failure> {
    let run = app.store().run(action.run).await.map_err(No::Fault)?;
    Ok(run.map(|run| run.goal).unwrap_or_default())
}

/// What makes two actions identical to a person: everything that is done, where, and why they are asked. Not for whom.
pub(super) fn class(action: &ActionState, spec: &ActionSpec) -> Digest {
    approval::class(Width::Exact, action.project, spec, &action.verdict)
}
