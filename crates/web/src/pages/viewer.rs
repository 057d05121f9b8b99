//! What every page knows of whoever looks at it: who they are, what waits for them, whether everything is stopped.

use placet_control::App;
use placet_control::flow::No;
use placet_control::read::queue::length;
use placet_control::read::standing::{Still, standing_runs};
use placet_domain::identity::{Actor, Identity, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::{self, Answer, NetworkCommand, Run, RunCommand};
use placet_domain::time::Timestamp;

use super::guard::Visiting;
use crate::markup::Viewer;

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
