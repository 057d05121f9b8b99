//! Runs that stand still until a person decides about the run itself.

use placet_domain::id::RunId;
use placet_domain::identity::Reach;
use placet_domain::run::{Answer, Awaits, Run, RunStatus};
use placet_domain::time::Timestamp;
use placet_store::{Listed, RunFilter};

use super::names;
use crate::app::App;
use crate::error::No;

/// More runs of one state than are under way at once: all of them are looked through, because one that works may have a wish.
const MOST_STANDING: u32 = 1_000;
/// Where a run waits for a person, or may have a wish.
const STILL: &[RunStatus] =
    &[RunStatus::PendingApproval, RunStatus::CheckpointReached, RunStatus::PendingExport, RunStatus::Executing];

/// A run that stands still until somebody decides.
#[derive(Debug, Clone)]
pub struct Standing {
    pub run: RunId,
    pub goal: String,
    pub agent: String,
    pub since: Timestamp,
    pub why: Still,
}

/// For what a run stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Still {
    Plan,
    Checkpoint,
    Results,
    Wish,
}

/// Runs that wait for a person, the oldest first. One that waits for an action is not among them: the action is.
pub async fn standing_runs(app: &App, reach: &Reach) -> Result<Vec<(Still, Listed<Run>)>, No> {
    let mut found = Vec::new();
    for status in STILL {
        let filter =
            RunFilter { reach: reach.clone(), status: Some(*status), limit: MOST_STANDING, ..RunFilter::default() };
        let runs = app.store().runs(filter).await?;
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

/// The same with names, for lists.
pub async fn standing(app: &App, reach: &Reach) -> Result<Vec<Standing>, No> {
    let mut rows = Vec::new();
    for (why, run) in standing_runs(app, reach).await? {
        let agent = names::person(app, run.agent).await?;
        rows.push(Standing { run: run.id, goal: run.goal.clone(), agent, since: run.changed_at, why });
    }
    Ok(rows)
}
