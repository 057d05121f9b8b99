//! Working time: a run that only waits for people does not use any.

use placet_domain::action::{ActionCommand, ActionStatus as Status};
use placet_domain::budget::Ceiling;
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::organisation::OrganisationCommand;
use placet_domain::run::{RunCommand, RunStatus, Wanted};

use crate::people::Who;
use crate::scenario::{HOUR_MS, MINUTE_MS, World};

/// Makes an executing run with a budget of four minutes.
fn short() -> World {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { wall_ms: Some(240_000), ..Ceiling::default() });
    world.executing()
}

fn worked_ms(world: &World) -> u64 {
    world.run().clock.worked_ms(world.now)
}

#[test]
fn c12_waiting_for_approval_spends_no_time() {
    let mut world = short();
    world.wait_ms(MINUTE_MS);
    world.agent().proposes("build it").expect("a proposal");
    assert_eq!(world.run().due(), None, "nothing runs out meanwhile");
    world.wait_ms(HOUR_MS);
    assert!(world.clockwork().run(RunCommand::Lapse).is_err());
    assert_eq!((world.run_status(), worked_ms(&world)), (RunStatus::Executing, 60_000));
    world.reviewer().approves().expect("an approval");
    world.wait_ms(MINUTE_MS);
    world.worker().leases().expect("a lease");
    world.worker().redeems().expect("a start");
    assert_eq!(worked_ms(&world), 120_000, "an approved action is work");
    world.worker().completes(Exit::Code(0)).expect("a result");
    world.wait_ms(MINUTE_MS);
    assert_eq!(worked_ms(&world), 180_000, "its agent thinks");
    assert_eq!(world.run().budget.as_ref().map(|budget| budget.spent.wall_ms), Some(60_000));
}

#[test]
fn c12_time_counts_while_another_action_runs() {
    let mut world = short().with_action("read it", Status::Executing);
    let running = world.action;
    world.agent().proposes("build it").expect("a proposal");
    let waiting = world.action;
    world.wait_ms(MINUTE_MS);
    assert_eq!(worked_ms(&world), 60_000);
    world.action = running;
    world.worker().completes(Exit::Code(0)).expect("a result");
    world.wait_ms(HOUR_MS);
    assert_eq!(worked_ms(&world), 60_000, "only the question is left");
    world.action = waiting;
    world.agent().withdraws().expect("taken back");
    world.wait_ms(MINUTE_MS);
    assert_eq!(worked_ms(&world), 120_000);
}

#[test]
fn c12_clock_stays_stopped_over_pause_and_halt() {
    let mut world = short();
    world.agent().proposes("build it").expect("a proposal");
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).expect("paused");
    world.operator().run(RunCommand::Resume).expect("resumed");
    world.wait_ms(HOUR_MS);
    assert_eq!(worked_ms(&world), 0, "what waits waits still");
    let halt = OrganisationCommand::Halt { reason: "a drill".to_owned() };
    world.submit(Who::Admin, Command::Organisation(halt)).expect("stopped");
    let release = OrganisationCommand::Release { reason: "over".to_owned() };
    world.submit(Who::Admin, Command::Organisation(release)).expect("released");
    world.wait_ms(HOUR_MS);
    assert_eq!(worked_ms(&world), 0);
    world.reviewer().rejects("no").expect("a decision");
    world.wait_ms(MINUTE_MS);
    assert_eq!(worked_ms(&world), 60_000);
}

#[test]
fn c12_hosted_agent_keeps_running_while_people_are_asked() {
    let mut world = World::new().governed().executing();
    world.agent().proposes("build it").expect("a proposal");
    assert_eq!((world.run_status(), world.run().wanted()), (RunStatus::Executing, Wanted::Running));
    let halt = OrganisationCommand::Halt { reason: "a drill".to_owned() };
    world.submit(Who::Admin, Command::Organisation(halt)).expect("stopped");
    assert_eq!(world.run().wanted(), Wanted::Stopped);
}

#[test]
fn c12_assigning_a_question_leaves_the_clock_running() {
    let mut world = short().with_action("read it", Status::Executing);
    world.agent().proposes("build it").expect("a proposal");
    let to = world.identities[&Who::SecondReviewer.id().expect("a person")].clone();
    let assign = ActionCommand::Assign { to: Some(Box::new(to)), note: String::new() };
    world.by(Who::Reviewer).act(assign).expect("a reviewer is named");
    world.wait_ms(MINUTE_MS);
    assert_eq!(worked_ms(&world), 60_000, "another action runs");
}
