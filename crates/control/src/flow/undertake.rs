//! Runs are made and moved: every command about a run comes through here.

use placet_domain::command::Command;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::{Identity, Role};
use placet_domain::project::Project;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Founding, Hosting, Posture, Run, RunCommand};
use placet_domain::scope::Scope;
use placet_wire::api::{LaunchRequest, NewRun};

use super::host::{agent_for, planned, retire};
use super::{Caller, No, find_run};
use crate::app::App;
use crate::names::fresh_uuid;

pub(crate) async fn make_run(app: &App, caller: &Caller, new: NewRun) -> Result<Run, No> {
    let id = RunId::from_uuid(fresh_uuid());
    let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
    let (agent, hosting) = around.worked_by(app, caller, id, new.agent, new.launch).await?;
    let posture = Posture { mode: new.mode, effect: new.effect, gates: new.checkpoints, models: new.models };
    let founding = around.founding(new.goal, new.plan, posture, agent, hosting);
    let allowance = new.budget.map(Allowance::from);
    found(app, caller, id, Founding { parent: new.parent, allowance, ..founding }).await
}

/// What a run stands on: things that are there before it.
pub(super) struct Surroundings {
    pub(super) project: Project,
    scope: Scope,
}

impl Surroundings {
    pub(super) async fn find(app: &App, caller: &Caller, project: ProjectId, scope: &str) -> Result<Self, No> {
        caller.sees(project, "project")?;
        let store = app.store();
        let project = store.project(project).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "project" })?;
        let scope = store.scope(project.id, scope).await.map_err(No::Fault)?;
        let scope = scope.ok_or(Refusal::Unknown { what: "scope" })?.scope;
        Ok(Self { project, scope })
    }

    /// Who works in it: somebody who comes by themselves, or somebody who is made with it and started by a worker.
    pub(super) async fn worked_by(
        &self,
        app: &App,
        caller: &Caller,
        run: RunId,
        agent: Option<IdentityId>,
        launch: Option<LaunchRequest>,
    ) -> Result<(Identity, Hosting), No> {
        let project = self.project.id;
        match (agent, launch) {
            (Some(agent), None) => Ok((find_agent(app, agent, project).await?, Hosting::External)),
            (None, Some(asked)) => {
                let launch = Box::new(planned(app, project, asked).await?);
                Ok((agent_for(app, caller, run, project).await?, Hosting::Hosted(launch)))
            }
            (None, None) | (Some(_), Some(_)) => {
                let why = "say who works in it: an `agent` that comes by itself, or what to `launch`";
                Err(Refusal::invalid(why).into())
            }
        }
    }

    pub(super) fn founding(
        self,
        goal: String,
        plan: Vec<String>,
        posture: Posture,
        agent: Identity,
        hosting: Hosting,
    ) -> Founding {
        Founding {
            project: self.project.id,
            parent: None,
            separation: self.project.separation,
            goal,
            prepared: None,
            plan,
            scope: self.scope,
            posture,
            hosting,
            allowance: None,
            planning: None,
            agent: agent.id,
            agent_lineage: agent.lineage,
        }
    }
}

pub(super) async fn found(app: &App, caller: &Caller, id: RunId, founding: Founding) -> Result<Run, No> {
    let (made_for_it, agent) = (!founding.hosting.is_external(), founding.agent);
    let made = submit(app, caller, id, RunCommand::Create(Box::new(founding))).await;
    // Refused, or made by an earlier request of the same name: the agent that was made for it has nothing to do.
    if made_for_it && made.as_ref().map_or(true, |run| run.agent != agent) {
        retire(app, agent).await?;
    }
    made
}

async fn find_agent(app: &App, id: IdentityId, project: ProjectId) -> Result<Identity, No> {
    let agent = app.store().identity(id).await.map_err(No::Fault)?;
    // Whoever is not of this project does not exist for it, whatever they are elsewhere.
    let agent = agent.filter(|agent| agent.reach.includes(project)).ok_or(Refusal::Unknown { what: "agent" })?;
    if agent.revoked || !agent.has(Role::Agent) {
        return Err(Refusal::invalid("that identity is not an agent, or no longer one").into());
    }
    Ok(agent)
}

pub(crate) async fn change_run(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    find_run(app, caller, id).await?;
    submit(app, caller, id, command).await
}

async fn submit(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    let receipt = app.submit(caller.actor(), Command::Run { id, command }, caller.key.clone()).await?;
    let run = receipt.loaded.run.ok_or(Refusal::Unknown { what: "run" })?;
    if run.status.is_final() && !run.hosting.is_external() {
        retire(app, run.agent).await?;
    }
    Ok(run)
}
