//! The switch that stops everything at once.

use placet_domain::action::ActionStatus;
use placet_domain::budget::Ceiling;
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::id::WorktreeId;
use placet_domain::organisation::OrganisationCommand;
use placet_domain::run::{Allowance, RunCommand, RunCommandKind, RunStatus, Wanted};
use placet_domain::worktree::{CommitId, Work, WorktreeCommand};
use uuid::Uuid;

use crate::people::Who;
use crate::scenario::{HOUR_MS, World};
use crate::trials::run_command;

fn halt() -> Command {
    Command::Organisation(OrganisationCommand::Halt { reason: "something is wrong".to_owned() })
}

fn release() -> Command {
    Command::Organisation(OrganisationCommand::Release { reason: "it was nothing".to_owned() })
}

#[test]
fn d11_while_everything_is_stopped_nothing_begins_and_nothing_goes_on() {
    let mut world = World::new().with_action("build it", ActionStatus::Executing);
    world.submit(Who::Operator, halt()).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "halted", "so its worker ends the cage");
    assert_eq!(world.agent().proposes("read it").unwrap_err().code(), "halted");
    let mut ready = World::new().with_action("build it", ActionStatus::Approved);
    ready.submit(Who::Reviewer, halt()).unwrap();
    let refusal = ready.worker().leases().unwrap_err();
    assert!(refusal.to_string().contains("something is wrong"), "{refusal}");
    ready.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
}

#[test]
fn d11_while_everything_is_stopped_no_process_of_a_hosted_run_is_wanted() {
    let mut world = World::new().governed().with_run(RunStatus::Executing);
    assert_eq!(world.run().wanted(), Wanted::Running);
    world.submit(Who::Operator, halt()).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Stopped, "nor of its agent");
    world.submit(Who::Admin, release()).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Running);
}

#[test]
fn d11_what_was_done_when_everything_was_stopped_is_still_recorded() {
    let mut world = World::new().with_action("build it", ActionStatus::Executing);
    world.submit(Who::Operator, halt()).unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), ActionStatus::Succeeded);
}

#[test]
fn d11_whoever_has_a_say_may_stop_everything_and_only_an_admin_lets_it_go_on() {
    for who in [Who::Agent, Who::Worker, Who::Auditor] {
        assert_eq!(World::new().submit(who, halt()).unwrap_err().code(), "role", "{who:?}");
    }
    let mut world = World::new();
    world.submit(Who::Reviewer, halt()).unwrap();
    assert_eq!(world.submit(Who::Operator, halt()).unwrap_err().code(), "not_now");
    assert_eq!(world.submit(Who::Reviewer, release()).unwrap_err().code(), "role");
    world.submit(Who::Admin, release()).unwrap();
    assert!(world.organisation.halt.is_none());
    assert_eq!(world.submit(Who::Admin, release()).unwrap_err().code(), "not_now");
}

#[test]
fn d11_while_everything_is_stopped_no_decision_lets_a_run_go_on() {
    let mut gated = World::new().with_action("build and mail it", ActionStatus::PendingApproval);
    gated.submit(Who::Operator, halt()).unwrap();
    assert_eq!(gated.reviewer().approves().unwrap_err().code(), "halted");
    assert_eq!(gated.reviewer().rejects("no").unwrap_err().code(), "halted");
    assert_eq!(gated.agent().withdraws().unwrap_err().code(), "halted");
    for (status, kind) in [
        (RunStatus::CheckpointReached, RunCommandKind::RejectGate),
        (RunStatus::CheckpointReached, RunCommandKind::PassGate),
        (RunStatus::PendingExport, RunCommandKind::RejectResults),
    ] {
        let mut world = World::new().with_run(status);
        world.submit(Who::Operator, halt()).unwrap();
        let command = run_command(&world, kind);
        assert_eq!(world.reviewer().run(command).unwrap_err().code(), "halted", "{kind:?}");
        world.submit(Who::Admin, release()).unwrap();
        let command = run_command(&world, kind);
        world.reviewer().run(command).unwrap();
    }
    let mut waiting = World::new().with_action("build it", ActionStatus::PendingApproval);
    waiting.submit(Who::Operator, halt()).unwrap();
    waiting.reviewer().approves().expect("nothing goes on by it: it is not leased before everything is");
}

#[test]
fn d11_while_everything_is_stopped_nothing_new_comes_by_an_amendment_either() {
    // What needs nobody would be ready to be leased by it, and what needs a yes would have one.
    for words in ["read it", "build a part of it", "delete it otherwise"] {
        let mut world = World::new().with_action("build it", ActionStatus::PendingApproval);
        world.submit(Who::Operator, halt()).unwrap();
        let refusal = world.reviewer().amends(words).unwrap_err();
        assert_eq!(refusal.code(), "halted", "{words}");
        assert_eq!((world.status(), world.actions.len()), (ActionStatus::PendingApproval, 1), "{words}");
        world.submit(Who::Admin, release()).unwrap();
        world.reviewer().amends(words).unwrap();
    }
}

#[test]
fn d11_the_time_during_which_everything_is_stopped_is_not_time_at_work() {
    let mut world = World::new();
    world.posture.gates.every_ms = Some(60_000);
    world.ceiling = Some(Ceiling { wall_ms: Some(3_600_000), ..Ceiling::default() });
    let mut world = world.executing();
    world.wait_ms(20_000);
    world.submit(Who::Operator, halt()).unwrap();
    world.wait_ms(5 * HOUR_MS);
    assert_eq!((world.run_status(), world.run().due()), (RunStatus::Executing, None));
    world.submit(Who::Admin, release()).unwrap();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(40_000));
    world.wait_ms(10_000);
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    assert_eq!(world.run().budget.as_ref().unwrap().spent.wall_ms, 30_000);
    let halted = world.ledger.iter().find(|record| record.kind() == "run.halted").unwrap();
    assert_eq!((halted.about.project, halted.about.run), (Some(world.project), Some(world.run)));
}

#[test]
fn d11_an_admin_of_some_projects_does_not_decide_for_all_of_them() {
    let mut world = World::new();
    world.submit(Who::Stranger, halt()).expect("one time too often is better than one time too late");
    assert_eq!(world.submit(Who::Stranger, release()).unwrap_err().code(), "reach");
    world.submit(Who::Admin, release()).unwrap();
    let allowance = Allowance { ceiling: Ceiling { actions: Some(1_000), ..Ceiling::default() }, warn_at_percent: 80 };
    let budget = Command::Organisation(OrganisationCommand::SetBudget { allowance });
    assert_eq!(world.submit(Who::Stranger, budget.clone()).unwrap_err().code(), "reach");
    world.submit(Who::Admin, budget).unwrap();
}

fn work(work: Work) -> WorktreeCommand {
    WorktreeCommand::Note { work }
}

#[test]
fn d11_while_everything_is_stopped_nothing_begins_in_worktrees_and_what_was_done_is_recorded() {
    let (command, profile) = (vec!["make".to_owned()], "default".to_owned());
    let tip: CommitId = "12".repeat(20).parse().unwrap();
    let ran = Work::Executed { command: command.clone(), profile: profile.clone(), ended: "0".into(), wall_ms: 1 };
    let beginning = [
        WorktreeCommand::Settle,
        WorktreeCommand::Adopt { found: "all there".into() },
        WorktreeCommand::Merge { into: "main".parse().unwrap(), commit: tip.clone() },
        work(Work::Began { command, profile }),
        work(Work::Pushing { remote: "origin".into(), tip }),
    ];
    let ending = [WorktreeCommand::Abort { reason: "enough".into() }, work(ran)];
    let mut world = World::new();
    world.submit(Who::Operator, halt()).unwrap();
    let (id, project) = (WorktreeId::from_uuid(Uuid::from_u128(1)), world.project);
    let mut refusal = |command| world.submit(Who::Operator, Command::Worktree { id, project, command }).unwrap_err();
    for command in beginning {
        assert_eq!(refusal(command.clone()).code(), "halted", "{command:?}");
    }
    for command in ending {
        assert_ne!(refusal(command.clone()).code(), "halted", "{command:?}");
    }
}

#[test]
fn stop_socket_halts_and_only_the_runtime_may_use_it() {
    let mut world = World::new();
    let locally = || Command::Organisation(OrganisationCommand::HaltLocally { user: 1_000, reason: String::new() });
    for who in [Who::Operator, Who::Reviewer, Who::Admin, Who::Agent] {
        assert_eq!(world.submit(who, locally()).unwrap_err().code(), "role", "{who:?}");
    }
    world.submit(Who::Runtime, locally()).unwrap();
    let halt = world.organisation.halt.clone().unwrap();
    assert_eq!((halt.by, halt.local_user, halt.reason.as_str()), (None, Some(1_000), "nobody said why"));
    assert_eq!(world.submit(Who::Runtime, locally()).unwrap_err().code(), "not_now");
    world.submit(Who::Admin, release()).unwrap();
}
