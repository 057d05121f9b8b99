//! Runs are made and moved: every command about a run comes through here.

use placet_domain::command::Command;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::{Identity, Role};
use placet_domain::project::Project;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Founding, Hosting, Posture, Run, RunCommand};
use placet_domain::scope::Scope;
use placet_wire::api::{NewExecution, NewRun};

use super::{Caller, No, find_run};
use crate::app::App;
use crate::names::fresh_uuid;

pub(crate) async fn make_run(app: &App, caller: &Caller, new: NewRun) -> Result<Run, No> {
    let around = Surroundings::find(app, caller, new.project, &new.scope, new.agent).await?;
    let posture = Posture { mode: new.mode, effect: new.effect, gates: new.checkpoints };
    let founding = around.founding(new.goal, new.plan, posture);
    let allowance = new.budget.map(Allowance::from);
    found(app, caller, Founding { parent: new.parent, allowance, ..founding }).await
}

/// Plans from an intent, by the agents and templates of this control plane, and founds a run on what comes out of it.
pub(crate) async fn plan_run(app: &App, caller: &Caller, new: NewExecution) -> Result<Run, No> {
    let around = Surroundings::find(app, caller, new.project, &new.scope, new.agent).await?;
    let prepared = app.rules().prepare(new.intent).map_err(Refusal::from)?;
    let allowance = prepared.allowance(new.budget.map(Allowance::from));
    let posture = prepared.posture(new.checkpoints);
    let founding = around.founding(prepared.goal().to_owned(), prepared.steps(), posture);
    let (parent, prepared) = (new.parent, Some(Box::new(prepared)));
    found(app, caller, Founding { parent, allowance: Some(allowance), prepared, ..founding }).await
}

/// What a run stands on: things that are there before it.
struct Surroundings {
    project: Project,
    scope: Scope,
    agent: Identity,
}

impl Surroundings {
    async fn find(app: &App, caller: &Caller, project: ProjectId, scope: &str, agent: IdentityId) -> Result<Self, No> {
        caller.sees(project, "project")?;
        let store = app.store();
        let project = store.project(project).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "project" })?;
        let scope = store.scope(project.id, scope).await.map_err(No::Fault)?;
        let scope = scope.ok_or(Refusal::Unknown { what: "scope" })?.scope;
        let agent = store.identity(agent).await.map_err(No::Fault)?;
        // Whoever is not of this project does not exist for it, whatever they are elsewhere.
        let agent = agent.filter(|agent| agent.reach.includes(project.id)).ok_or(Refusal::Unknown { what: "agent" })?;
        if agent.revoked || !agent.has(Role::Agent) {
            return Err(Refusal::invalid("that identity is not an agent, or no longer one").into());
        }
        Ok(Self { project, scope, agent })
    }

    fn founding(self, goal: String, plan: Vec<String>, posture: Posture) -> Founding {
        Founding {
            project: self.project.id,
            parent: None,
            separation: self.project.separation,
            goal,
            prepared: None,
            plan,
            scope: self.scope,
            posture,
            hosting: Hosting::External,
            allowance: None,
            agent: self.agent.id,
            agent_lineage: self.agent.lineage,
        }
    }
}

async fn found(app: &App, caller: &Caller, founding: Founding) -> Result<Run, No> {
    let id = RunId::from_uuid(fresh_uuid());
    submit(app, caller, id, RunCommand::Create(Box::new(founding))).await
}

pub(crate) async fn change_run(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    find_run(app, caller, id).await?;
    submit(app, caller, id, command).await
}

async fn submit(app: &App, caller: &Caller, id: RunId, command: RunCommand) -> Result<Run, No> {
    let receipt = app.submit(caller.actor(), Command::Run { id, command }, caller.key.clone()).await?;
    receipt.loaded.run.ok_or_else(|| Refusal::Unknown { what: "run" }.into())
}
