//! What a person looks at where a run stands still, and the decision about it.

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::id::RunId;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Run, RunCommand};
use placet_domain::time::Timestamp;
use placet_store::{ActionFilter, Order};

use super::{Caller, No, change_run, find_run};
use crate::app::App;

/// How many actions a person is shown of what was done, of what comes, and of what nobody knows.
const MOST_SHOWN: u32 = 50;

const DONE: &[ActionStatus] = &[ActionStatus::Succeeded, ActionStatus::Failed, ActionStatus::Rehearsed];
const NEXT: &[ActionStatus] =
    &[ActionStatus::PendingApproval, ActionStatus::Approved, ActionStatus::Leased, ActionStatus::Executing];

/// A run and the actions around the checkpoint where it stands.
pub(crate) struct Look {
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    /// What was executed since the last checkpoint.
    pub(crate) done: Shown,
    pub(crate) next: Shown,
    /// Started, and nobody knows how far they got.
    pub(crate) interrupted: Shown,
}

/// The newest of some actions, the oldest of them first.
pub(crate) struct Shown {
    pub(crate) actions: Vec<ActionState>,
    /// Whether there are older ones.
    pub(crate) more: bool,
}

pub(crate) async fn look(app: &App, caller: &Caller, id: RunId) -> Result<Look, No> {
    let run = find_run(app, caller, id).await?;
    let done = newest(app, id, DONE, run.looked_at).await?;
    let next = newest(app, id, NEXT, None).await?;
    let interrupted = newest(app, id, &[ActionStatus::Interrupted], None).await?;
    Ok(Look { run, now: app.store().now(), done, next, interrupted })
}

/// Asked for by status, so that what was refused crowds out nothing, however much of it an agent proposes.
async fn newest(app: &App, run: RunId, statuses: &[ActionStatus], since: Option<Timestamp>) -> Result<Shown, No> {
    let (statuses, limit) = (statuses.to_vec(), MOST_SHOWN + 1);
    let (run, order) = (Some(run), Order::NewestFirst);
    let filter = ActionFilter { run, statuses, changed_since: since, order, limit, ..ActionFilter::default() };
    let found = app.store().actions(filter).await.map_err(No::Fault)?;
    let more = found.len() > MOST_SHOWN as usize;
    let mut actions: Vec<ActionState> =
        found.into_iter().map(|listed| listed.state).take(MOST_SHOWN as usize).collect();
    actions.reverse();
    Ok(Shown { actions, more })
}

/// Decides about this checkpoint and no other: a number that is past is not where the run stands.
pub(crate) async fn decide_checkpoint(
    app: &App,
    caller: &Caller,
    id: RunId,
    number: u32,
    command: RunCommand,
) -> Result<Run, No> {
    let run = find_run(app, caller, id).await?;
    let stands_here = run.gate.as_ref().is_some_and(|gate| gate.number == number);
    if !stands_here && number > run.gates.reached {
        return Err(Refusal::Unknown { what: "checkpoint" }.into());
    }
    // A repeated request is answered as before, also when the run has gone on.
    if !stands_here && caller.key.is_none() {
        return Err(Refusal::not_now("decided", "past this checkpoint", "look where it stands now").into());
    }
    change_run(app, caller, id, command).await
}
