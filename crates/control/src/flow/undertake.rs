//! Runs are made and moved: every command about a run comes through here.

use placet_domain::command::Command;
use placet_domain::id::RunId;
use placet_domain::identity::Role;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Founding, Hosting, Posture, Run, RunCommand};
use placet_wire::api::NewRun;

use super::{Caller, No, find_run};
use crate::app::App;
use crate::names::fresh_uuid;

pub(crate) async fn make_run(app: &App, caller: &Caller, new: NewRun) -> Result<Run, No> {
    caller.sees(new.project, "project")?;
    let project =
        app.store().project(new.project).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "project" })?;
    let scope = app
        .store()
        .scope(project.id, &new.scope)
        .await
        .map_err(No::Fault)?
        .ok_or(Refusal::Unknown { what: "scope" })?;
    let agent = app.store().identity(new.agent).await.map_err(No::Fault)?;
    // Whoever is not of this project does not exist for it, whatever they are elsewhere.
    let agent = agent.filter(|agent| agent.reach.includes(project.id)).ok_or(Refusal::Unknown { what: "agent" })?;
    if agent.revoked || !agent.has(Role::Agent) {
        return Err(Refusal::invalid("that identity is not an agent, or no longer one").into());
    }
    let posture = Posture { mode: new.mode, effect: new.effect, gates: new.checkpoints };
    let command = RunCommand::Create(Box::new(Founding {
        project: project.id,
        parent: new.parent,
        separation: project.separation,
        goal: new.goal,
        prepared: None,
        plan: new.plan,
        scope: scope.scope,
        posture,
        hosting: Hosting::External,
        allowance: new.budget.map(Allowance::from),
        agent: agent.id,
        agent_lineage: agent.lineage,
    }));
    submit(app, caller, RunId::from_uuid(fresh_uuid()), command).await
}

pub(crate) async fn change_run(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    find_run(app, caller, id).await?;
    submit(app, caller, id, command).await
}

async fn submit(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    let receipt = app.submit(caller.actor(), Command::Run { id, command }, caller.key.clone()).await?;
    receipt.loaded.run.ok_or_else(|| Refusal::Unknown { what: "run" }.into())
}
