//! Safe mode: everywhere, only what looks goes on.

use placet_domain::action::ActionStatus;
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::id::WorktreeId;
use placet_domain::organisation::OrganisationCommand;
use placet_domain::run::{Effect, RunCommand, RunStatus};
use placet_domain::worktree::{CommitId, Work, WorktreeCommand};
use uuid::Uuid;

use crate::people::Who;
use crate::scenario::World;

fn enter() -> Command {
    Command::Organisation(OrganisationCommand::EnterSafeMode { reason: "something writes".to_owned() })
}

fn leave() -> Command {
    Command::Organisation(OrganisationCommand::LeaveSafeMode { reason: "found it".to_owned() })
}

#[test]
fn d11_in_safe_mode_what_may_change_something_is_not_proposed_and_what_looks_is_executed() {
    let mut world = World::new().with_run(RunStatus::Executing);
    world.submit(Who::Operator, enter()).unwrap();
    let refusal = world.agent().proposes("read it").unwrap_err();
    assert_eq!(refusal.code(), "safe_mode");
    assert!(refusal.to_string().contains("something writes"), "{refusal}");
    assert!(world.actions.is_empty());
    world.agent().proposes("read by a look").unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().beats().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), ActionStatus::Succeeded);
}

#[test]
fn d11_in_safe_mode_what_was_approved_waits_and_goes_on_after() {
    let mut world = World::new().with_action("build it", ActionStatus::PendingApproval);
    world.submit(Who::Operator, enter()).unwrap();
    world.reviewer().approves().expect("nothing is done by it");
    assert_eq!(world.worker().leases().unwrap_err().code(), "safe_mode");
    assert_eq!(world.status(), ActionStatus::Approved);
    world.submit(Who::Admin, leave()).unwrap();
    world.worker().leases().unwrap();
    assert_eq!(world.status(), ActionStatus::Leased);
}

#[test]
fn d11_in_safe_mode_what_looks_but_reaches_others_waits_although_it_was_proposed_before() {
    let mut world = World::new().with_action("build and fetch it", ActionStatus::Approved);
    world.submit(Who::Operator, enter()).unwrap();
    assert_eq!(world.worker().leases().unwrap_err().code(), "safe_mode");
    world.submit(Who::Admin, leave()).unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.submit(Who::Operator, enter()).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "safe_mode", "so its worker ends the cage");
}

#[test]
fn d11_in_safe_mode_a_look_does_not_become_more_by_an_amendment_and_more_may_become_a_look() {
    let mut world = World::new().with_action("build by a look", ActionStatus::PendingApproval);
    world.submit(Who::Operator, enter()).unwrap();
    for more in ["build it", "read it", "build and fetch it"] {
        assert_eq!(world.reviewer().amends(more).unwrap_err().code(), "safe_mode", "{more}");
    }
    assert_eq!(world.actions.len(), 1);
    let mut world = World::new().with_action("build it", ActionStatus::PendingApproval);
    world.submit(Who::Operator, enter()).unwrap();
    world
        .reviewer()
        .amends("read by a look")
        .expect("what looks may be proposed, so it may stand in the place of more");
    world.worker().leases().unwrap();
}

#[test]
fn d11_in_safe_mode_what_is_being_changed_is_ended_and_what_it_did_is_recorded() {
    let mut leased = World::new().with_action("build it", ActionStatus::Leased);
    leased.submit(Who::Operator, enter()).unwrap();
    assert_eq!(leased.worker().redeems().unwrap_err().code(), "safe_mode", "it is not begun");
    let mut world = World::new().with_action("build it", ActionStatus::Executing);
    world.submit(Who::Operator, enter()).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "safe_mode", "so its worker ends the cage");
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), ActionStatus::Succeeded);
}

#[test]
fn d11_in_safe_mode_what_is_only_rehearsed_goes_on_and_people_decide_as_ever() {
    let mut world = World::new();
    world.posture.effect = Effect::DryRun;
    let mut world = world.with_run(RunStatus::Executing);
    world.submit(Who::Reviewer, enter()).unwrap();
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.status(), ActionStatus::Rehearsed);
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
}

#[test]
fn d11_in_safe_mode_nothing_begins_in_worktrees_and_what_was_done_is_recorded() {
    let (command, profile) = (vec!["make".to_owned()], "default".to_owned());
    let tip: CommitId = "12".repeat(20).parse().unwrap();
    let note = |work: Work| WorktreeCommand::Note { work };
    let ran = Work::Executed { command: command.clone(), profile: profile.clone(), ended: "0".into(), wall_ms: 1 };
    let beginning = [
        WorktreeCommand::Merge { into: "main".parse().unwrap(), commit: tip.clone() },
        note(Work::Began { command, profile }),
        note(Work::Pushing { remote: "origin".into(), tip }),
    ];
    let mut world = World::new();
    world.submit(Who::Operator, enter()).unwrap();
    let (id, project) = (WorktreeId::from_uuid(Uuid::from_u128(1)), world.project);
    let mut refusal = |command| world.submit(Who::Operator, Command::Worktree { id, project, command }).unwrap_err();
    for command in beginning {
        assert_eq!(refusal(command.clone()).code(), "safe_mode", "{command:?}");
    }
    assert_ne!(refusal(note(ran)).code(), "safe_mode");
}

#[test]
fn d11_whoever_has_a_say_makes_it_safe_and_only_an_admin_of_everything_ends_it() {
    for who in [Who::Agent, Who::Worker, Who::Auditor] {
        assert_eq!(World::new().submit(who, enter()).unwrap_err().code(), "role", "{who:?}");
    }
    let mut world = World::new();
    world.submit(Who::Stranger, enter()).expect("one time too often is better than one time too late");
    assert_eq!(world.submit(Who::Operator, enter()).unwrap_err().code(), "not_now");
    assert_eq!(world.submit(Who::Reviewer, leave()).unwrap_err().code(), "role");
    assert_eq!(world.submit(Who::Stranger, leave()).unwrap_err().code(), "reach");
    world.submit(Who::Admin, leave()).unwrap();
    assert!(world.organisation.safe_mode.is_none());
    assert_eq!(world.submit(Who::Admin, leave()).unwrap_err().code(), "not_now");
    let kinds = world.ledger.iter().map(|record| record.kind()).filter(|kind| kind.starts_with("organisation."));
    assert_eq!(kinds.collect::<Vec<_>>(), ["organisation.safe_mode_entered", "organisation.safe_mode_left"]);
}

#[test]
fn d11_whoever_is_in_a_hurry_throws_a_switch_without_a_word_and_says_why_when_it_is_over() {
    let silence = String::new;
    let mut world = World::new();
    for command in
        [OrganisationCommand::Halt { reason: silence() }, OrganisationCommand::EnterSafeMode { reason: silence() }]
    {
        world.submit(Who::Operator, Command::Organisation(command)).unwrap();
    }
    assert_eq!(world.organisation.halt.as_ref().unwrap().reason, "nobody said why");
    assert_eq!(world.organisation.safe_mode.as_ref().unwrap().reason, "nobody said why");
    for command in
        [OrganisationCommand::Release { reason: silence() }, OrganisationCommand::LeaveSafeMode { reason: silence() }]
    {
        assert_eq!(world.submit(Who::Admin, Command::Organisation(command)).unwrap_err().code(), "invalid");
    }
}
