//! Runs are made and moved: every command about a run comes through here.

use placet_domain::budget::Purpose;
use placet_domain::command::{About, Command};
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, Lineage, Role};
use placet_domain::planning::Intent;
use placet_domain::project::Project;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Allowance, Founding, Hosting, ModelCall, Posture, Run, RunCommand};
use placet_domain::scope::Scope;
use placet_wire::api::{LaunchRequest, NewExecution, NewRun};

use super::entry_launch::launch_of_entry;
use super::host::{planned, retire};
use super::record::note_refusal;
use super::{Caller, No, find_run};
use crate::app::App;
use crate::models::{self, NoPlan, Steps};
use crate::names::{fresh_token, fresh_uuid, token_digest};

pub(crate) async fn make_run(app: &App, caller: &Caller, new: NewRun) -> Result<Run, No> {
    let id = RunId::from_uuid(fresh_uuid());
    let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
    let workforce = around.worked_by(app, caller, new.agent, new.launch).await?;
    let posture = Posture { mode: new.mode, effect: new.effect, gates: new.checkpoints, models: new.models };
    let founding = around.founding(new.goal, new.plan, posture, workforce);
    let allowance = new.budget.map(Allowance::from);
    let founding = Founding { parent: new.parent, allowance, ..founding };
    submit(app, caller, id, RunCommand::Create(Box::new(founding))).await
}

/// Plans from an intent, by the agents and templates of this control plane, and founds a run on what comes out of it.
pub(crate) async fn plan_run(app: &App, caller: &Caller, new: NewExecution) -> Result<Run, No> {
    let id = RunId::from_uuid(fresh_uuid());
    let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
    let (intent, call) = match &new.planner {
        Some(model) => steps_of_model(app, caller, id, new.intent.clone(), model).await?,
        None => (Intent { planner: None, ..new.intent.clone() }, None),
    };
    let planned = found_planned(app, caller, id, around, new, intent).await;
    match (planned, call) {
        (Ok(run), Some(call)) if run.id == id => charge_planning(app, id, call).await,
        (Err(No::Refused(refusal)), Some(call)) => Err(paid_for_nothing(app, caller, refusal, Some(&call)).await?),
        (planned, _) => planned,
    }
}

async fn found_planned(
    app: &App,
    caller: &Caller,
    id: RunId,
    around: Surroundings,
    new: NewExecution,
    intent: Intent,
) -> Result<Run, No> {
    let prepared = app.rules().prepare(intent).map_err(Refusal::from)?;
    let allowance = prepared.allowance(new.budget.map(Allowance::from));
    let posture = prepared.posture(new.checkpoints);
    let launch = match (new.agent, new.launch) {
        (None, None) => Some(launch_of_entry(app, caller, around.project.id, &prepared).await?),
        (_, launch) => launch,
    };
    let workforce = around.worked_by(app, caller, new.agent, launch).await?;
    let founding = around.founding(prepared.goal().to_owned(), prepared.steps(), posture, workforce);
    let (parent, prepared) = (new.parent, Some(Box::new(prepared)));
    let founding = Founding { parent, allowance: Some(allowance), prepared, ..founding };
    submit(app, caller, id, RunCommand::Create(Box::new(founding))).await
}

/// What is wanted, with the steps that a language model makes of it.
async fn steps_of_model(
    app: &App,
    caller: &Caller,
    run: RunId,
    intent: Intent,
    model: &str,
) -> Result<(Intent, Option<ModelCall>), No> {
    let organisation = app.store().organisation().await.map_err(No::Fault)?;
    if let Some(halt) = organisation.halt {
        return Err(Refusal::Halted { reason: halt.reason }.into());
    }
    if !intent.steps.is_empty() || intent.template.is_some() {
        return Err(Refusal::invalid("steps come from a model, from a template or from you; say one of them").into());
    }
    let none = "this control plane calls no models; its home has no `gateway.toml`";
    let settings = app.settings().models.as_ref().ok_or_else(|| Refusal::invalid(none))?;
    match models::ask(settings, model, run, &intent).await {
        Ok(Steps { steps, call }) => {
            let planner = model.parse().map_err(|bad| Refusal::invalid(format!("{bad}")))?;
            Ok((Intent { steps, planner: Some(planner), ..intent }, Some(call)))
        }
        Err(NoPlan { why, call }) => Err(paid_for_nothing(app, caller, Refusal::invalid(why), call.as_deref()).await?),
    }
}

/// What was paid for is in the ledger, also if nothing came of it.
async fn paid_for_nothing(app: &App, caller: &Caller, refusal: Refusal, call: Option<&ModelCall>) -> Result<No, No> {
    let Some(call) = call else { return Ok(refusal.into()) };
    let cost = format!("{refusal} (call {}: {} millionths of a dollar)", call.id, call.usd_micros);
    let refusal = Refusal::invalid(cost);
    note_refusal(app, caller, About::default(), "plan", refusal.clone()).await?;
    Ok(refusal.into())
}

/// The first thing that the run has spent.
async fn charge_planning(app: &App, id: RunId, call: ModelCall) -> Result<Run, No> {
    let charge = RunCommand::Charge { purpose: Purpose::Call("planning".to_owned()), calls: vec![call] };
    let receipt = app.submit(Actor::Runtime, Command::Run { id, command: charge }, None).await?;
    receipt.loaded.run.ok_or_else(|| Refusal::Unknown { what: "run" }.into())
}

/// Who works in a run, and who keeps it.
struct Workforce {
    agent: IdentityId,
    lineage: Lineage,
    /// Of an agent that is made with the run. Nobody knows it: a host asks for a new one when it starts the agent.
    token: Option<Digest>,
    hosting: Hosting,
}

/// What a run stands on: things that are there before it.
struct Surroundings {
    project: Project,
    scope: Scope,
}

impl Surroundings {
    async fn find(app: &App, caller: &Caller, project: ProjectId, scope: &str) -> Result<Self, No> {
        caller.sees(project, "project")?;
        let store = app.store();
        let project = store.project(project).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "project" })?;
        let scope = store.scope(project.id, scope).await.map_err(No::Fault)?;
        let scope = scope.ok_or(Refusal::Unknown { what: "scope" })?.scope;
        Ok(Self { project, scope })
    }

    /// Who works in it: somebody who comes by themselves, or somebody who is made with it and started by a worker.
    async fn worked_by(
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

    fn founding(self, goal: String, plan: Vec<String>, posture: Posture, workforce: Workforce) -> Founding {
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
            agent,
            agent_lineage,
            agent_token,
        }
    }
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
