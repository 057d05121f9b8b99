//! The inbox: what waits, with the card of what is looked at beside it.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use placet_domain::action::ActionState;
use placet_domain::approval::{self, Width};
use placet_domain::digest::Digest;
use placet_domain::proposal::ActionSpec;
use placet_pages::{ActionPage, Inbox, Twin, Twins, Waiting};
use placet_store::Listed;
use serde::Deserialize;

use super::super::extract::Query;
use super::super::problem::Failure;
use super::address::Address;
use super::guard::{Visiting, made};
use super::{action, names, viewer};
use crate::app::App;
use crate::flow::{self, Caller, No};

/// As many rows as are looked through before something is decided; each is opened to tell which are identical.
const MOST_ROWS: u32 = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InboxQuery {
    /// What is looked at.
    action: Option<String>,
    /// Only actions of this tier.
    tier: Option<String>,
}

pub(super) async fn show(
    State(app): State<App>,
    visiting: Visiting,
    caller: Caller,
    address: Address,
    Query(query): Query<InboxQuery>,
) -> Result<Response, Failure> {
    let reach = visiting.identity.reach.clone();
    let runs = viewer::standing(&app, &reach).await?;
    let waiting = app.store().queue_length(reach.clone()).await?;
    let viewer = viewer::viewer_of(&app, &visiting, waiting + runs.len() as u64).await?;
    let queue = app.store().queue(reach, MOST_ROWS).await?;
    let of_tier = |listed: &Listed<ActionState>| {
        query.tier.as_ref().is_none_or(|tier| listed.verdict.tier().to_string() == *tier)
    };
    let actions = folded(&app, queue.into_iter().filter(of_tier).collect()).await?;
    let chosen = chosen(&app, &caller, &address, query.action.as_deref(), &actions).await?;
    let absent = flow::standing_in(&app, visiting.identity.id).await?;
    let absent = absent.into_iter().map(|absence| (absence.name, absence.until)).collect();
    let (was_chosen, tier, chosen) = (query.action.is_some(), query.tier, chosen.map(Box::new));
    let inbox = Inbox { actions, waiting, runs, tier, absent, chosen, was_chosen };
    made(move || placet_pages::inbox(&viewer, &inbox)).await
}

/// What was asked for, or else what comes first.
async fn chosen(
    app: &App,
    caller: &Caller,
    address: &Address,
    asked: Option<&str>,
    rows: &[Waiting],
) -> Result<Option<ActionPage>, Failure> {
    let id = match (asked, rows.first()) {
        (Some(asked), _) => asked.parse().map_err(Failure::bad_id)?,
        (None, Some(first)) => first.detail.action.id,
        (None, None) => return Ok(None),
    };
    let mut page = action::page(app, caller, address, id).await?;
    let row = rows.iter().find(|row| row.detail.action.id == id);
    page.twins = row.map(|row| row.twins.clone()).unwrap_or_default();
    Ok(Some(page))
}

/// Rows of which no two are identical: those that are stand behind the first of them.
pub(in crate::http) async fn folded(app: &App, queue: Vec<Listed<ActionState>>) -> Result<Vec<Waiting>, Failure> {
    let mut rows: Vec<Waiting> = Vec::new();
    let mut known: BTreeMap<Digest, usize> = BTreeMap::new();
    for listed in queue {
        let detail = super::super::actions::detail(app, &listed).await?;
        let class = class(&listed, &detail.spec);
        // Where two people are asked, each action is looked at by itself.
        let twin = known.get(&class).filter(|_| detail.action.verdict.tier == "B");
        let (agent, goal) = (names::person(app, listed.proposer).await?, goal(app, &listed).await?);
        if let Some(first) = twin.and_then(|index| rows.get_mut(*index)) {
            first.twins.0.push(Twin { id: detail.action.id, review: detail.action.review, agent, goal });
            continue;
        }
        known.insert(class, rows.len());
        rows.push(Waiting { detail, since: listed.created_at, agent, goal, twins: Twins::default() });
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
