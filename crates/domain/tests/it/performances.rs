//! What a run only rehearsed is done after all: at its results, as it was shown, once, because reviewers said so.

use placet_domain::action::{ActionStatus, Resolution};
use placet_domain::budget::{Ceiling, Resource};
use placet_domain::evidence::Exit;
use placet_domain::policy::Tier;
use placet_domain::run::{RunCommand, RunStatus, Wanted};

use crate::people::Who;
use crate::scenario::{DAY_MS, MINUTE_MS, World};

fn not_started() -> Exit {
    Exit::NotStarted { why: "its program is another one here".to_owned() }
}

#[test]
fn c2_what_was_rehearsed_is_done_at_the_results_exactly_as_it_was_sealed() {
    let mut world = World::with_rehearsed("build and mail it").at_results();
    let sealed = world.action().digest;
    world.reviewer().performs().unwrap();
    assert_eq!(world.status(), ActionStatus::Approved, "who says so approves it");
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!((world.status(), world.action().digest), (ActionStatus::Succeeded, sealed));
    assert_eq!(world.reviewer().performs().unwrap_err().code(), "not_now", "and only once");
}

#[test]
fn c2_nothing_rehearsed_is_done_before_the_results() {
    let mut world = World::with_rehearsed("build and mail it");
    assert_eq!(world.reviewer().performs().unwrap_err().code(), "not_now");
    let mut world = world.at_results();
    let seen = world.run().review();
    world.reviewer().run(RunCommand::RejectResults { seen, reason: "not yet".to_owned() }).unwrap();
    assert_eq!(world.reviewer().performs().unwrap_err().code(), "not_now");
}

#[test]
fn b4_what_takes_two_people_takes_two_people_here_too() {
    let mut world = World::with_rehearsed("delete and mail it").at_results();
    world.reviewer().performs().unwrap();
    assert_eq!(world.status(), ActionStatus::PendingApproval);
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "same_person");
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
}

#[test]
fn b4_whoever_stands_behind_the_agent_performs_nothing_of_it() {
    for who in [Who::Agent, Who::Parent, Who::Operator, Who::Worker, Who::Runtime] {
        let mut world = World::with_rehearsed("build and mail it").at_results();
        assert!(world.by(who).performs().is_err(), "{who:?}");
        assert_eq!(world.status(), ActionStatus::Rehearsed);
    }
}

#[test]
fn c2_another_policy_asks_again() {
    let mut world = World::with_rehearsed("build and mail it").at_results();
    let seen = world.action().review();
    world.change_policy();
    world.reviewer().performs().unwrap();
    assert_eq!(world.status(), ActionStatus::Rehearsed, "judged again, and shown again");
    assert_ne!(world.action().review(), seen);
    world.reviewer().performs().unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
}

#[test]
fn c2_a_policy_that_changes_while_it_waits_for_a_worker_asks_again() {
    for (tier, becomes) in
        [(Tier::A, ActionStatus::Rehearsed), (Tier::B, ActionStatus::Rehearsed), (Tier::D, ActionStatus::Denied)]
    {
        let mut world = World::performing("build and mail it");
        world.change_policy();
        assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
        world.clockwork().rejudges(tier).unwrap();
        assert_eq!(world.status(), becomes, "no policy says yes in a person's place");
        assert!(world.run().rehearsal.performing.is_empty());
    }
}

#[test]
fn c11_what_was_rehearsed_before_a_rollback_is_never_performed() {
    let mut world = World::new().governed().rehearsing("build and mail it").at_results();
    world.reviewer().performs().unwrap();
    world.operator().run(RunCommand::RollBack { to: 0, reason: "again".to_owned() }).unwrap();
    assert!(world.run().rehearsal.performing.is_empty());
    assert_eq!(world.worker().leases().unwrap_err().code(), "run_not_active");
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    let mut world = world.at_results();
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), ActionStatus::Expired);
}

#[test]
fn c7_results_wait_until_what_is_performed_is_over_and_are_looked_at_again() {
    let mut world = World::new().governed().rehearsing("build and mail it").at_results();
    let seen = world.run().review();
    world.reviewer().performs().unwrap();
    assert_eq!(world.run().wanted(), Wanted::Still, "nothing is collected while it may change");
    for decision in [
        RunCommand::ApproveResults { seen: world.run().review(), chosen: None },
        RunCommand::RejectResults { seen: world.run().review(), reason: "no".to_owned() },
    ] {
        assert_eq!(world.reviewer().run(decision).unwrap_err().code(), "not_now");
    }
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Collected, "it may have written something");
    world.host_catches_up();
    assert_eq!(world.reviewer().run(RunCommand::ApproveResults { seen, chosen: None }).unwrap_err().code(), "stale");
    let seen = world.run().review();
    world.reviewer().run(RunCommand::ApproveResults { seen, chosen: None }).unwrap();
    assert_eq!(world.run_status(), RunStatus::Completed);
}

#[test]
fn c7_what_was_not_started_changes_no_results() {
    let mut world = World::new().governed().rehearsing("build and mail it").at_results();
    let outputs = world.run().host.outputs.clone();
    world.reviewer().performs().unwrap();
    world.worker().leases().unwrap();
    world.worker().completes(not_started()).unwrap();
    assert_eq!((world.run().host.outputs.clone(), world.run().rehearsal.performed), (outputs, 0));
    assert_eq!(world.run().budget.as_ref().unwrap().held().actions, 0);
}

#[test]
fn c7_taken_back_or_left_alone_it_is_as_if_nobody_had_asked() {
    let mut world = World::performing("build and mail it");
    world.operator().withdraws().unwrap();
    assert!(world.run().rehearsal.performing.is_empty());
    let mut world = World::performing("build and mail it");
    world.wait_ms(2 * DAY_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!((world.status(), world.run().rehearsal.performing.len()), (ActionStatus::Expired, 0));
}

#[test]
fn b8_a_performance_whose_worker_was_lost_waits_for_a_person() {
    let mut world = World::new().governed().rehearsing("build and mail it").at_results();
    world.reviewer().performs().unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), ActionStatus::Interrupted);
    assert_eq!(world.run().rehearsal.performing.len(), 1, "nobody knows how far it got");
    let mut retried = world.clone();
    retried.reviewer().resolves(Resolution::Retry).unwrap();
    retried.worker().leases().unwrap();
    world.reviewer().resolves(Resolution::Abandon).unwrap();
    assert_eq!(world.run().wanted(), Wanted::Collected, "what it left is looked at");
}

#[test]
fn c12_what_is_performed_is_paid_for_and_held_from_the_decision_on() {
    let mut world = World::new().governed();
    world.ceiling = Some(Ceiling { actions: Some(1), ..Ceiling::default() });
    let mut world = world.rehearsing("build and mail it");
    let first = world.action;
    world.agent().proposes("build and mail it again").unwrap();
    let mut world = world.at_results();
    world.reviewer().performs().unwrap();
    assert_eq!(world.run().budget.as_ref().unwrap().left(Resource::Actions), Some(0));
    world.action = first;
    assert_eq!(world.reviewer().performs().unwrap_err().code(), "budget");
    assert_eq!(world.run_status(), RunStatus::PendingExport, "there is nothing to pause");
}

#[test]
fn c12_a_performance_stays_paid_for_when_its_worker_is_lost_before_it_began_and_is_paid_again_when_it_is_tried_again() {
    let mut world = World::new().governed();
    world.ceiling = Some(Ceiling { actions: Some(1), ..Ceiling::default() });
    let mut world = world.rehearsing("build and mail it").at_results();
    world.reviewer().performs().unwrap();
    world.worker().leases().unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
    assert_eq!(world.run().budget.as_ref().unwrap().held().actions, 1, "nobody else can take it away");
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.reviewer().resolves(Resolution::Retry).unwrap_err().code(), "budget", "the first try took it all");
    world.reviewer().resolves(Resolution::Abandon).unwrap();
    assert_eq!(world.run().budget.as_ref().unwrap().held().actions, 0);
}

#[test]
fn c19_what_was_removed_is_forgotten_with_the_results_that_said_so() {
    let mut world = World::new().governed().with_run(RunStatus::PendingExport);
    let run = world.run;
    world.runs.get_mut(&run).unwrap().host.removed = vec!["a.txt".to_owned()];
    let seen = world.run().review();
    world.reviewer().run(RunCommand::RejectResults { seen, reason: "again".to_owned() }).unwrap();
    let world = world.at_results();
    assert!(world.run().host.removed.is_empty());
}

#[test]
fn a_reviewer_who_wants_it_otherwise_gets_another_rehearsal() {
    let mut world = World::with_rehearsed("delete and mail it").at_results();
    world.reviewer().performs().unwrap();
    world.second_reviewer().amends("build and mail it").unwrap();
    assert_eq!(world.status(), ActionStatus::Rehearsed);
    assert!(world.run().rehearsal.performing.is_empty());
    world.reviewer().performs().unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
}
