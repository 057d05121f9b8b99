//! Snapshots on demand, and what becomes of many: a run can be saved whenever it is there, and is never stuck for their number.

use placet_domain::reason::{HostFault, RunFailure};
use placet_domain::refusal::Refusal;
use placet_domain::run::{RunCommand, RunStatus, SnapshotCommand, Wanted};

use crate::people::Who;
use crate::scenario::World;
use crate::trials::pass_gate;

fn ask() -> RunCommand {
    RunCommand::Snapshot(SnapshotCommand::Ask { reason: "before it gets difficult".to_owned() })
}

fn back(to: u32) -> RunCommand {
    RunCommand::RollBack { to, reason: "further back".to_owned() }
}

#[test]
fn c11_a_run_is_saved_on_demand_wherever_it_stands_and_goes_on_as_it_was() {
    for status in [RunStatus::Executing, RunStatus::CheckpointReached, RunStatus::Paused] {
        let mut world = World::new().governed().with_run(status);
        let (before, review) = (world.run().wanted(), world.run().review());
        let next = world.run().snapshots.kept.len().try_into().unwrap();
        world.by(Who::Operator).run(ask()).expect("it can be saved");
        assert_eq!((world.run_status(), world.run().wanted()), (status, Wanted::Snapshot { number: next }));
        assert!(matches!(world.reviewer().run(ask()), Err(Refusal::NotNow { .. })), "it is being saved");
        world.host_catches_up();
        assert_eq!((world.run_status(), world.run().wanted()), (status, before));
        assert_eq!(world.run().review(), review, "what a person decides on is the same");
        world.operator().run(back(next)).expect("it can return there");
    }
}

#[test]
fn c11_a_rollback_is_no_time_to_save_and_forgets_that_somebody_wanted_to() {
    let mut world = World::new().governed().executing();
    world.operator().run(ask()).expect("it can be saved");
    world.operator().run(back(0)).expect("it can go back");
    assert_eq!(world.run().wanted(), Wanted::Restored { number: 0 });
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).expect("it goes on");
    assert_eq!(world.run().wanted(), Wanted::Running);
}

#[test]
fn c11_however_often_it_is_saved_a_run_is_never_stuck_and_says_where_it_can_go_back_to() {
    let mut world = World::new().governed().executing();
    world.operator().run(RunCommand::ReachGate { summary: "look".to_owned() }).expect("a checkpoint");
    world.host_catches_up();
    let decided = world.run().snapshots.kept.last().unwrap().number;
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).expect("it goes on");
    for _ in 0..1_100 {
        world.operator().run(ask()).expect("it can be saved");
        world.host_catches_up();
    }
    let there: Vec<u32> = world.run().snapshots.kept.iter().map(|snapshot| snapshot.number).collect();
    assert!(there.len() < 100 && there.starts_with(&[0, decided]), "{there:?}");
    assert_eq!(there.last(), Some(&1_101));
    let kinds: Vec<&str> = world.ledger.iter().map(placet_domain::record::Record::kind).collect();
    assert!(
        kinds.iter().filter(|kind| **kind == "run.snapshots_forgotten").count() > 1_000,
        "that they were is recorded"
    );
    let refused = world.operator().run(back(500)).expect_err("it is forgotten").to_string();
    assert!(refused.contains("snapshot 500 is no longer kept; there are 0 to 1 and 1038 to 1101: "), "{refused}");
    assert!(matches!(world.operator().run(back(5_000)), Err(Refusal::Unknown { .. })));
    world.operator().run(back(decided)).expect("where a person decided, it can return to");
}

#[test]
fn nobody_can_save_a_run_that_no_worker_hosts() {
    let mut world = World::new().executing();
    let refused = world.operator().run(ask()).expect_err("nobody hosts it").to_string();
    assert!(refused.contains("no worker hosts this run"), "{refused}");
}

fn modified(world: &World, rest: &[&str]) -> RunCommand {
    let plan = Some(rest.iter().map(ToString::to_string).collect());
    RunCommand::PassGate { seen: world.run().review(), note: String::new(), plan }
}

fn at_a_checkpoint(world: &mut World) -> u32 {
    world.agent().run(RunCommand::ReachGate { summary: "look".to_owned() }).expect("it works");
    world.host_catches_up();
    world.run().snapshots.kept.last().expect("it is saved").number
}

fn goes_back(world: &mut World, to: u32) {
    world.operator().run(back(to)).expect("it is kept");
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).expect("it is restored");
}

#[test]
fn c11_the_plan_goes_back_with_the_run() {
    let mut world = World::new().governed().executing();
    let declared = world.run().plan.clone();
    let first = at_a_checkpoint(&mut world);
    let shorter = modified(&world, &["only this"]);
    world.reviewer().run(shorter).unwrap();
    let second = at_a_checkpoint(&mut world);
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    world.agent().run(RunCommand::FinishStep { step: 1, summary: "done".to_owned() }).unwrap();
    for _ in 0..2 {
        goes_back(&mut world, first);
        assert_eq!((&world.run().plan, world.run().steps_done), (&declared, 0));
        goes_back(&mut world, second);
        assert_eq!((world.run().plan.as_slice(), world.run().steps_done), (&["only this".to_owned()][..], 0));
    }
    let third = at_a_checkpoint(&mut world);
    goes_back(&mut world, 0);
    assert_eq!(world.run().plan, declared);
    goes_back(&mut world, third);
    assert_eq!(world.run().plan, ["only this"]);
}

#[test]
fn c11_who_chose_the_wrong_snapshot_chooses_again() {
    let mut world = World::new().governed().executing();
    let first = at_a_checkpoint(&mut world);
    world.operator().run(back(first)).unwrap();
    world.operator().run(back(0)).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Restored { number: 0 });
    world.host_catches_up();
    world.operator().run(back(first)).expect("also when it is restored");
    assert_eq!((world.run().wanted(), world.run().rollbacks), (Wanted::Restored { number: first }, 3));
}

fn no_room() -> HostFault {
    HostFault::SnapshotFailed { error: "no room".to_owned() }
}

#[test]
fn c11_only_the_host_reports_faults_of_the_host() {
    let mut world = World::new().governed().executing();
    let failed = || RunCommand::Fail { reason: RunFailure::Host(no_room()) };
    assert_eq!(world.agent().run(failed()).unwrap_err().code(), "other_host");
    world.worker().run(failed()).expect("its host says so");
    assert_eq!(world.run().because, Some(no_room().into()));
}

#[test]
fn c11_a_snapshot_that_somebody_asked_for_and_that_cannot_be_taken_is_no_end_of_the_run() {
    let failed = || RunCommand::Snapshot(SnapshotCommand::Fail { fault: no_room() });
    for status in [RunStatus::Executing, RunStatus::CheckpointReached, RunStatus::Paused] {
        let mut world = World::new().governed().with_run(status);
        let before = world.run().wanted();
        assert_eq!(world.worker().run(failed()).unwrap_err().code(), "not_now", "nobody asked");
        world.operator().run(ask()).unwrap();
        assert_eq!(world.agent().run(failed()).unwrap_err().code(), "role");
        world.worker().run(failed()).unwrap();
        assert_eq!((world.run_status(), world.run().wanted()), (status, before), "it is as it was");
        world.operator().run(ask()).expect("it can be tried again");
    }
}

#[test]
fn c11_without_the_snapshot_of_a_checkpoint_nothing_goes_on() {
    let mut world = World::new().governed().just_arrived_at(RunStatus::CheckpointReached);
    let failed = RunCommand::Snapshot(SnapshotCommand::Fail { fault: no_room() });
    assert_eq!(world.worker().run(failed).unwrap_err().code(), "not_now");
    world.worker().run(RunCommand::Fail { reason: RunFailure::Host(no_room()) }).expect("its host says so");
}

#[test]
fn c11_what_a_person_is_asked_about_is_never_forgotten_however_often_it_is_saved_there() {
    let mut world = World::new().governed().executing();
    let asked_about = at_a_checkpoint(&mut world);
    for _ in 0..100 {
        world.operator().run(ask()).unwrap();
        world.host_catches_up();
    }
    let at_gate: Vec<u32> =
        world.run().snapshots.kept.iter().filter(|saved| saved.gate == Some(1)).map(|saved| saved.number).collect();
    assert_eq!(at_gate, [asked_about], "going back to the checkpoint is going back to what was shown");
    world.operator().run(back(asked_about)).expect("it is kept");
}
