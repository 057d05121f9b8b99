//! What may happen to a run, and who may make it happen.
//!
//! Two questions in this order: does the state allow it (the table in [`lawful`]), and may this actor do it ([`authority`]).

use super::command::{RunCommand, RunCommandKind as Kind};
use super::event::RunEvent;
use super::state::{Run, RunStatus as Status};
use crate::id::IdentityId;
use crate::identity::{Actor, Identity, Role};
use crate::project::Separation;
use crate::refusal::Refusal;

const MOST_PLAN_STEPS: usize = 200;
/// Goals, reasons and summaries are read by people.
const LONGEST_TEXT: usize = 2_000;

/// Decides a command about a run that may not exist yet.
pub fn decide(state: Option<&Run>, command: &RunCommand, actor: &Actor) -> Result<Vec<RunEvent>, Refusal> {
    check_text(command)?;
    match (state, command) {
        (None, RunCommand::Create { .. }) => create(command, actor),
        (Some(_), RunCommand::Create { .. }) => Err(Refusal::Exists { what: "run" }),
        (None, _) => Err(Refusal::Unknown { what: "run" }),
        (Some(run), _) => {
            if !lawful(run.status, command.kind()) {
                return Err(Refusal::not_now(command.kind().participle(), run.status.as_str(), run.status.hint()));
            }
            let single_operator = authority(run, command.kind(), actor)?;
            change(run, command, actor, single_operator).map(|event| vec![event])
        }
    }
}

/// The state machine: in which states a command may be given. `docs/states.md` is generated from this.
pub(super) const fn lawful(status: Status, kind: Kind) -> bool {
    match kind {
        Kind::Create => false,
        Kind::Submit => matches!(status, Status::Draft),
        Kind::ApprovePlan | Kind::RejectPlan => matches!(status, Status::PendingApproval),
        Kind::Start => matches!(status, Status::Approved),
        Kind::Attach => matches!(status, Status::SpawningSandbox),
        Kind::ReachGate | Kind::Finish => matches!(status, Status::Executing),
        Kind::PassGate => matches!(status, Status::CheckpointReached),
        Kind::Pause => matches!(status, Status::Executing | Status::CheckpointReached),
        Kind::Resume => matches!(status, Status::Paused | Status::RolledBack),
        Kind::RollBack => {
            matches!(
                status,
                Status::Executing | Status::CheckpointReached | Status::Paused | Status::PendingExport | Status::Failed
            )
        }
        Kind::ApproveResults | Kind::RejectResults => matches!(status, Status::PendingExport),
        Kind::Fail => matches!(status, Status::SpawningSandbox | Status::Executing | Status::CheckpointReached),
        Kind::Cancel => !status.is_final(),
    }
}

/// Whether the actor may give this command. The answer tells if it was allowed only because one person works alone here.
fn authority(run: &Run, kind: Kind, actor: &Actor) -> Result<bool, Refusal> {
    let identity = match actor {
        Actor::Identity(identity) => identity,
        // The clockwork stops things; it never approves, starts or resumes them.
        Actor::Runtime => return runtime_may(kind).then_some(false).ok_or(Refusal::Role { needed: Role::Reviewer }),
    };
    match kind {
        Kind::Attach | Kind::Finish => is_its_agent(run, identity),
        Kind::ReachGate | Kind::Fail => is_its_agent(run, identity).or_else(|_| has(identity, Role::Operator)),
        Kind::ApprovePlan | Kind::PassGate | Kind::ApproveResults => independent_reviewer(run, identity),
        Kind::RejectPlan | Kind::RejectResults => has(identity, Role::Reviewer),
        Kind::Create | Kind::Submit | Kind::Start => has(identity, Role::Operator),
        // Going on from a snapshot skips what stood after it, a checkpoint perhaps: that takes a reviewer.
        Kind::Resume if run.status == Status::RolledBack => independent_reviewer(run, identity),
        Kind::Pause | Kind::Resume | Kind::RollBack | Kind::Cancel => {
            has(identity, Role::Operator).or_else(|_| has(identity, Role::Reviewer))
        }
    }
}

const fn runtime_may(kind: Kind) -> bool {
    matches!(kind, Kind::Create | Kind::Submit | Kind::ReachGate | Kind::Pause | Kind::Fail | Kind::Cancel)
}

fn has(identity: &Identity, role: Role) -> Result<bool, Refusal> {
    if identity.has(role) { Ok(false) } else { Err(Refusal::Role { needed: role }) }
}

fn is_its_agent(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Agent)?;
    if identity.id == run.agent { Ok(false) } else { Err(Refusal::OtherAgent) }
}

/// A reviewer who neither made the run, nor wrote its plan, nor stands behind its agent; or, where one person works alone,
/// that person. Never the agent itself, nor whoever the agent made.
fn independent_reviewer(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Reviewer)?;
    let author = run.created_by == Some(identity.id) || run.submitted_by == Some(identity.id);
    let kin = identity.is_kin_of(run.agent, &run.agent_lineage);
    let stands_behind = run.agent_lineage.includes(identity.id);
    let alone = run.separation == Separation::SingleOperator && (stands_behind || !kin);
    match (author || kin, alone) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) => Err(Refusal::Kin),
    }
}

fn create(command: &RunCommand, actor: &Actor) -> Result<Vec<RunEvent>, Refusal> {
    let RunCommand::Create { project, separation, goal, plan, scope, agent, agent_lineage } = command else {
        return Err(Refusal::Unknown { what: "run" });
    };
    if let Actor::Identity(identity) = actor {
        has(identity, Role::Operator)?;
    }
    let created = RunEvent::Created {
        project: *project,
        separation: *separation,
        goal: goal.clone(),
        scope_version: scope.version(),
        scope: scope.clone(),
        agent: *agent,
        agent_lineage: agent_lineage.clone(),
        created_by: author(actor),
    };
    let submitted = (!plan.is_empty()).then(|| RunEvent::Submitted { plan: plan.clone(), by: author(actor) });
    Ok(std::iter::once(created).chain(submitted).collect())
}

fn author(actor: &Actor) -> Option<IdentityId> {
    actor.identity().map(|identity| identity.id)
}

fn change(run: &Run, command: &RunCommand, actor: &Actor, single_operator: bool) -> Result<RunEvent, Refusal> {
    Ok(match command {
        RunCommand::Create { .. } => return Err(Refusal::Exists { what: "run" }),
        RunCommand::Submit { plan } if plan.is_empty() => return Err(Refusal::invalid("a plan has at least one step")),
        RunCommand::Submit { plan } => RunEvent::Submitted { plan: plan.clone(), by: author(actor) },
        RunCommand::ApprovePlan { seen } | RunCommand::PassGate { seen } | RunCommand::ApproveResults { seen }
            if *seen != run.review() =>
        {
            return Err(Refusal::Stale { seen: *seen, current: run.review() });
        }
        RunCommand::ApprovePlan { seen } => RunEvent::PlanApproved { seen: *seen, single_operator },
        RunCommand::RejectPlan { reason } => RunEvent::PlanRejected { reason: reason.clone() },
        RunCommand::Start => RunEvent::Started,
        RunCommand::Attach => RunEvent::Attached,
        RunCommand::ReachGate { summary } => RunEvent::GateReached { summary: summary.clone() },
        RunCommand::PassGate { seen } => RunEvent::GatePassed { seen: *seen, single_operator },
        RunCommand::Pause { reason } => RunEvent::Paused { reason: reason.clone() },
        RunCommand::Resume => RunEvent::Resumed,
        RunCommand::RollBack { snapshot } => RunEvent::RolledBack { snapshot: *snapshot },
        RunCommand::Finish { summary } => RunEvent::Finished { summary: summary.clone() },
        RunCommand::ApproveResults { seen } => RunEvent::ResultsApproved { seen: *seen, single_operator },
        RunCommand::RejectResults { reason } => RunEvent::ResultsRejected { reason: reason.clone() },
        RunCommand::Fail { reason } => RunEvent::Failed { reason: reason.clone() },
        RunCommand::Cancel { reason } => RunEvent::Cancelled { reason: reason.clone() },
    })
}

fn check_text(command: &RunCommand) -> Result<(), Refusal> {
    let (text, needed) = match command {
        RunCommand::Create { goal, .. } => (goal, true),
        RunCommand::RejectPlan { reason } | RunCommand::RejectResults { reason } | RunCommand::Fail { reason } => {
            (reason, true)
        }
        RunCommand::Pause { reason } | RunCommand::Cancel { reason } => (reason, false),
        RunCommand::ReachGate { summary } | RunCommand::Finish { summary } => (summary, false),
        RunCommand::Submit { plan } => return check_plan(plan),
        RunCommand::ApprovePlan { .. }
        | RunCommand::Start
        | RunCommand::Attach
        | RunCommand::PassGate { .. }
        | RunCommand::Resume
        | RunCommand::RollBack { .. }
        | RunCommand::ApproveResults { .. } => return Ok(()),
    };
    if text.len() > LONGEST_TEXT || (needed && text.trim().is_empty()) {
        return Err(Refusal::invalid("say in 1 to 2000 bytes what it is about"));
    }
    if let RunCommand::Create { plan, .. } = command { check_plan(plan) } else { Ok(()) }
}

fn check_plan(plan: &[String]) -> Result<(), Refusal> {
    let step_ok = |step: &String| !step.trim().is_empty() && step.len() <= LONGEST_TEXT;
    if plan.len() <= MOST_PLAN_STEPS && plan.iter().all(step_ok) {
        return Ok(());
    }
    Err(Refusal::invalid("a plan has at most 200 steps of 1 to 2000 bytes each"))
}
