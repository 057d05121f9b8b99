//! The policy, and what it would say of an action that nobody proposes.

use axum::extract::State;
use axum::response::Response;
use placet_domain::proposal::{Action, Proposal};
use placet_domain::run::RunStatus;
use placet_pages::{PolicyPage, Trial};
use placet_store::RunFilter;
use placet_wire::api;

use super::super::problem::Failure;
use super::super::{projects, view};
use super::form::{Fields, Sent};
use super::guard::{Visiting, html};
use super::viewer;
use crate::app::App;
use crate::flow::{self, Caller, No};

/// As many runs as a list to choose from has room for.
const MOST_RUNS: u32 = 50;

pub(super) async fn show(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    page(app, visiting, None).await
}

async fn page(app: App, visiting: Visiting, trial: Option<Trial>) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let filter = RunFilter { reach: visiting.identity.reach.clone(), limit: MOST_RUNS, ..RunFilter::default() };
    let runs = app.store().runs(filter).await?.into_iter();
    let open = runs.filter(|run| !run.status.is_final() && run.status != RunStatus::Draft);
    let runs = open.map(|run| (run.id.to_string(), run.goal.clone())).collect();
    let policy = projects::policy(State(app)).await.0;
    Ok(html(placet_pages::policy(&viewer, &PolicyPage { policy, runs, trial })))
}

/// Seals and judges as for a proposal of the run's agent, and forgets it.
pub(super) async fn judge(
    State(app): State<App>,
    Sent { visiting, caller, fields }: Sent,
) -> Result<Response, Failure> {
    let trial = Trial {
        run: fields.text("run")?,
        tool: fields.text("tool")?,
        arguments: fields.text("arguments")?,
        target: fields.text("target")?,
        outcome: tried(&app, &caller, &fields).await?,
    };
    page(app, visiting, Some(trial)).await
}

async fn tried(app: &App, caller: &Caller, fields: &Fields) -> Result<Result<api::VerdictView, String>, Failure> {
    let id = fields.text("run")?.parse().map_err(Failure::bad_id)?;
    let run = flow::find_ground(app, caller, id).await?;
    let target = Some(fields.text("target")?).filter(|target| !target.trim().is_empty());
    let wished = serde_json::json!({
        "tool": fields.text("tool")?, "arguments": fields.lines("arguments")?, "target": target,
    });
    let proposal: Proposal = match serde_json::from_value(wished) {
        Ok(proposal) => proposal,
        Err(error) => return Ok(Err(super::super::body::in_plain_words(&error.to_string()))),
    };
    Ok(match Action::seal(&proposal, app.tools(), &run.scope, run.id, run.agent) {
        Ok(action) => Ok(view::verdict(&app.policy().judge(&action, &run.frame()))),
        Err(unsealable) => Err(No::from(unsealable).to_string()),
    })
}
