//! What may happen to a run, and who may make it happen.
//!
//! Three questions in this order: does the state allow it (the table in [`lawful`]), may this actor do it ([`authority`]), and does what
//! the command carries fit ([`super::change`]).

use super::change::{Context, change, create, with_question};
use super::command::{RunCommand, RunCommandKind as Kind};
use super::event::RunEvent;
use super::gate::GateKind;
use super::hosting::Hosting;
use super::state::{Run, RunStatus as Status};
use super::text::check_text;
use crate::id::IdentityId;
use crate::identity::{Actor, Identity, Role};
use crate::project::Separation;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Decides a command about a run that may not exist yet.
pub fn decide(
    state: Option<&Run>,
    command: &RunCommand,
    actor: &Actor,
    now: Timestamp,
) -> Result<Vec<RunEvent>, Refusal> {
    check_text(command)?;
    match (state, command) {
        (None, RunCommand::Create(founding)) => create(founding, actor),
        (Some(_), RunCommand::Create(_)) => Err(Refusal::Exists { what: "run" }),
        (None, _) => Err(Refusal::Unknown { what: "run" }),
        (Some(run), _) => {
            if !lawful(run, command.kind()) {
                return Err(Refusal::not_now(command.kind().participle(), run.status.as_str(), run.status.hint()));
            }
            let single_operator = authority(run, command.kind(), actor)?;
            let events = change(run, command, &Context { actor, single_operator, now })?;
            Ok(with_question(run, events, now))
        }
    }
}

impl Run {
    /// Whether it could go back to this snapshot now, whoever asks.
    pub fn could_roll_back(&self, to: u32) -> Result<(), Refusal> {
        if !lawful(self, Kind::RollBack) {
            return Err(Refusal::not_now(Kind::RollBack.participle(), self.status.as_str(), self.status.hint()));
        }
        self.is_kept(to)
    }
}

/// The state machine: in which states a command may be given. `docs/states.md` is generated from this.
fn lawful(run: &Run, kind: Kind) -> bool {
    let status = run.status;
    match kind {
        Kind::Create => false,
        Kind::Submit => matches!(status, Status::Draft),
        Kind::SetBudget => {
            // What a reviewer decides on just now is not changed under their eyes.
            !matches!(status, Status::PendingApproval) && !status.is_final()
        }
        Kind::ApprovePlan | Kind::RejectPlan => matches!(status, Status::PendingApproval),
        Kind::Start => matches!(status, Status::Approved),
        Kind::Host | Kind::Attach => matches!(status, Status::SpawningSandbox),
        Kind::Equip => matches!(status, Status::SpawningSandbox | Status::Executing),
        Kind::FinishStep | Kind::ReachGate | Kind::Finish | Kind::Hold => matches!(status, Status::Executing),
        Kind::PassGate | Kind::RejectGate => matches!(status, Status::CheckpointReached),
        Kind::Pause => matches!(status, Status::Executing | Status::CheckpointReached),
        Kind::Resume => matches!(status, Status::Paused | Status::RolledBack),
        Kind::RollBack => {
            matches!(
                status,
                Status::Executing
                    | Status::CheckpointReached
                    | Status::Paused
                    | Status::PendingExport
                    | Status::Failed
                    // Whoever chose the wrong one chooses again.
                    | Status::RolledBack
            )
        }
        Kind::AskSnapshot => matches!(status, Status::Executing | Status::CheckpointReached | Status::Paused),
        Kind::KeepSnapshot => {
            matches!(status, Status::SpawningSandbox | Status::CheckpointReached)
                || (run.snapshot_asked && matches!(status, Status::Executing | Status::Paused))
        }
        Kind::FailSnapshot => {
            run.snapshot_asked && matches!(status, Status::Executing | Status::CheckpointReached | Status::Paused)
        }
        Kind::Restore => matches!(status, Status::RolledBack),
        Kind::Collect | Kind::ApproveResults | Kind::RejectResults => matches!(status, Status::PendingExport),
        Kind::Fail => matches!(
            status,
            Status::SpawningSandbox
                | Status::Executing
                | Status::CheckpointReached
                | Status::RolledBack
                | Status::PendingExport
        ),
        Kind::Cancel => !status.is_final(),
        Kind::Destroy => status.is_final() && !run.destroyed,
        // What was begun is settled, whatever became of the run meanwhile.
        Kind::Settle | Kind::Charge => run.budget.is_some(),
        // What was tried is recorded a while later, so it may follow the end; but nothing follows the end of a run that could not pay.
        Kind::CountCalls => {
            let is_begun = !matches!(status, Status::Draft | Status::PendingApproval | Status::Approved);
            is_begun && (!status.is_final() || run.budget.is_some())
        }
        Kind::RunDry => matches!(status, Status::Executing),
        // An action may be under way wherever a run stands between its start and its end.
        Kind::Wish | Kind::Grant => status.is_open() || status == Status::PendingExport,
        Kind::RevokeOrder => status.is_open() || status == Status::PendingExport,
        Kind::RejectWish | Kind::Revoke => !status.is_final(),
        Kind::Lapse => matches!(status, Status::Executing | Status::CheckpointReached),
    }
}

/// Whether the actor may give this command. The answer tells if it was allowed only because one person works alone here.
fn authority(run: &Run, kind: Kind, actor: &Actor) -> Result<bool, Refusal> {
    let identity = match actor {
        Actor::Identity(identity) => identity,
        // The clockwork stops things; it never approves, starts or resumes them.
        Actor::Runtime => {
            return runtime_may(run, kind).then_some(false).ok_or(Refusal::Role { needed: Role::Reviewer });
        }
    };
    match kind {
        Kind::Attach | Kind::Finish | Kind::FinishStep => is_its_agent(run, identity),
        // What is asked of its host then, only its host can fail to do.
        Kind::Fail if matches!(run.status, Status::RolledBack | Status::PendingExport) => is_its_host(run, identity),
        // Whoever asked too much does not end what people are to look at.
        Kind::Fail if run.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Questions) => {
            is_its_host(run, identity).or_else(|_| has(identity, Role::Operator))
        }
        Kind::ReachGate | Kind::Fail => is_its_agent(run, identity)
            .or_else(|_| is_its_host(run, identity))
            .or_else(|_| has(identity, Role::Operator)),
        // Also who sends an agent back, from a checkpoint or with its results, lets it go on.
        Kind::ApprovePlan
        | Kind::PassGate
        | Kind::RejectGate
        | Kind::ApproveResults
        | Kind::RejectResults
        | Kind::Grant => independent_reviewer(run, identity),
        Kind::RejectPlan | Kind::RejectWish => has(identity, Role::Reviewer),
        // To close something takes nobody's leave but that of somebody who watches.
        Kind::Revoke | Kind::RevokeOrder => has(identity, Role::Operator).or_else(|_| has(identity, Role::Reviewer)),
        // Which worker has the action just now, the control plane looks up.
        Kind::Wish => has(identity, Role::Worker),
        Kind::Create | Kind::Submit | Kind::Start => has(identity, Role::Operator),
        // Before anybody approved it, a budget is part of the plan; after that, more of it is a person's decision.
        Kind::SetBudget if run.status == Status::Draft => has(identity, Role::Operator),
        Kind::SetBudget => independent_reviewer(run, identity),
        // Going on from a snapshot skips what stood after it, a checkpoint perhaps: that takes a reviewer.
        Kind::Resume if run.status == Status::RolledBack => independent_reviewer(run, identity),
        Kind::Pause | Kind::Resume | Kind::RollBack | Kind::AskSnapshot | Kind::Cancel => {
            has(identity, Role::Operator).or_else(|_| has(identity, Role::Reviewer))
        }
        Kind::Host => may_host(run, identity),
        Kind::Equip | Kind::KeepSnapshot | Kind::FailSnapshot | Kind::Restore | Kind::Collect | Kind::Destroy => {
            is_its_host(run, identity)
        }
        Kind::Hold | Kind::Settle | Kind::Charge | Kind::CountCalls | Kind::RunDry | Kind::Lapse => {
            Err(Refusal::Role { needed: Role::Admin })
        }
    }
}

const fn runtime_may(run: &Run, kind: Kind) -> bool {
    match kind {
        Kind::Create
        | Kind::Submit
        | Kind::ReachGate
        | Kind::Pause
        | Kind::Fail
        | Kind::Cancel
        | Kind::Hold
        | Kind::Settle
        | Kind::Charge
        | Kind::CountCalls
        | Kind::RunDry
        | Kind::Lapse => true,
        Kind::SetBudget => matches!(run.status, Status::Draft),
        Kind::ApprovePlan
        | Kind::RejectPlan
        | Kind::Wish
        | Kind::Grant
        | Kind::RejectWish
        | Kind::Revoke
        | Kind::RevokeOrder
        | Kind::Start
        | Kind::Host
        | Kind::Equip
        | Kind::Attach
        | Kind::FinishStep
        | Kind::PassGate
        | Kind::RejectGate
        | Kind::Resume
        | Kind::RollBack
        | Kind::AskSnapshot
        | Kind::KeepSnapshot
        | Kind::FailSnapshot
        | Kind::Restore
        | Kind::Finish
        | Kind::Collect
        | Kind::ApproveResults
        | Kind::RejectResults
        | Kind::Destroy => false,
    }
}

pub(super) fn has(identity: &Identity, role: Role) -> Result<bool, Refusal> {
    if identity.has(role) { Ok(false) } else { Err(Refusal::Role { needed: role }) }
}

fn is_its_agent(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Agent)?;
    if identity.id == run.agent { Ok(false) } else { Err(Refusal::OtherAgent) }
}

fn may_host(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Worker)?;
    match (&run.hosting, run.host) {
        (Hosting::Hosted(_), None) => Ok(false),
        (Hosting::Hosted(_), Some(_)) => Err(Refusal::Exists { what: "host" }),
        (Hosting::External, _) => Err(Refusal::invalid("the agent of this run comes by itself; no worker hosts it")),
    }
}

fn is_its_host(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Worker)?;
    if run.host == Some(identity.id) { Ok(false) } else { Err(Refusal::OtherHost) }
}

/// Requires a reviewer unrelated to the creator of the run, the author of its plan and its agent; or, where one person works alone,
/// that person. Never the agent itself, nor whoever the agent made.
fn independent_reviewer(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Reviewer)?;
    // A relative of an author does not count as a second person.
    let wrote = |by: Option<IdentityId>, lineage| by.is_some_and(|by| identity.is_kin_of(by, lineage));
    let author = wrote(run.created_by, &run.creator_lineage) || wrote(run.submitted_by, &run.submitter_lineage);
    let kin = identity.is_kin_of(run.agent, &run.agent_lineage);
    let stands_behind = run.agent_lineage.includes(identity.id);
    let alone = run.separation == Separation::SingleOperator && (stands_behind || !kin);
    match (author || kin, alone) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) => Err(Refusal::Kin),
    }
}
