//! Agents and workers, and the page of help.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use placet_domain::action::ActionStatus;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, Role};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_pages::{AgentRow, WorkerRow};
use placet_store::{ActionFilter, Listed, Order, RunFilter};

use super::super::problem::Failure;
use super::super::view;
use super::guard::{Visiting, html};
use super::{names, viewer};
use crate::app::App;
use crate::flow::{self, Caller};

/// The newest agents; a run that is hosted has one of its own.
const MOST_AGENTS: usize = 200;
const MOST_RUNS: u32 = 500;
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
    let mut newest: BTreeMap<IdentityId, Run> = BTreeMap::new();
    for listed in app.store().runs(filter).await?.into_iter().rev() {
        newest.insert(listed.agent, listed.state);
    }
    let mut rows = Vec::new();
    for identity in with_role(&app, &caller, Role::Agent).await?.into_iter().take(MOST_AGENTS) {
        let run = newest.get(&identity.id);
        let run = run.map(|run| (run.id.to_string(), run.goal.clone(), run.status.to_string()));
        let lineage = lineage(&app, &identity).await?;
        rows.push(AgentRow { identity: view::identity(&identity), lineage, run });
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

pub(super) async fn workers(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let rows = worker_rows(&app, &caller).await?;
    Ok(html(placet_pages::workers(&viewer, &rows)))
}

/// The workers that somebody sees, and what they do of what somebody sees.
pub(in crate::http) async fn worker_rows(app: &App, caller: &Caller) -> Result<Vec<WorkerRow>, Failure> {
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
    let workers = with_role(app, caller, Role::Worker).await?;
    Ok(workers.iter().map(|worker| row(app, worker, &leased, &runs)).collect())
}

fn row(
    app: &App,
    worker: &Identity,
    leased: &[Listed<placet_domain::action::ActionState>],
    runs: &[Listed<Run>],
) -> WorkerRow {
    let silence = app.door().silence_of(worker.id);
    let now = app.store().now();
    let ago = |silence: Duration| {
        let ms = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_unix_ms(now.unix_ms().saturating_sub(ms))
    };
    WorkerRow {
        identity: view::identity(worker),
        last_seen: silence.map(ago),
        executes: leased.iter().filter(|action| action.lease().is_some_and(|lease| lease.worker == worker.id)).count()
            as u64,
        hosts: runs.iter().filter(|run| run.host == Some(worker.id) && !run.destroyed).count() as u64,
        is_well: silence.is_some_and(|silence| silence < SILENT_AFTER),
    }
}

pub(super) async fn help(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    Ok(html(placet_pages::help(&viewer)))
}
