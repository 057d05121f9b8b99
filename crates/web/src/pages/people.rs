//! Agents and workers, and the page of help.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::{self, Caller, No};
use placet_control::http::{Failure, Path};
use placet_control::read::{names, view, workers};
use placet_domain::action::ActionStatus;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_store::{ActionFilter, Listed, Order, RunFilter};

use super::guard::{Visiting, html};
use super::viewer;
use crate::markup::{AgentPage, AgentRow, WorkerPage};

/// The newest agents; a run that is hosted has one of its own.
const MOST_AGENTS: usize = 200;
const MOST_RUNS: u32 = 500;
/// The newest runs of one agent; all that it proposed in them is counted.
const MOST_OWN_RUNS: usize = 20;
pub(super) async fn agents(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let filter = RunFilter { reach: visiting.identity.reach.clone(), limit: MOST_RUNS, ..RunFilter::default() };
    let mut runs: BTreeMap<IdentityId, Vec<Run>> = BTreeMap::new();
    for listed in app.store().runs(filter).await? {
        runs.entry(listed.agent).or_default().push(listed.state);
    }
    let mut rows = Vec::new();
    for identity in workers::with_role(&app, &caller, Role::Agent).await?.into_iter().take(MOST_AGENTS) {
        let own = runs.get(&identity.id).map(Vec::as_slice).unwrap_or_default();
        let run = own.first().map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string()));
        let more_runs = own.len().saturating_sub(1) as u64;
        let lineage = lineage(&app, &identity).await?;
        rows.push(AgentRow { identity: view::identity(&identity), lineage, run, more_runs });
    }
    Ok(html(crate::markup::agents(&viewer, &rows)))
}

/// Names of whom it descends from; ids are ordered by age, so the eldest comes first.
async fn lineage(app: &App, identity: &Identity) -> Result<Vec<String>, Failure> {
    let mut line = Vec::new();
    for elder in identity.lineage.iter() {
        line.push(names::person(app, elder).await?);
    }
    Ok(line)
}

/// One agent, if whoever looks may know of it.
pub(super) async fn agent(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let id: IdentityId = id.parse().map_err(Failure::bad_id)?;
    let viewer = viewer::viewer(&app, &visiting).await?;
    let everybody = flow::identities(&app, &caller).await?;
    let found = everybody.iter().find(|identity| identity.id == id && identity.has(Role::Agent));
    let identity = found.ok_or(No::Refused(Refusal::Unknown { what: "agent" }))?;
    let filter = RunFilter { reach: visiting.identity.reach.clone(), limit: MOST_RUNS, ..RunFilter::default() };
    let own: Vec<Listed<Run>> =
        app.store().runs(filter).await?.into_iter().filter(|run| run.agent == id).take(MOST_OWN_RUNS).collect();
    let (approved, rejected) = decided(&app, &own).await?;
    let page = AgentPage {
        identity: view::identity(identity),
        elders: identity.lineage.iter().map(|elder| relative(&everybody, elder)).collect(),
        children: everybody
            .iter()
            .filter(|other| other.lineage.includes(id))
            .take(MOST_AGENTS)
            .map(|child| relative(&everybody, child.id))
            .collect(),
        runs: own.iter().map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string())).collect(),
        approved,
        rejected,
    };
    Ok(html(crate::markup::agent(&viewer, &page)))
}

/// Somebody of the line: who is out of reach is told by an id.
fn relative(everybody: &[Identity], id: IdentityId) -> (String, String, bool) {
    let known = everybody.iter().find(|identity| identity.id == id);
    let name = known.map_or_else(|| id.to_string(), |identity| identity.name.clone());
    (id.to_string(), name, known.is_some_and(|identity| identity.has(Role::Agent)))
}

/// How much of what was proposed in these runs people approved, and how much they rejected.
async fn decided(app: &App, runs: &[Listed<Run>]) -> Result<(u64, u64), Failure> {
    let (mut approved, mut rejected) = (0, 0);
    for run in runs {
        let filter =
            ActionFilter { run: Some(run.id), order: Order::NewestFirst, limit: MOST_RUNS, ..ActionFilter::default() };
        for action in app.store().actions(filter).await? {
            approved += u64::from(action.was_looked_at());
            rejected += u64::from(action.status == ActionStatus::Rejected);
        }
    }
    Ok((approved, rejected))
}

pub(super) async fn workers(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let rows = workers::worker_rows(&app, &caller).await?;
    Ok(html(crate::markup::workers(&viewer, &rows)))
}

/// One worker, with what it executes and hosts now of what whoever looks may see.
pub(super) async fn worker(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let id: IdentityId = id.parse().map_err(Failure::bad_id)?;
    let viewer = viewer::viewer(&app, &visiting).await?;
    let (leased, runs) = workers::at_work(&app, &caller).await?;
    let workers = workers::with_role(&app, &caller, Role::Worker).await?;
    let found =
        workers.iter().find(|worker| worker.id == id).ok_or(No::Refused(Refusal::Unknown { what: "worker" }))?;
    let executes = leased.iter().filter(|action| action.lease().is_some_and(|lease| lease.worker == id));
    let hosts = runs.iter().filter(|run| run.host.worker == Some(id) && !run.host.destroyed);
    let page = WorkerPage {
        executes: executes
            .map(|action| (action.id.to_string(), action.tool.to_string(), action.status.to_string()))
            .collect(),
        hosts: hosts.map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string())).collect(),
        row: workers::row(&app, found, &leased, &runs),
    };
    Ok(html(crate::markup::worker(&viewer, &page)))
}

pub(super) async fn help(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    Ok(html(crate::markup::help(&viewer)))
}
