//! Agents and workers, and the page of help.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::id::IdentityId;
use placet_domain::identity::{Declaration, Identity, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_pages::{AgentPage, AgentRow, WorkerPage, WorkerRow};
use placet_store::{ActionFilter, Listed, Order, RunFilter};

use super::super::extract::Path;
use super::super::problem::Failure;
use super::super::view;
use super::guard::{Visiting, html};
use super::{names, viewer};
use crate::app::App;
use crate::flow::{self, Caller, No};

/// The newest agents; a run that is hosted has one of its own.
const MOST_AGENTS: usize = 200;
const MOST_RUNS: u32 = 500;
/// The newest runs of one agent; all that it proposed in them is counted.
const MOST_OWN_RUNS: usize = 20;
/// A worker asks for work at least this often; twice that without a word, and something is wrong with it.
const SILENT_AFTER: Duration = Duration::from_secs(90);

async fn with_role(app: &App, caller: &Caller, role: Role) -> Result<Vec<Identity>, Failure> {
    let mut found = flow::identities(app, caller).await?;
    found.retain(|identity| identity.has(role));
    found.sort_by_key(|identity| (identity.revoked, std::cmp::Reverse(identity.id)));
    Ok(found)
}

pub(super) async fn agents(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let filter = RunFilter { reach: visiting.identity.reach.clone(), limit: MOST_RUNS, ..RunFilter::default() };
    let mut runs: BTreeMap<IdentityId, Vec<Run>> = BTreeMap::new();
    for listed in app.store().runs(filter).await? {
        runs.entry(listed.agent).or_default().push(listed.state);
    }
    let mut rows = Vec::new();
    for identity in with_role(&app, &caller, Role::Agent).await?.into_iter().take(MOST_AGENTS) {
        let own = runs.get(&identity.id).map(Vec::as_slice).unwrap_or_default();
        let run = own.first().map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string()));
        let more_runs = own.len().saturating_sub(1) as u64;
        let lineage = lineage(&app, &identity).await?;
        rows.push(AgentRow { identity: view::identity(&identity), lineage, run, more_runs });
    }
    Ok(html(placet_pages::agents(&viewer, &rows)))
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
    Ok(html(placet_pages::agent(&viewer, &page)))
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
    let rows = worker_rows(&app, &caller).await?;
    Ok(html(placet_pages::workers(&viewer, &rows)))
}

/// The workers that somebody sees, and what they do of what somebody sees.
pub(in crate::http) async fn worker_rows(app: &App, caller: &Caller) -> Result<Vec<WorkerRow>, Failure> {
    let (leased, runs) = at_work(app, caller).await?;
    let workers = with_role(app, caller, Role::Worker).await?;
    Ok(workers.iter().map(|worker| row(app, worker, &leased, &runs)).collect())
}

/// What is executed and hosted now, of what somebody sees.
async fn at_work(app: &App, caller: &Caller) -> Result<(Vec<Listed<ActionState>>, Vec<Listed<Run>>), Failure> {
    let reach = caller.identity.reach.clone();
    let busy = vec![ActionStatus::Leased, ActionStatus::Executing];
    let filter = ActionFilter {
        reach: reach.clone(),
        statuses: busy,
        order: Order::NewestFirst,
        limit: MOST_RUNS,
        ..ActionFilter::default()
    };
    let leased = app.store().actions(filter).await?;
    let runs = app.store().runs(RunFilter { reach, limit: MOST_RUNS, ..RunFilter::default() }).await?;
    Ok((leased, runs))
}

fn row(app: &App, worker: &Identity, leased: &[Listed<ActionState>], runs: &[Listed<Run>]) -> WorkerRow {
    let silence = app.door().silence_of(worker.id);
    let now = app.store().now();
    let ago = |silence: Duration| {
        let ms = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_unix_ms(now.unix_ms().saturating_sub(ms))
    };
    let declared = worker.declaration.as_deref();
    WorkerRow {
        declaration: worker.declaration.clone(),
        other_version: declared.is_some_and(|declared| declared.version != env!("CARGO_PKG_VERSION")),
        other_profiles: declared.map(|declared| other_profiles(app, declared)).unwrap_or_default(),
        identity: view::identity(worker),
        last_seen: silence.map(ago),
        executes: leased.iter().filter(|action| action.lease().is_some_and(|lease| lease.worker == worker.id)).count()
            as u64,
        hosts: runs.iter().filter(|run| run.host.worker == Some(worker.id) && !run.host.destroyed).count() as u64,
        is_well: silence.is_some_and(|silence| silence < SILENT_AFTER),
    }
}

/// Profiles in which nothing that is approved here would run there.
fn other_profiles(app: &App, declared: &Declaration) -> Vec<String> {
    let here = app.tools().cages().iter();
    let others = here.filter(|(name, digest)| declared.profiles.get(*name) != Some(digest));
    others.map(|(name, _)| name.to_owned()).collect()
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
    let (leased, runs) = at_work(&app, &caller).await?;
    let workers = with_role(&app, &caller, Role::Worker).await?;
    let found =
        workers.iter().find(|worker| worker.id == id).ok_or(No::Refused(Refusal::Unknown { what: "worker" }))?;
    let executes = leased.iter().filter(|action| action.lease().is_some_and(|lease| lease.worker == id));
    let hosts = runs.iter().filter(|run| run.host.worker == Some(id) && !run.host.destroyed);
    let page = WorkerPage {
        executes: executes
            .map(|action| (action.id.to_string(), action.tool.to_string(), action.status.to_string()))
            .collect(),
        hosts: hosts.map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string())).collect(),
        row: row(&app, found, &leased, &runs),
    };
    Ok(html(placet_pages::worker(&viewer, &page)))
}

pub(super) async fn help(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    Ok(html(placet_pages::help(&viewer)))
}
