//! Agents that ask people too much: by many questions, by the same one again and again, by taking back, by many runs.

use placet_domain::action::ActionStatus;
use placet_domain::approval::Asking;
use placet_domain::command::Command;
use placet_domain::reason::StatusReason;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{GateKind, RunCommand, RunEvent, RunStatus};

use crate::people::Who;
use crate::scenario::{MINUTE_MS, World, run_id};
use crate::trials::pass_gate;

/// At most three undecided, at most five in ten minutes.
fn bounded() -> World {
    let mut world = World::new();
    world.terms.asking = Asking { most_undecided: 3, most_asked: 5, ..Asking::default() };
    world.executing()
}

fn waiting(world: &World) -> usize {
    world.actions.values().filter(|action| action.status == ActionStatus::PendingApproval).count()
}

#[track_caller]
fn is_too_many(outcome: Result<Vec<Record>, Refusal>) {
    assert_eq!(outcome.expect_err("it is refused").code(), "too_many_questions");
}

#[test]
fn b4_a_question_beyond_the_bound_is_not_taken_and_that_is_recorded_once() {
    let mut world = bounded();
    (0..3).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    let before = world.ledger.len();
    let first = world.agent().proposes("build one more").unwrap();
    assert!(
        matches!(&first[..], [Record { event: Event::Run(_, RunEvent::Overasked { undecided: 3 }), about }] if about.action.is_none()),
        "{first:?}"
    );
    for number in 0..1_000 {
        is_too_many(world.agent().proposes(&format!("build {number} again")));
    }
    assert_eq!((world.ledger.len(), waiting(&world)), (before + 1, 3), "one entry, whatever comes after it");
    assert_eq!(world.run_status(), RunStatus::Executing, "the run goes on");
}

#[test]
fn b4_what_needs_no_person_goes_through_while_too_many_questions_wait() {
    let mut world = bounded();
    (0..4).for_each(|number| drop(world.agent().proposes(&format!("build {number}"))));
    world.agent().proposes("read the docs").unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
    world.agent().proposes("burn everything").unwrap();
    assert_eq!(world.status(), ActionStatus::Denied);
}

#[test]
fn b4_a_decision_makes_room_for_the_next_question() {
    let mut world = bounded();
    (0..3).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    let decided = world.action;
    world.agent().proposes("build one more").unwrap();
    world.action = decided;
    world.reviewer().rejects("no").unwrap();
    world.agent().proposes("build one more").unwrap();
    assert_eq!((world.status(), waiting(&world)), (ActionStatus::PendingApproval, 3));
}

#[test]
fn b4_whoever_takes_back_and_asks_again_is_stopped_by_how_often_they_ask() {
    let mut world = bounded();
    for _ in 0..5 {
        world.agent().proposes("build it").unwrap();
        world.agent().withdraws().unwrap();
    }
    let asked = world.actions.len();
    world.agent().proposes("build it").unwrap();
    let gate = world.run().gate.clone().expect("one thing to decide on");
    assert_eq!((gate.kind, gate.action, gate.passes_at), (GateKind::Questions, None, None));
    assert_eq!(gate.reason, StatusReason::AskedTooOften { times: 5, minutes: 10 });
    assert_eq!((world.run_status(), world.actions.len()), (RunStatus::CheckpointReached, asked));
    assert_eq!(world.agent().proposes("build it").unwrap_err().code(), "run_not_active");
}

#[test]
fn b4_whoever_asked_too_much_does_not_end_what_people_are_to_look_at() {
    let mut world = bounded();
    world.terms.asking.most_undecided = 0;
    (0..6).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    let fail = RunCommand::Fail { reason: "never mind".to_owned().into() };
    assert!(world.agent().run(fail).is_err());
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
}

#[test]
fn b4_a_person_lets_an_agent_ask_on_and_silence_never_does() {
    let mut world = bounded();
    world.terms.asking.most_undecided = 0;
    world.posture.gates.auto_pass_after_ms = Some(60_000);
    (0..6).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
    world.wait_ms(5 * MINUTE_MS);
    assert!(world.clockwork().run(RunCommand::Lapse).is_err());
    let pass = pass_gate(world.run());
    assert!(world.agent().run(pass.clone()).is_err(), "not by the agent itself");
    world.reviewer().run(pass).unwrap();
    world.wait_ms(1);
    (0..5).for_each(|number| drop(world.agent().proposes(&format!("build {number} more")).unwrap()));
    assert_eq!(world.run_status(), RunStatus::Executing, "what was asked before was looked at");
    world.agent().proposes("build the last straw").unwrap();
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
}

#[test]
fn b4_what_was_asked_long_ago_does_not_count() {
    let mut world = bounded();
    world.terms.asking.most_undecided = 0;
    (0..5).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    world.wait_ms(10 * MINUTE_MS);
    world.agent().proposes("build one more").unwrap();
    assert_eq!((world.run_status(), world.status()), (RunStatus::Executing, ActionStatus::PendingApproval));
}

/// A run of the same agent, or one that the first run had made for another agent.
fn another_run(world: &mut World, number: u128, parent: bool) {
    let RunCommand::Create(mut founding) = world.new_run(&["go on"]) else { panic!("a run is made") };
    if parent {
        let other = world.identities[&Who::OtherAgent.id().expect("an identity")].clone();
        (founding.parent, founding.agent, founding.agent_lineage) = (Some(world.run), other.id, other.lineage);
    }
    let id = run_id(number);
    world.submit(Who::Creator, Command::Run { id, command: RunCommand::Create(founding) }).expect("a run is made");
    let seen = world.runs[&id].review();
    let agent = Who::from_id(world.runs[&id].agent).expect("somebody known");
    for (who, command) in [
        (Who::Reviewer, RunCommand::ApprovePlan { seen }),
        (Who::Operator, RunCommand::Start),
        (agent, RunCommand::Attach),
    ] {
        world.submit(who, Command::Run { id, command }).expect("it goes on");
    }
}

#[test]
fn b4_more_runs_and_runs_of_children_win_an_agent_nothing() {
    for parent in [false, true] {
        let mut world = bounded();
        another_run(&mut world, 77, parent);
        let (first, agent) = (world.run, Who::from_id(world.runs[&run_id(77)].agent).unwrap());
        (0..3).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
        world.run = run_id(77);
        let asked = world.proposal(agent, "build elsewhere");
        let id = crate::scenario::action_id(4_711);
        let outcome = world.submit(agent, Command::Action { id, run: world.run, command: asked }).unwrap();
        assert!(matches!(outcome[0].event, Event::Run(_, RunEvent::Overasked { .. })), "{outcome:?}");
        world.run = first;
        assert_eq!(waiting(&world), 3);
    }
}

#[test]
fn b4_while_one_run_of_a_family_stands_still_for_asking_too_much_the_others_ask_nothing_and_add_no_item() {
    let mut world = bounded();
    world.terms.asking.most_undecided = 0;
    another_run(&mut world, 77, false);
    (0..6).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
    world.run = run_id(77);
    let before = world.ledger.len();
    is_too_many(world.agent().proposes("build elsewhere"));
    assert_eq!((world.ledger.len(), world.run_status()), (before, RunStatus::Executing));
}

#[test]
fn b4_to_pause_the_run_that_stands_still_does_not_let_the_others_ask() {
    let mut world = bounded();
    world.terms.asking.most_undecided = 0;
    another_run(&mut world, 77, false);
    (0..6).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    let first = world.run;
    world.operator().run(RunCommand::Pause { reason: "later".to_owned() }).unwrap();
    world.run = run_id(77);
    is_too_many(world.agent().proposes("build elsewhere"));
    world.run = first;
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    world.run = run_id(77);
    world.wait_ms(10 * MINUTE_MS);
    world.agent().proposes("build elsewhere").unwrap();
}

#[test]
fn b4_a_bound_of_nothing_is_none() {
    let mut world = World::new();
    world.terms.asking = Asking::UNBOUNDED;
    let mut world = world.executing();
    (0..100).for_each(|number| drop(world.agent().proposes(&format!("build {number}")).unwrap()));
    assert_eq!(waiting(&world), 100);
}
