//! The organisation: its budget, the switch that stops everything at once, and the one that lets everything only look.

use axum::Json;
use axum::extract::State;
use placet_domain::id::ProjectId;
use placet_domain::identity::Reach;
use placet_domain::organisation::{Organisation, OrganisationCommand};
use placet_domain::run::Allowance;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::view;

type Answer = Result<Json<api::OrganisationView>, Failure>;

pub(super) async fn show(State(app): State<App>, caller: Caller) -> Answer {
    let organisation = app.store().organisation().await.map_err(No::Fault)?;
    Ok(seen_by(&caller, organisation))
}

async fn change(app: &App, caller: &Caller, command: OrganisationCommand) -> Answer {
    Ok(seen_by(caller, flow::change_organisation(app, caller, command).await?))
}

/// What all projects together have and use up tells of the other ones: it is for those who reach all of them.
fn seen_by(caller: &Caller, organisation: Organisation) -> Json<api::OrganisationView> {
    let everywhere = caller.identity.reach == Reach::Everywhere;
    let budget = organisation.budget.filter(|_| everywhere);
    Json(view::organisation(Organisation { budget, ..organisation }))
}

pub(super) async fn halt(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::Halt { reason: given.reason }).await
}

pub(super) async fn release(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::Release { reason: given.reason }).await
}

pub(super) async fn enter_safe_mode(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::EnterSafeMode { reason: given.reason }).await
}

pub(super) async fn leave_safe_mode(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::LeaveSafeMode { reason: given.reason }).await
}

pub(super) async fn demand_passkeys(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::DemandPasskeys { reason: given.reason }).await
}

pub(super) async fn release_passkeys(State(app): State<App>, Asked(caller, given): Asked<api::HaltRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::ReleasePasskeys { reason: given.reason }).await
}

pub(super) async fn budget(State(app): State<App>, Asked(caller, given): Asked<api::BudgetRequest>) -> Answer {
    change(&app, &caller, OrganisationCommand::SetBudget { allowance: given.into() }).await
}

pub(super) async fn project_budget(
    State(app): State<App>,
    Path(id): Path<ProjectId>,
    Asked(caller, given): Asked<api::BudgetRequest>,
) -> Result<Json<api::ProjectView>, Failure> {
    let project = flow::give_project(&app, &caller, id, Allowance::from(given)).await?;
    Ok(Json(view::project(project)))
}
