//! Finding: an id or the number of an entry leads right there; words, or the end of an id, are looked for in the newest runs and actions and
//! in what waits. Only within reach, and nothing is kept of it.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Query};
use placet_control::read::actions::detail;
use placet_control::read::view;
use placet_domain::action::ActionState;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::identity::{Identity, Role};
use placet_domain::proposal::ActionSpec;
use placet_store::{ActionFilter, Listed, Order, QueueFilter, RunFilter};
use serde::Deserialize;

use super::guard::{Visiting, made};
use super::viewer;
use crate::markup::{Found, LONGEST_FIND, RunAction};

const MOST_RUNS: u32 = 1_000;
/// Each is opened to look into its command, so there are fewer of them; as many again of what waits.
const MOST_ACTIONS: u32 = 300;
/// Whoever finds more than this says more.
const MOST_FOUND: usize = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FindQuery {
    #[serde(default)]
    q: String,
}

pub(super) async fn find(
    State(app): State<App>,
    visiting: Visiting,
    caller: Caller,
    Query(query): Query<FindQuery>,
) -> Result<Response, Failure> {
    let words: String = query.q.trim().chars().take(LONGEST_FIND).collect();
    if let Some(place) = straight(&app, &caller, &words).await? {
        return Ok(Redirect::to(&place).into_response());
    }
    let viewer = viewer::viewer(&app, &visiting).await?;
    let found = if words.is_empty() { Found::default() } else { found(&app, &caller, words).await? };
    made(move || crate::markup::find(&viewer, &found)).await
}

/// Where the one thing is that somebody named exactly, if they may see it.
async fn straight(app: &App, caller: &Caller, words: &str) -> Result<Option<String>, Failure> {
    if let Ok(id) = words.parse::<ActionId>() {
        return Ok(flow::find_action(app, caller, id).await.ok().map(|_| format!("/actions/{id}")));
    }
    if let Ok(id) = words.parse::<RunId>() {
        return Ok(flow::find_run(app, caller, id).await.ok().map(|_| format!("/runs/{id}")));
    }
    if let Ok(id) = words.parse::<IdentityId>() {
        let agents = agents(app, caller).await?;
        return Ok(agents.iter().any(|agent| agent.id == id).then(|| format!("/agents/{id}")));
    }
    let reads = [Role::Auditor, Role::Admin].into_iter().any(|role| caller.identity.has(role));
    let number = words.trim_start_matches('#').parse::<u64>().ok();
    Ok(number.filter(|seq| reads && *seq < app.store().size()).map(|seq| format!("/ledger/{seq}")))
}

async fn agents(app: &App, caller: &Caller) -> Result<Vec<Identity>, Failure> {
    let mut found = flow::identities(app, caller).await?;
    found.retain(|identity| identity.has(Role::Agent));
    Ok(found)
}

async fn found(app: &App, caller: &Caller, words: String) -> Result<Found, Failure> {
    let (reach, wanted) = (caller.identity.reach.clone(), Wanted::new(&words));
    let runs = app.store().runs(RunFilter { reach, limit: MOST_RUNS, ..RunFilter::default() }).await?;
    let actions = looked_through(app, caller).await?;
    let among = (runs.len(), actions.len());
    let runs = runs.into_iter().filter(|run| wanted.is_in(&run.goal) || wanted.ends(&run.id.to_string()));
    let agents = agents(app, caller).await?.into_iter().filter(|agent| wanted.is_in(&agent.name));
    Ok(Found {
        runs: runs.take(MOST_FOUND).map(view::listed_run).collect(),
        agents: agents.take(MOST_FOUND).map(|agent| (agent.id.to_string(), agent.name)).collect(),
        actions: matching(app, actions, &wanted).await?,
        among,
        words,
    })
}

/// What waits, and then the newest ones.
async fn looked_through(app: &App, caller: &Caller) -> Result<Vec<Listed<ActionState>>, Failure> {
    let (reach, limit) = (caller.identity.reach.clone(), MOST_ACTIONS);
    let mut actions = app.store().queue(QueueFilter { reach: reach.clone(), limit, ..QueueFilter::default() }).await?;
    let order = Order::NewestFirst;
    actions.extend(app.store().actions(ActionFilter { reach, order, limit, ..ActionFilter::default() }).await?);
    let mut seen = BTreeSet::new();
    actions.retain(|action| seen.insert(action.id));
    Ok(actions)
}

async fn matching(app: &App, actions: Vec<Listed<ActionState>>, wanted: &Wanted) -> Result<Vec<RunAction>, Failure> {
    let mut rows = Vec::new();
    for listed in actions {
        if rows.len() >= MOST_FOUND {
            break;
        }
        // One that cannot be opened any more is found by its id, and takes no other with it.
        let spec = detail(app, &listed).await.ok().map(|opened| opened.spec);
        if spec.as_ref().is_some_and(|spec| wanted.is_of(spec)) || wanted.ends(&listed.id.to_string()) {
            let title = spec.as_ref().map_or_else(|| listed.tool.to_string(), ActionSpec::title);
            rows.push(RunAction { action: view::action(&listed), title, since: listed.created_at });
        }
    }
    Ok(rows)
}

/// Words in any spelling; or the end of an id, as lists show it.
struct Wanted(String);

impl Wanted {
    fn new(words: &str) -> Self {
        Self(words.to_lowercase())
    }

    fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }

    /// In its command, or in a name of a file that it is given or leaves.
    fn is_of(&self, spec: &ActionSpec) -> bool {
        let mut names = spec.files.iter().map(|file| file.path.to_string()).chain(spec.outputs.iter().cloned());
        self.is_in(&format!("{} {}", spec.tool, spec.argv.join(" "))) || names.any(|name| self.is_in(&name))
    }

    fn ends(&self, id: &str) -> bool {
        // `act_…89abcdef` is how pages write it.
        let end = self.0.rsplit('…').next().unwrap_or(&self.0);
        end.len() >= 4 && id.ends_with(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_words_are_found_in_any_spelling_and_ids_by_their_ends() {
        let wanted = Wanted::new("Rm -RF");
        assert!(wanted.is_in("sh -c rm -rf docs") && !wanted.is_in("rm docs"));
        let id = "act_0123456789abcdef0123456789abcdef";
        for end in ["89abcdef", "act_…89abcdef", "…CDEF", id] {
            assert!(Wanted::new(end).ends(id), "{end}");
        }
        for other in ["def", "0123456789abcdef0", "", "…"] {
            assert!(!Wanted::new(other).ends(id), "{other}");
        }
    }
}
