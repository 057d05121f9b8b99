//! Going back to a snapshot: what returns, what stays, and what is void.

use placet_domain::action::ActionStatus;
use placet_domain::digest::Digest;
use placet_domain::evidence::Exit;
use placet_domain::planning::{DataClass, Input};
use placet_domain::run::{Hosting, HostingCommand, Launch, Output, RunCommand, RunStatus, SnapshotCommand, Wanted};

use crate::people::Who;
use crate::scenario::{World, launch};

fn back_to(to: u32) -> RunCommand {
    RunCommand::RollBack { to, reason: "start over".to_owned() }
}

#[test]
fn c11_what_was_proposed_before_a_rollback_is_void_after_it() {
    let mut world = World::new().governed().with_action("build it", ActionStatus::Approved);
    world.agent().proposes("build it again").unwrap();
    world.operator().run(back_to(0)).unwrap();
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "not_now");
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "not_now", "also when the run goes on");
    for action in world.actions.keys().copied().collect::<Vec<_>>() {
        world.action = action;
        assert!(world.worker().leases().is_err());
        world.clockwork().lapses().unwrap();
        assert_eq!(world.status(), ActionStatus::Expired);
    }
}

#[test]
fn c11_what_was_under_way_when_the_run_was_rolled_back_stops_and_does_not_count() {
    let mut world = World::new().governed().with_action("build it", ActionStatus::Executing);
    world.operator().run(back_to(0)).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "not_now", "its worker is told to stop");
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "evidence.quarantined");
}

#[test]
fn c11_the_plan_returns_to_where_it_stood_and_what_was_spent_stays_spent() {
    let mut world = World::new().governed().executing();
    world.agent().run(RunCommand::FinishStep { step: 1, summary: "looked".to_owned() }).unwrap();
    world.agent().proposes("read it").unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    world.operator().run(back_to(0)).unwrap();
    assert_eq!((world.run().steps_done, world.run().rollbacks), (0, 1));
    assert_eq!(world.run().budget.as_ref().unwrap().spent.actions, 1);
}

#[test]
fn c11_only_what_was_saved_counts_as_restored_and_only_its_host_can_say_so() {
    let mut world = World::new().governed().executing();
    world.operator().run(back_to(0)).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Restored { number: 0 });
    let restored = |files: &[u8]| {
        RunCommand::Snapshot(SnapshotCommand::Restore {
            number: 0,
            workspace: Digest::of(files),
            memory: Digest::of(b"memory"),
        })
    };
    assert_eq!(world.worker().run(restored(b"other files")).unwrap_err().code(), "invalid");
    assert_eq!(world.by(Who::OtherWorker).run(restored(b"files")).unwrap_err().code(), "other_host");
    assert_eq!(world.reviewer().run(RunCommand::Resume).unwrap_err().code(), "not_now");
    world.worker().run(restored(b"files")).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c11_there_is_no_way_back_to_what_was_never_saved() {
    let mut world = World::new().governed().executing();
    assert_eq!(world.operator().run(back_to(7)).unwrap_err().code(), "unknown");
}

#[test]
fn c6_a_run_is_destroyed_by_its_host_once_it_is_over_and_never_before() {
    let mut world = World::new().governed().executing();
    assert_eq!(world.worker().run(RunCommand::Hosting(HostingCommand::Destroy)).unwrap_err().code(), "not_now");
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Destroyed);
    world.host_catches_up();
    assert_eq!(world.run().wanted(), Wanted::Nothing);
    assert_eq!(world.worker().run(RunCommand::Hosting(HostingCommand::Destroy)).unwrap_err().code(), "not_now");
}

#[test]
fn outputs_outside_of_the_scope_are_never_exported() {
    let mut world = World::new().governed().just_arrived_at(RunStatus::PendingExport);
    let output = |id, path: &str| Output {
        id,
        path: path.to_owned(),
        digest: Digest::of(b"made"),
        size_bytes: 4,
        executable: false,
    };
    let outputs = vec![output(1, "src/lib.rs"), output(2, "Makefile"), output(3, "SRC/case.rs")];
    world.worker().run(RunCommand::Hosting(HostingCommand::Collect { outputs, removed: Vec::new() })).unwrap();
    let seen = world.run().review();
    for chosen in [None, Some([1, 2].into())] {
        let refused = world.reviewer().run(RunCommand::ApproveResults { seen, chosen }).unwrap_err();
        assert!(refused.code() == "invalid" && refused.to_string().contains("`Makefile`"), "{refused}");
    }
    world.reviewer().run(RunCommand::ApproveResults { seen, chosen: Some([1].into()) }).unwrap();
    assert_eq!(world.run().host.exported.as_deref(), Some([1].as_slice()));
}

#[test]
fn removals_outside_of_the_scope_are_never_exported() {
    let mut world = World::new().governed();
    let (path, digest) = ("Makefile", Some(Digest::of(b"content")));
    let input = Input { path: path.parse().unwrap(), class: DataClass::Public, shared: false, digest };
    world.hosting = Hosting::Hosted(Box::new(Launch { inputs: vec![input], ..launch() }));
    let mut world = world.just_arrived_at(RunStatus::PendingExport);
    let output = |id, path: &str| {
        let (digest, size_bytes, executable) = (Digest::of(b"made"), 4, false);
        Output { id, path: path.to_owned(), digest, size_bytes, executable }
    };
    let outputs = vec![output(1, "src/lib.rs"), output(2, "src/main.rs")];
    world
        .worker()
        .run(RunCommand::Hosting(HostingCommand::Collect { outputs, removed: vec![path.to_owned()] }))
        .unwrap();
    let seen = world.run().review();
    for chosen in [None, Some([1, 2].into())] {
        let refused = world.reviewer().run(RunCommand::ApproveResults { seen, chosen }).unwrap_err();
        assert!(refused.code() == "invalid" && refused.to_string().contains("`Makefile`"), "{refused}");
    }
    // Removals are exported with all outputs only.
    world.reviewer().run(RunCommand::ApproveResults { seen, chosen: Some([1].into()) }).unwrap();
}

#[test]
fn c19_only_chosen_outputs_leave_and_only_by_a_decision_on_exactly_these() {
    let mut world = World::new().governed().just_arrived_at(RunStatus::PendingExport);
    let before = world.run().review();
    let early = RunCommand::ApproveResults { seen: before, chosen: None };
    assert_eq!(world.reviewer().run(early.clone()).unwrap_err().code(), "not_now", "nothing is collected yet");
    world.host_catches_up();
    assert_eq!(world.reviewer().run(early).unwrap_err().code(), "stale", "the outputs are part of what is seen");
    let seen = world.run().review();
    let unknown = RunCommand::ApproveResults { seen, chosen: Some([9].into()) };
    assert_eq!(world.reviewer().run(unknown).unwrap_err().code(), "invalid");
    world.reviewer().run(RunCommand::ApproveResults { seen, chosen: Some([].into()) }).unwrap();
    assert_eq!(world.run().host.exported.as_deref(), Some([].as_slice()), "nothing leaves, and that is a decision too");
}
