//! The organisation: its budget, and the switch that stops everything at once.

use placet_domain::command::Command;
use placet_domain::id::ProjectId;
use placet_domain::organisation::{Organisation, OrganisationCommand};
use placet_domain::project::{Project, ProjectCommand};
use placet_domain::refusal::Refusal;
use placet_domain::run::Allowance;

use super::{Caller, No};
use crate::app::App;

pub async fn change_organisation(app: &App, caller: &Caller, command: OrganisationCommand) -> Result<Organisation, No> {
    app.submit(caller.actor(), Command::Organisation(command), caller.key.clone()).await?;
    app.store().organisation().await.map_err(No::Fault)
}

pub(crate) async fn give_project(
    app: &App,
    caller: &Caller,
    id: ProjectId,
    allowance: Allowance,
) -> Result<Project, No> {
    caller.sees(id, "project")?;
    let command = Command::Project { id, command: ProjectCommand::SetBudget { allowance } };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.project.ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}
