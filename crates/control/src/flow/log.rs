//! LOG: what programs say while they work. Told by whoever runs them, read by people within reach; nothing is recorded.

use std::time::Duration;

use placet_domain::action::ActionStatus;
use placet_domain::id::{ActionId, RunId};
use placet_domain::refusal::Refusal;
use placet_wire::api::{LogReport, LogView};

use super::network::held;
use super::{Caller, No, find_action, find_run};
use crate::app::App;
use crate::logs::Speaker;

/// How long a reader may wait for more in one request.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The host of a run tells what its agent wrote. Only its own run is its to speak about.
pub(crate) async fn agent_said(app: &App, caller: &Caller, run: RunId, report: &LogReport) -> Result<u64, No> {
    let run = find_run(app, caller, run).await?;
    if run.host.worker != Some(caller.identity.id) {
        return Err(Refusal::OtherHost.into());
    }
    Ok(app.logs().hear(Speaker::Agent(run.id), report, app.store().now()))
}

/// The worker that is at an attempt tells what its program wrote.
pub(crate) async fn action_said(app: &App, caller: &Caller, id: ActionId, report: &LogReport) -> Result<u64, No> {
    let attempt = u32::try_from(report.start).map_err(|_| Refusal::invalid("`start` is the attempt of the job"))?;
    let action = held(app, caller, id, attempt).await?;
    let heard = app.logs().hear(Speaker::Action(action.id), report, app.store().now());
    // It may have ended meanwhile, and been forgotten before this was heard.
    if find_action(app, caller, id).await?.status.is_final() {
        app.logs().forget(Speaker::Action(id));
    }
    Ok(heard)
}

/// What is kept of what the agent of a run said after a place; waits for more if there is none.
pub async fn log_of_run(app: &App, caller: &Caller, id: RunId, after: u64, wait: Duration) -> Result<LogView, No> {
    let run = find_run(app, caller, id).await?;
    Ok(more(app, Speaker::Agent(run.id), after, wait).await)
}

/// The same of the program of an action, while it is executed.
pub async fn log_of_action(
    app: &App,
    caller: &Caller,
    id: ActionId,
    after: u64,
    wait: Duration,
) -> Result<LogView, No> {
    find_action(app, caller, id).await?;
    let view = more(app, Speaker::Action(id), after, wait).await;
    // After the wait: it may have ended meanwhile.
    let status = find_action(app, caller, id).await?.status;
    Ok(LogView { ended: status.is_final() || status == ActionStatus::Interrupted, ..view })
}

/// At once, if there is something; otherwise after whatever is told next, or after the wait.
async fn more(app: &App, speaker: Speaker, after: u64, wait: Duration) -> LogView {
    let mut news = app.logs().subscribe(speaker, app.store().now());
    let view = app.logs().after(speaker, after);
    if !view.pieces.is_empty() || wait.is_zero() {
        return view;
    }
    tokio::select! {
        _ = news.changed() => {}
        () = tokio::time::sleep(wait.min(LONGEST_WAIT)) => {}
        () = app.closed() => {}
    }
    app.logs().after(speaker, after)
}
