//! Workers: how they are, and what they do of what the caller sees.

use std::time::Duration;

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::identity::{Declaration, Identity, Role};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_store::{ActionFilter, Listed, Order, RunFilter};
use placet_wire::api::IdentityView;

use super::view;
use crate::app::App;
use crate::error::No;
use crate::flow::{self, Caller};

/// Limit of actions and runs that are looked through.
const MOST_RUNS: u32 = 500;
/// A worker asks for work at least this often; twice that without a word, and something is wrong with it.
const SILENT_AFTER: Duration = Duration::from_secs(90);

/// A worker and its work.
#[derive(Debug, Clone)]
pub struct WorkerRow {
    pub identity: IdentityView,
    pub last_seen: Option<Timestamp>,
    /// How many actions it executes now, and how many runs it hosts.
    pub executes: u64,
    pub hosts: u64,
    pub is_well: bool,
    /// The latest declaration of the worker.
    pub declaration: Option<Box<Declaration>>,
    /// Whether its binary is another one than the control plane's.
    pub other_version: bool,
    /// Profiles of the control plane that are not the same there.
    pub other_profiles: Vec<String>,
}

/// Identities that have a role and that the caller sees, the newest first, revoked ones last.
pub async fn with_role(app: &App, caller: &Caller, role: Role) -> Result<Vec<Identity>, No> {
    let mut found = flow::identities(app, caller).await?;
    found.retain(|identity| identity.has(role));
    found.sort_by_key(|identity| (identity.revoked, std::cmp::Reverse(identity.id)));
    Ok(found)
}

/// The workers that somebody sees, and what they do of what somebody sees.
pub async fn worker_rows(app: &App, caller: &Caller) -> Result<Vec<WorkerRow>, No> {
    let (leased, runs) = at_work(app, caller).await?;
    let workers = with_role(app, caller, Role::Worker).await?;
    Ok(workers.iter().map(|worker| row(app, worker, &leased, &runs)).collect())
}

/// What is executed and hosted now, of what somebody sees.
pub async fn at_work(app: &App, caller: &Caller) -> Result<(Vec<Listed<ActionState>>, Vec<Listed<Run>>), No> {
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

/// One worker among actions and runs that were read before.
pub fn row(app: &App, worker: &Identity, leased: &[Listed<ActionState>], runs: &[Listed<Run>]) -> WorkerRow {
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
