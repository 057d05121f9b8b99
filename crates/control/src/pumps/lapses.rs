//! Ends what ran out of time: undecided proposals, approvals nobody took up, leases of workers that went silent.

use std::time::Duration;

use placet_domain::action::ActionCommand;
use placet_domain::command::Command;
use placet_domain::identity::Actor;

use super::rejudge;
use crate::app::App;
use crate::flow::No;

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
    for (run, id) in app.store().lapsing(app.store().now(), BATCH).await.map_err(No::Fault)? {
        let command = Command::Action { id, run, command: ActionCommand::Lapse };
        match app.submit(Actor::Runtime, command, None).await {
            // Somebody was faster: decided, renewed or completed it. That is what deadlines are for.
            Ok(_) | Err(No::Refused(_)) => {}
            Err(no) => return Err(no),
        }
    }
    // A lease from before a change of policy that came to nothing leaves an action that still bears its old verdict.
    rejudge(app).await.map(drop)
}
