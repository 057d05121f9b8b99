//! Form that changes the budget of a run. Converts the amounts as people write them and uses the same command as the API. If the run waits
//! for budget, it also sends the command that resumes it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use placet_control::http::{Failure, Path};
use placet_control::{App, flow};
use placet_domain::budget::{Budget, Ceiling, Resource};
use placet_domain::run::{Allowance, BudgetCommand, RunCommand};

use super::form::{Fields, Sent};
use super::run::{again, parse};
use crate::markup::{RESUME_FIELD, in_units, of_units};

pub(super) async fn set(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let run = flow::find_run(&app, &caller, parse(&id)?).await?;
    let none = || Failure::new(StatusCode::CONFLICT, "not_now", "this run has no budget: nothing of it is limited");
    let allowance = allowance(run.budget.as_ref().ok_or_else(none)?, &fields)?;
    flow::change_run(&app, &caller, run.id, RunCommand::Budget(BudgetCommand::Set { allowance })).await?;
    if fields.sent(RESUME_FIELD) {
        flow::change_run(&app, &caller, run.id, RunCommand::Resume).await?;
    }
    Ok(again(run.id))
}

/// Reads the limits from the form. An unchanged limit keeps its exact value, and an unlimited resource stays unlimited.
fn allowance(now: &Budget, fields: &Fields) -> Result<Allowance, Failure> {
    let limit = |resource: Resource| -> Result<Option<u64>, Failure> {
        let Some(limit) = now.ceiling.of(resource) else { return Ok(None) };
        let written = fields.text(resource.as_str())?;
        if written == in_units(resource, limit) {
            return Ok(Some(limit));
        }
        let bad = || {
            let why = format!("`{written}` is no amount for {resource}; write a number, for instance `20`");
            Failure::new(StatusCode::BAD_REQUEST, "bad_form", why)
        };
        of_units(resource, &written).map(Some).ok_or_else(bad)
    };
    let ceiling = Ceiling {
        tokens: limit(Resource::Tokens)?,
        usd_micros: limit(Resource::UsdMicros)?,
        wall_ms: limit(Resource::WallMs)?,
        actions: limit(Resource::Actions)?,
        pages: limit(Resource::Pages)?,
        disk_bytes: limit(Resource::DiskBytes)?,
    };
    Ok(Allowance { ceiling, warn_at_percent: now.warn_at_percent })
}
