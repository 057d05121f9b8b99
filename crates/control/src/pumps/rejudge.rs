//! After the policy or a tool changed: everything that waits is judged again, and approvals of the old verdict are void.

use placet_domain::action::ActionCommand;
use placet_domain::command::Command;
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Actor;
use placet_domain::proposal::Action;
use placet_domain::refusal::Refusal;

use crate::app::App;
use crate::facts::Ground;
use crate::flow::No;

const BATCH: u32 = 1_000;

/// Judges again what was judged by another policy. Returns how many.
pub(crate) async fn rejudge(app: &App) -> Result<usize, No> {
    let mut judged = 0;
    loop {
        let before = judged;
        for (run, action) in app.store().outdated(app.policy().version(), BATCH).await.map_err(No::Fault)? {
            judged += usize::from(judge(app, run, action).await?);
        }
        if judged == before {
            return Ok(judged);
        }
    }
}

/// Judges one of them, unless somebody was faster.
async fn judge(app: &App, run: RunId, id: ActionId) -> Result<bool, No> {
    let unknown = |what| No::Refused(Refusal::Unknown { what });
    let run = app.store().run(run).await.map_err(No::Fault)?.ok_or_else(|| unknown("run"))?;
    let state = app.store().action(id).await.map_err(No::Fault)?.ok_or_else(|| unknown("action"))?;
    let sealed =
        app.store().sealed(state.id, state.digest).await.map_err(No::Fault)?.ok_or_else(|| unknown("action"))?;
    let run = Ground::from(run);
    let verdict = app.policy().judge(&Action::open(&sealed)?, &run.frame());
    // What ran out of time while nobody was here is not worth a new verdict, and no reason not to start.
    let overdue = app.store().now() >= state.deadline;
    let command = if overdue { ActionCommand::Lapse } else { ActionCommand::Rejudge { verdict } };
    match app.submit(Actor::Runtime, Command::Action { id, run: run.id, command }, None).await {
        Ok(_) => Ok(true),
        Err(No::Refused(_)) => Ok(false),
        Err(no) => Err(no),
    }
}
