//! What every page knows of whoever looks at it: who they are, what waits for them, whether everything is stopped.

use placet_domain::identity::{Actor, Identity, Reach, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::{self, Answer, Awaits, NetworkCommand, Run, RunCommand, RunStatus};
use placet_domain::time::Timestamp;
use placet_pages::{Standing, Still, Viewer};
use placet_store::{Listed, RunFilter};

use super::super::queued::length;
use super::guard::Visiting;
use super::names;
use crate::app::App;
use crate::flow::No;

/// More runs of one state than are under way at once: all of them are looked through, because one that works may have a wish.
const MOST_STANDING: u32 = 1_000;
/// Where a run waits for a person, or may have a wish.
const STILL: &[RunStatus] =
    &[RunStatus::PendingApproval, RunStatus::CheckpointReached, RunStatus::PendingExport, RunStatus::Executing];

pub(super) async fn viewer(app: &App, visiting: &Visiting) -> Result<Viewer, No> {
    let identity = &visiting.identity;
    viewer_of(app, visiting, waiting_for(app, identity).await?).await
}

/// The same, where it is known how many things wait.
pub(super) async fn viewer_of(app: &App, visiting: &Visiting, waiting: u64) -> Result<Viewer, No> {
    let identity = &visiting.identity;
    let organisation = app.store().organisation().await.map_err(No::Fault)?;
    Ok(Viewer {
        name: identity.name.clone(),
        reads_ledger: identity.has(Role::Auditor) || identity.has(Role::Admin),
        lang: visiting.lang,
        csrf: visiting.csrf.clone(),
        mark: visiting.mark.clone(),
        onward: None,
        waiting,
        now: app.store().now(),
        halted: organisation.halt.map(|halt| halt.reason),
        safe_mode: organisation.safe_mode.map(|safe| safe.reason),
    })
}

/// Counts the items that this person can decide. The number beside the inbox excludes items that their decisions cannot remove.
async fn waiting_for(app: &App, identity: &Identity) -> Result<u64, No> {
    if !identity.has(Role::Reviewer) {
        return Ok(0);
    }
    let (reach, now) = (identity.reach.clone(), app.store().now());
    let actions = length(app, identity, reach.clone()).await.map_err(No::Fault)?;
    let interrupted = app.store().interrupted(reach.clone()).await.map_err(No::Fault)?;
    let actor = Actor::Identity(identity.clone());
    let runs = standing_runs(app, &reach).await?;
    let runs = runs.iter().filter(|(still, run)| may_decide(*still, run, &actor, now)).count();
    Ok(actions + interrupted + runs as u64)
}

/// Asks the domain, as the page of the run does.
fn may_decide(still: Still, run: &Run, actor: &Actor, now: Timestamp) -> bool {
    let (seen, reason) = (run.review(), "asked before it is counted".to_owned());
    let command = match still {
        Still::Plan => RunCommand::ApprovePlan { seen },
        Still::Results => RunCommand::ApproveResults { seen, chosen: None },
        Still::Checkpoint => RunCommand::PassGate { seen, note: String::new(), plan: None },
        Still::Wish => {
            let waits = run.network.wishes.iter().find(|wish| matches!(wish.answer, Answer::Waiting));
            RunCommand::Network(NetworkCommand::Reject { number: waits.map_or(0, |wish| wish.number), reason })
        }
    };
    match run::decide(Some(run), &command, actor, now) {
        Ok(_) => true,
        Err(refusal) => !matches!(refusal, Refusal::Role { .. } | Refusal::Kin),
    }
}

/// Runs that wait for a person, the oldest first. One that waits for an action is not among them: the action is.
async fn standing_runs(app: &App, reach: &Reach) -> Result<Vec<(Still, Listed<Run>)>, No> {
    let mut found = Vec::new();
    for status in STILL {
        let filter =
            RunFilter { reach: reach.clone(), status: Some(*status), limit: MOST_STANDING, ..RunFilter::default() };
        let runs = app.store().runs(filter).await.map_err(No::Fault)?;
        found.extend(runs.into_iter().filter_map(|run| Some((why(&run)?, run))));
    }
    found.sort_by_key(|(_, run)| run.changed);
    Ok(found)
}

/// For what it waits, if it is the run itself that waits.
fn why(run: &Run) -> Option<Still> {
    let wishes = run.network.wishes.iter().any(|wish| matches!(wish.answer, Answer::Waiting));
    match run.status.awaits() {
        Some(Awaits::Plan) => Some(Still::Plan),
        Some(Awaits::Results) => Some(Still::Results),
        Some(Awaits::Checkpoint) if run.gate.as_ref().is_some_and(|gate| gate.action.is_none()) => {
            Some(Still::Checkpoint)
        }
        Some(Awaits::Checkpoint) | None => wishes.then_some(Still::Wish),
    }
}

pub(in crate::http) async fn standing(app: &App, reach: &Reach) -> Result<Vec<Standing>, No> {
    let mut rows = Vec::new();
    for (why, run) in standing_runs(app, reach).await? {
        let agent = names::person(app, run.agent).await.map_err(No::Fault)?;
        rows.push(Standing { run: run.id, goal: run.goal.clone(), agent, since: run.changed_at, why });
    }
    Ok(rows)
}
