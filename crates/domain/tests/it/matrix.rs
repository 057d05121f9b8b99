//! What may happen in which state, and who may do it, as tables that people have read cell by cell.
//!
//! A cell is the new state, `-` for a command that this state does not take, or the refusal's code. A new state, command or
//! role widens a table, and the test fails until somebody has looked at the new cells.

use placet_domain::action::{ActionStatus, Resolution};
use placet_domain::budget::Purpose;
use placet_domain::command::Command;
use placet_domain::policy::Tier;
use placet_domain::run::{BudgetCommand, RunCommand, RunCommandKind, RunStatus, SnapshotCommand};

use crate::expect;
use crate::people::Who;
use crate::scenario::{Outcome, World};
use crate::trials::{self, ACTION_TRIALS, Move, RUN_TRIALS, Trial, refused, try_action, try_run, worth};

fn header<Kind>(first: &str, trials: &[Trial<Kind>]) -> Vec<String> {
    std::iter::once(first).chain(trials.iter().map(|trial| trial.label)).map(ToOwned::to_owned).collect()
}

#[test]
fn c8_only_the_lawful_transitions_of_a_run_are_possible() {
    let row = |(name, world): (String, World)| {
        let cell =
            |trial: &Trial<_>| try_run(world.clone(), *trial).map_or_else(|no| refused(&no), |to| to.to_string());
        std::iter::once(name).chain(RUN_TRIALS.iter().map(cell)).collect()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header("run", RUN_TRIALS)).chain(trials::run_worlds().into_iter().map(row)).collect();
    expect::file("tests/it/run_matrix.txt", &expect::table(&rows));
}

#[test]
fn b3_only_the_lawful_transitions_of_an_action_are_possible() {
    let row = |(name, world): (String, World)| {
        let cell =
            |trial: &Trial<_>| try_action(world.clone(), *trial).map_or_else(|no| refused(&no), |to| to.to_string());
        std::iter::once(name).chain(ACTION_TRIALS.iter().map(cell)).collect()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header("action", ACTION_TRIALS)).chain(trials::action_worlds().into_iter().map(row)).collect();
    expect::file("tests/it/action_matrix.txt", &expect::table(&rows));
}

/// A state in which the command would be lawful.
pub(crate) const fn lawful_for_run(kind: RunCommandKind) -> RunStatus {
    match kind {
        RunCommandKind::Create | RunCommandKind::Submit | RunCommandKind::SetBudget => RunStatus::Draft,
        RunCommandKind::ApprovePlan | RunCommandKind::RejectPlan => RunStatus::PendingApproval,
        RunCommandKind::Start => RunStatus::Approved,
        RunCommandKind::Host | RunCommandKind::Attach => RunStatus::SpawningSandbox,
        RunCommandKind::PassGate | RunCommandKind::RejectGate | RunCommandKind::KeepSnapshot => {
            RunStatus::CheckpointReached
        }
        RunCommandKind::Restore => RunStatus::RolledBack,
        RunCommandKind::Destroy => RunStatus::Completed,
        RunCommandKind::Resume => RunStatus::Paused,
        RunCommandKind::ApproveResults | RunCommandKind::RejectResults | RunCommandKind::Collect => {
            RunStatus::PendingExport
        }
        RunCommandKind::ReachGate
        | RunCommandKind::AskSnapshot
        | RunCommandKind::FailSnapshot
        | RunCommandKind::Equip
        | RunCommandKind::FinishStep
        | RunCommandKind::Hold
        | RunCommandKind::Settle
        | RunCommandKind::Charge
        | RunCommandKind::CountCalls
        | RunCommandKind::Wish
        | RunCommandKind::Grant
        | RunCommandKind::RejectWish
        | RunCommandKind::Revoke
        | RunCommandKind::RevokeOrder
        | RunCommandKind::RunDry
        | RunCommandKind::Lapse
        | RunCommandKind::Pause
        | RunCommandKind::RollBack
        | RunCommandKind::Finish
        | RunCommandKind::Fail
        | RunCommandKind::Cancel => RunStatus::Executing,
    }
}

/// A yes that was possible only because one person works alone says so.
fn answer(outcome: &Outcome) -> String {
    match outcome {
        Ok(records) if records.iter().any(|record| record.body().to_string().contains("\"single_operator\":true")) => {
            "yes, marked".to_owned()
        }
        Ok(_) => "yes".to_owned(),
        Err(refusal) => refused(refusal),
    }
}

fn run_authority(start: fn() -> World) -> String {
    let worlds: Vec<World> = RUN_TRIALS.iter().map(|trial| run_world(start(), trial.kind)).collect();
    let cell = |who: Who, trial: &Trial<RunCommandKind>, world: &World| {
        answer(&world.ask(who, Command::Run { id: world.run, command: trials::run_command(world, trial.kind) }))
    };
    let row = |who: &Who| {
        let cells = RUN_TRIALS.iter().zip(&worlds).map(|(trial, world)| cell(*who, trial, world));
        std::iter::once(who.name().to_owned()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(header("who", RUN_TRIALS)).chain(Who::ALL.iter().map(row)).collect();
    expect::table(&rows)
}

pub(crate) fn run_world(world: World, kind: RunCommandKind) -> World {
    use RunCommandKind as K;
    let status = lawful_for_run(kind);
    match kind {
        K::Create => world,
        // What a host reports is lawful only before it has reported it.
        K::Host | K::KeepSnapshot | K::Restore | K::Collect => world.governed().just_arrived_at(status),
        K::Settle | K::Charge => {
            let mut world = world.governed().with_run(status);
            let hold = RunCommand::Budget(BudgetCommand::Hold {
                purpose: Purpose::Call("call".to_owned()),
                amounts: worth(1),
            });
            world.clockwork().run(hold).expect("there is enough");
            world
        }
        K::FailSnapshot => {
            let mut world = world.governed().with_run(status);
            world
                .operator()
                .run(RunCommand::Snapshot(SnapshotCommand::Ask { reason: "to be safe".to_owned() }))
                .expect("a host can");
            world
        }
        K::Wish | K::Grant | K::RejectWish | K::Revoke | K::RevokeOrder => {
            let mut world = world.with_run(status);
            trials::prepare_run(&mut world, kind);
            world
        }
        K::Lapse => {
            let mut world = world.governed();
            world.posture.gates.every_ms = Some(1);
            let mut world = world.with_run(status);
            world.wait_ms(1);
            world
        }
        K::RollBack | K::AskSnapshot | K::Hold | K::RunDry | K::Destroy | K::SetBudget | K::Equip => {
            world.governed().with_run(status)
        }
        K::Submit
        | K::ApprovePlan
        | K::RejectPlan
        | K::Start
        | K::Attach
        | K::FinishStep
        | K::ReachGate
        | K::PassGate
        | K::RejectGate
        | K::Pause
        | K::Resume
        | K::Finish
        | K::ApproveResults
        | K::RejectResults
        | K::Fail
        | K::CountCalls
        | K::Cancel => world.with_run(status),
    }
}

#[test]
fn b1_who_may_do_what_to_a_run() {
    let four_eyes = format!("four eyes\n\n{}", run_authority(World::new));
    let alone = format!("one person works alone\n\n{}", run_authority(World::single_operator));
    expect::file("tests/it/run_authority.txt", &format!("{four_eyes}\n{alone}"));
}

/// Columns of the action's authority table: what a person decides, they decide by tier.
const DEEDS: &[(&str, &str, ActionStatus, Move)] = &[
    ("propose", "", ActionStatus::PendingApproval, Move::Propose),
    ("approve B", "build it", ActionStatus::PendingApproval, Move::Approve),
    ("approve C", "delete it", ActionStatus::PendingApproval, Move::Approve),
    ("order B", "build it", ActionStatus::PendingApproval, Move::GiveOrder),
    ("order C", "delete it", ActionStatus::PendingApproval, Move::GiveOrder),
    ("amend B", "build it", ActionStatus::PendingApproval, Move::Amend(Tier::B)),
    ("amend C", "delete it", ActionStatus::PendingApproval, Move::Amend(Tier::C)),
    ("reject", "build it", ActionStatus::PendingApproval, Move::Reject),
    ("withdraw", "build it", ActionStatus::PendingApproval, Move::Withdraw),
    ("rejudge", "build it", ActionStatus::PendingApproval, Move::Rejudge(Tier::B)),
    ("lease", "build it", ActionStatus::Approved, Move::Lease),
    ("redeem", "build it", ActionStatus::Leased, Move::Redeem),
    ("heartbeat", "build it", ActionStatus::Executing, Move::Heartbeat),
    ("complete", "build it", ActionStatus::Executing, Move::Complete { exit_code: 0 }),
    ("retry A", "read it", ActionStatus::Interrupted, Move::Resolve(Resolution::Retry)),
    ("retry B", "build it", ActionStatus::Interrupted, Move::Resolve(Resolution::Retry)),
    ("retry C", "delete it", ActionStatus::Interrupted, Move::Resolve(Resolution::Retry)),
    ("abandon", "build it", ActionStatus::Interrupted, Move::Resolve(Resolution::Abandon)),
    ("assign", "build it", ActionStatus::PendingApproval, Move::Assign),
    ("defer", "build it", ActionStatus::PendingApproval, Move::Defer),
    ("lapse", "build it", ActionStatus::PendingApproval, Move::Lapse),
];

fn action_world(start: World, words: &str, status: ActionStatus, kind: Move) -> World {
    let mut world = if kind == Move::Propose { start.executing() } else { start.with_action(words, status) };
    kind.prepare(&mut world);
    world
}

fn action_cell(world: &World, who: Who, kind: Move) -> String {
    // Each proposes in its own name; the clockwork, which has none, in that of the agent.
    let proposer = if who == Who::Runtime { Who::Agent } else { who };
    let proposes = kind == Move::Propose;
    let command = if proposes { world.proposal(proposer, "build it") } else { kind.command(world, who) };
    answer(&world.ask(who, Command::Action { id: world.action, run: world.run, command }))
}

fn action_authority(start: fn() -> World) -> String {
    let worlds: Vec<World> =
        DEEDS.iter().map(|(_, words, status, kind)| action_world(start(), words, *status, *kind)).collect();
    let row = |who: &Who| {
        let cells = DEEDS.iter().zip(&worlds).map(|((.., kind), world)| action_cell(world, *who, *kind));
        std::iter::once(who.name().to_owned()).chain(cells).collect()
    };
    let header = std::iter::once("who").chain(DEEDS.iter().map(|(label, ..)| *label)).map(ToOwned::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(Who::ALL.iter().map(row)).collect();
    expect::table(&rows)
}

#[test]
fn b1_who_may_do_what_to_an_action() {
    let four_eyes = format!("four eyes\n\n{}", action_authority(World::new));
    let alone = format!("one person works alone\n\n{}", action_authority(World::single_operator));
    expect::file("tests/it/action_authority.txt", &format!("{four_eyes}\n{alone}"));
}
