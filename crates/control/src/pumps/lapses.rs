//! Ends what ran out of time: undecided proposals, approvals nobody took up, leases of workers that went silent, time at work that was
//! agreed on. And what was proposed before a rollback.

use std::time::Duration;

use placet_domain::action::ActionCommand;
use placet_domain::command::Command;
use placet_domain::identity::Actor;
use placet_domain::run::RunCommand;

use super::rejudge;
use crate::app::App;
use crate::flow::{No, retire_idle};

/// Much shorter than any term, so that a deadline means what it says.
const PERIOD: Duration = Duration::from_millis(500);
const BATCH: u32 = 256;

pub(super) async fn run(app: App) {
    loop {
        tokio::time::sleep(PERIOD).await;
        if let Err(no) = lapse(&app).await {
            tracing::error!(error = %no, "what ran out of time could not be ended; trying again");
        }
    }
}

async fn lapse(app: &App) -> Result<(), No> {
    let late = app.store().lapsing(app.store().now(), BATCH).await.map_err(No::Fault)?;
    let void = app.store().void(BATCH).await.map_err(No::Fault)?;
    for (run, id) in late.into_iter().chain(void) {
        end(app, Command::Action { id, run, command: ActionCommand::Lapse }).await?;
    }
    for id in app.store().runs_due(app.store().now(), BATCH).await.map_err(No::Fault)? {
        end(app, Command::Run { id, command: RunCommand::Lapse }).await?;
    }
    // With its run an agent is retired; these are of runs that ended with another, or whose end was interrupted.
    retire_idle(app).await?;
    // A lease from before a change of policy that came to nothing leaves an action that still bears its old verdict.
    rejudge(app).await.map(drop)
}

async fn end(app: &App, command: Command) -> Result<(), No> {
    match app.submit(Actor::Runtime, command, None).await {
        // Somebody was faster: decided, renewed or completed it. That is what deadlines are for.
        Ok(_) | Err(No::Refused(_)) => Ok(()),
        Err(no) => Err(no),
    }
}
