//! Runs are made and moved: every command about a run comes through here.

use std::collections::BTreeSet;

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::{Identity, Lineage, Role};
use placet_domain::project::Project;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Founding, Hosting, Posture, Run, RunCommand};
use placet_domain::scope::Scope;
use placet_wire::api::{LaunchRequest, NewRun};

use super::host::{planned, retire};
use super::{Caller, No, find_run};
use crate::app::App;
use crate::names::{fresh_token, fresh_uuid, token_digest};

pub(crate) async fn make_run(app: &App, caller: &Caller, new: NewRun) -> Result<Run, No> {
    let id = RunId::from_uuid(fresh_uuid());
    let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
    let workforce = around.worked_by(app, caller, new.agent, new.launch).await?;
    let posture = Posture { mode: new.mode, effect: new.effect, gates: new.checkpoints, models: new.models };
    let founding = around.founding(new.goal, new.plan, posture, workforce);
    let allowance = new.budget.map(Allowance::from);
    found(app, caller, id, Founding { parent: new.parent, allowance, ..founding }).await
}

/// Refuses an unknown scope and lists the existing ones.
async fn no_scope(app: &App, project: ProjectId, given: &str) -> Result<No, No> {
    let versions = app.store().scopes(project).await.map_err(No::Fault)?;
    let names: BTreeSet<String> = versions.into_iter().map(|scope| scope.name).collect();
    let (known, make) = (names.into_iter().collect(), "`placet scope lock NAME FILE`");
    Ok(Refusal::UnknownName { what: "scope", given: given.to_owned(), known, make }.into())
}

/// Who works in a run, and who keeps it.
pub(super) struct Workforce {
    agent: IdentityId,
    lineage: Lineage,
    /// Of an agent that is made with the run. Nobody knows it: a host asks for a new one when it starts the agent.
    token: Option<Digest>,
    hosting: Hosting,
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
        match store.scope(project.id, scope).await.map_err(No::Fault)? {
            Some(found) => Ok(Self { project, scope: found.scope }),
            None => Err(no_scope(app, project.id, scope).await?),
        }
    }

    /// Who works in it: somebody who comes by themselves, or somebody who is made with it and started by a worker.
    pub(super) async fn worked_by(
        &self,
        app: &App,
        caller: &Caller,
        agent: Option<IdentityId>,
        launch: Option<LaunchRequest>,
    ) -> Result<Workforce, No> {
        let project = self.project.id;
        match (agent, launch) {
            (Some(agent), None) => {
                let Identity { id: agent, lineage, .. } = find_agent(app, agent, project).await?;
                Ok(Workforce { agent, lineage, token: None, hosting: Hosting::External })
            }
            (None, Some(asked)) => {
                let hosting = Hosting::Hosted(Box::new(planned(app, project, asked).await?));
                let (agent, lineage) = (IdentityId::from_uuid(fresh_uuid()), Lineage::below(&caller.identity));
                Ok(Workforce { agent, lineage, token: Some(token_digest(fresh_token().reveal())), hosting })
            }
            (None, None) | (Some(_), Some(_)) => {
                let why = "say who works in it: an `agent` that comes by itself, or what to `launch`";
                Err(Refusal::invalid(why).into())
            }
        }
    }

    pub(super) fn founding(self, goal: String, plan: Vec<String>, posture: Posture, workforce: Workforce) -> Founding {
        let Workforce { agent, lineage: agent_lineage, token: agent_token, hosting } = workforce;
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
            agent,
            agent_lineage,
            agent_token,
        }
    }
}

/// The run and, where it is made for it, its agent: both or neither.
pub(super) async fn found(app: &App, caller: &Caller, id: RunId, founding: Founding) -> Result<Run, No> {
    submit(app, caller, id, RunCommand::Create(Box::new(founding))).await
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

pub async fn change_run(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
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
