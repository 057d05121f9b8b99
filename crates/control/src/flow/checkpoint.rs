//! What a person looks at where a run stands still, and the decision about it.

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::id::RunId;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Run, RunCommand};
use placet_domain::time::Timestamp;
use placet_store::{ActionFilter, Order};

use super::{Caller, No, change_run, find_run};
use crate::app::App;

/// How many actions a person is shown of what was done and of what comes.
const MOST_SHOWN: usize = 50;

/// A run and the actions around the checkpoint where it stands.
pub(crate) struct Look {
    pub(crate) run: Run,
    pub(crate) now: Timestamp,
    pub(crate) done: Vec<ActionState>,
    pub(crate) next: Vec<ActionState>,
}

pub(crate) async fn look(app: &App, caller: &Caller, id: RunId) -> Result<Look, No> {
    let run = find_run(app, caller, id).await?;
    let filter = ActionFilter { run: Some(id), order: Order::NewestFirst, limit: 200, ..ActionFilter::default() };
    let newest = app.store().actions(filter).await.map_err(No::Fault)?.into_iter().map(|listed| listed.state);
    let (mut done, mut next) = (Vec::new(), Vec::new());
    for action in newest {
        match action.status {
            ActionStatus::Succeeded | ActionStatus::Failed | ActionStatus::Rehearsed => done.push(action),
            ActionStatus::PendingApproval | ActionStatus::Approved | ActionStatus::Leased | ActionStatus::Executing => {
                next.push(action);
            }
            ActionStatus::Denied
            | ActionStatus::Rejected
            | ActionStatus::Expired
            | ActionStatus::Superseded
            | ActionStatus::Withdrawn
            | ActionStatus::Interrupted
            | ActionStatus::Abandoned => {}
        }
    }
    for shown in [&mut done, &mut next] {
        shown.truncate(MOST_SHOWN);
        shown.reverse();
    }
    Ok(Look { run, now: app.store().now(), done, next })
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
