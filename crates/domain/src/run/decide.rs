//! Decides commands of a run: does the state permit the command, may this actor give it ([`rule`], or the rule of the facet), and does its
//! content fit ([`super::change`], or the facet).

use super::change::{Context, change, create};
use super::command::{RunCommand, RunCommandKind as Kind};
use super::event::RunEvent;
use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus as Status};
use super::text::check_text;
use crate::identity::{Actor, Role};
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
            let rule = rule(run, command);
            if !rule.is_lawful {
                return Err(not_now(run, command.kind()));
            }
            let single_operator = rule.authorize(run, actor)?;
            change(run, command, &Context { actor, single_operator, now })
        }
    }
}

impl Run {
    /// Whether it could go back to this snapshot now, whoever asks.
    pub fn could_roll_back(&self, to: u32) -> Result<(), Refusal> {
        if self.status.can_roll_back() { self.is_kept(to) } else { Err(not_now(self, Kind::RollBack)) }
    }
}

fn not_now(run: &Run, kind: Kind) -> Refusal {
    Refusal::not_now(kind.participle(), run.status)
}

/// Returns the conditions of a command: this is the state machine. `docs/states.md` is generated from it.
fn rule(run: &Run, command: &RunCommand) -> Rule {
    let status = run.status;
    match command {
        RunCommand::Create(_) => Rule::new(false, Giver::Role(Role::Operator)).or_runtime(),
        RunCommand::Submit { .. } => Rule::new(status == Status::Draft, Giver::Role(Role::Operator)).or_runtime(),
        RunCommand::ApprovePlan { .. } => Rule::new(status == Status::PendingApproval, Giver::IndependentReviewer),
        RunCommand::RejectPlan { .. } => Rule::new(status == Status::PendingApproval, Giver::Role(Role::Reviewer)),
        RunCommand::Start => Rule::new(status == Status::Approved, Giver::Role(Role::Operator)),
        RunCommand::Attach => Rule::new(status == Status::SpawningSandbox, Giver::Agent),
        RunCommand::FinishStep { .. } | RunCommand::Finish { .. } => {
            Rule::new(status == Status::Executing, Giver::Agent)
        }
        RunCommand::ReachGate { .. } => Rule::new(status == Status::Executing, Giver::AgentHostOrOperator).or_runtime(),
        // To send an agent back from a checkpoint lets it go on, too.
        RunCommand::PassGate { .. } | RunCommand::RejectGate { .. } => {
            Rule::new(status == Status::CheckpointReached, Giver::IndependentReviewer)
        }
        RunCommand::Pause { .. } => {
            let works = matches!(status, Status::Executing | Status::CheckpointReached);
            Rule::new(works, Giver::OperatorOrReviewer).or_runtime()
        }
        // To go on from a snapshot skips what came after it, perhaps a checkpoint: that needs a reviewer.
        RunCommand::Resume if status == Status::RolledBack => Rule::new(true, Giver::IndependentReviewer),
        RunCommand::Resume => Rule::new(status == Status::Paused, Giver::OperatorOrReviewer),
        RunCommand::RollBack { .. } => Rule::new(status.can_roll_back(), Giver::OperatorOrReviewer),
        RunCommand::RunDry { .. } => Rule::new(status == Status::Executing, Giver::Runtime),
        RunCommand::ApproveResults { .. } | RunCommand::RejectResults { .. } => {
            Rule::new(status == Status::PendingExport, Giver::IndependentReviewer)
        }
        RunCommand::Fail { .. } => fail_rule(run),
        RunCommand::Cancel { .. } => Rule::new(!status.is_final(), Giver::OperatorOrReviewer).or_runtime(),
        RunCommand::Lapse => Rule::new(matches!(status, Status::Executing | Status::CheckpointReached), Giver::Runtime),
        RunCommand::Budget(command) => command.rule(run),
        RunCommand::Network(command) => command.rule(run),
        RunCommand::Order(command) => command.rule(run),
        RunCommand::Hosting(command) => command.rule(run),
        RunCommand::Snapshot(command) => command.rule(run),
        RunCommand::Call(command) => command.rule(run),
    }
}

fn fail_rule(run: &Run) -> Rule {
    let giver = match run.status {
        // These states wait for the host, so only the host can fail.
        Status::RolledBack | Status::PendingExport => Giver::Host,
        // An agent that asked too much does not end what people are to look at.
        Status::CheckpointReached if run.waits_for_questions() => Giver::HostOrOperator,
        Status::SpawningSandbox | Status::Executing | Status::CheckpointReached => Giver::AgentHostOrOperator,
        Status::Draft
        | Status::PendingApproval
        | Status::Approved
        | Status::Paused
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => return Rule::new(false, Giver::AgentHostOrOperator),
    };
    Rule::new(true, giver).or_runtime()
}
