//! REVOKE: voids everything that depends on a revoked identity and was not started.

use placet_domain::action::{ActionStatus as Status, Resolution};
use placet_domain::command::Command;
use placet_domain::identity::IdentityCommand;
use placet_domain::reason::{RevokedPart, StatusReason};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Answer, RunCommandKind, RunStatus};

use crate::matrix::run_world;
use crate::people::Who;
use crate::scenario::{HOUR_MS, Outcome, World};
use crate::trials::run_command;

fn revoke(world: &mut World, who: Who) -> Outcome {
    let id = who.id().expect("not the clockwork");
    world.submit(Who::Admin, Command::Identity { id, command: IdentityCommand::Revoke })
}

fn because(world: &World) -> String {
    world.action().because.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn b4_revoked_reviewer_approval_is_void() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.reviewer().approves().expect("an approval");
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!(world.status(), Status::PendingApproval);
    assert_eq!(world.action().because, Some(StatusReason::revoked("a reviewer", RevokedPart::Approver)));
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    let entry = world.ledger.last().expect("an entry");
    assert_eq!(
        (entry.kind(), entry.about.run, entry.about.action),
        ("action.approvals_voided", Some(world.run), Some(world.action))
    );
    world.second_reviewer().approves().expect("somebody else decides");
    world.worker().leases().expect("approved again");
}

#[test]
fn b4_revoked_reviewer_does_not_count_as_one_of_two() {
    for order in [[Who::Reviewer, Who::SecondReviewer], [Who::SecondReviewer, Who::Reviewer]] {
        let mut world = World::new().with_action("delete it", Status::PendingApproval);
        order.into_iter().for_each(|who| drop(world.by(who).approves().expect("an approval")));
        assert_eq!(world.status(), Status::Approved);
        revoke(&mut world, Who::Reviewer).expect("revoked");
        assert_eq!((world.status(), world.action().approvals_missing()), (Status::PendingApproval, 1));
        assert_eq!(world.second_reviewer().approves(), Err(Refusal::SamePerson), "the other approval stands");
        world.by(Who::Creator).approves().expect("a third person");
        assert_eq!(world.status(), Status::Approved);
        let soonest = world.action().approvals.iter().map(|approval| approval.expires_at).min();
        assert_eq!(Some(world.action().deadline), soonest, "no approval runs out before it is started");
    }
}

#[test]
fn b4_revocation_between_two_approvals_voids_the_first() {
    let mut world = World::new().with_action("delete it", Status::PendingApproval);
    world.reviewer().approves().expect("the first approval");
    revoke(&mut world, Who::Reviewer).expect("revoked");
    world.second_reviewer().approves().expect("the other approval");
    assert_eq!(world.status(), Status::PendingApproval);
    world.by(Who::Creator).approves().expect("a third person");
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b5_permit_is_void_once_its_reviewer_or_agent_is_revoked() {
    for (who, status) in [(Who::Reviewer, Status::PendingApproval), (Who::Agent, Status::Withdrawn)] {
        let mut world = World::new().with_action("build it", Status::PendingApproval);
        world.reviewer().approves().expect("an approval");
        world.worker().leases().expect("a lease");
        let permit = world.permit();
        revoke(&mut world, who).expect("revoked");
        assert_eq!((world.status(), world.action().lease()), (status, None));
        let redeem = placet_domain::action::ActionCommand::Redeem { permit };
        assert_eq!(world.worker().act(redeem).unwrap_err().code(), "not_now", "not a replay: it was never spent");
    }
}

#[test]
fn b4_revoked_agent_action_is_withdrawn() {
    for words in ["build it", "read it"] {
        let mut world = World::new()
            .with_action(words, if words == "read it" { Status::Approved } else { Status::PendingApproval });
        revoke(&mut world, Who::Agent).expect("revoked");
        assert_eq!((world.status(), world.run_status()), (Status::Withdrawn, RunStatus::Paused), "{words}");
        assert!(because(&world).contains("its agent `its agent` was revoked"), "{}", because(&world));
        assert!(world.worker().leases().is_err());
    }
}

#[test]
fn b4_what_was_started_goes_on_after_revocation() {
    for who in [Who::Reviewer, Who::Agent, Who::Worker] {
        let mut world = World::new().with_action("build it", Status::Executing);
        revoke(&mut world, who).expect("revoked");
        assert_eq!(world.status(), Status::Executing, "{}", who.name());
    }
}

#[test]
fn b4_revoked_amender_action_is_withdrawn() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.reviewer().amends("read it otherwise").expect("amended");
    assert_eq!(world.status(), Status::Approved);
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!(world.status(), Status::Withdrawn);
}

#[test]
fn b5_revoked_worker_lease_is_given_back() {
    let mut world = World::new().with_action("build it", Status::Leased);
    revoke(&mut world, Who::Worker).expect("revoked");
    assert_eq!(world.status(), Status::Approved);
    world.by(Who::OtherWorker).leases().expect("another worker takes it");
}

#[test]
fn b4_retry_by_revoked_reviewer_is_void() {
    for words in ["read it", "build it"] {
        let mut world = World::new().with_action(words, Status::Interrupted);
        world.second_reviewer().resolves(Resolution::Retry).expect("tried again");
        assert_eq!(world.status(), Status::Approved, "{words}");
        revoke(&mut world, Who::SecondReviewer).expect("revoked");
        assert_eq!(world.status(), Status::Interrupted, "{words}");
        world.reviewer().resolves(Resolution::Abandon).expect("somebody else decides");
    }
}

#[test]
fn c2_performance_by_revoked_reviewer_is_void() {
    let mut world = World::performing("build and mail it");
    let by = world.action().vouched_by.and_then(Who::from_id).expect("whoever had it performed");
    revoke(&mut world, by).expect("revoked");
    assert_eq!((world.status(), world.run().rehearsal.performing.len()), (Status::Rehearsed, 0));
    assert!(because(&world).contains("who approved it, was revoked"), "{}", because(&world));
}

#[test]
fn c9_run_stops_again_for_an_action_whose_approval_is_void() {
    let mut world = World::new().executing();
    world.agent().proposes("build and mail it").expect("a proposal");
    world.reviewer().approves().expect("an approval");
    assert_eq!(world.run_status(), RunStatus::Executing);
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!((world.status(), world.run_status()), (Status::PendingApproval, RunStatus::CheckpointReached));
    assert_eq!(world.run().gate.as_ref().and_then(|gate| gate.action), Some(world.action));
}

#[test]
fn c8_plan_approval_by_revoked_reviewer_is_void_until_started() {
    let mut world = World::new().with_run(RunStatus::Approved);
    let seen = world.run().review();
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!(world.run_status(), RunStatus::PendingApproval);
    assert_eq!(world.run().because, Some(StatusReason::revoked("a reviewer", RevokedPart::PlanApprover)));
    assert_ne!(world.run().review(), seen, "another standstill");
    world.second_reviewer().approves_plan().expect("somebody else decides");
    let mut world = World::new().executing();
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!(world.run_status(), RunStatus::Executing, "it was started");
}

#[test]
fn b4_orders_and_hosts_of_revoked_reviewer_are_closed() {
    let mut world = run_world(World::new(), RunCommandKind::RevokeOrder);
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert!(world.run().orders.iter().all(|order| order.revoked.is_some()), "{:?}", world.run().orders);
    let mut world = run_world(World::new(), RunCommandKind::Grant);
    let grant = run_command(&world, RunCommandKind::Grant);
    world.reviewer().run(grant).expect("opened");
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert!(world.run().network.wishes.iter().any(|wish| matches!(wish.answer, Answer::Revoked { .. })));
}

#[test]
fn b4_revocation_voids_actions_of_several_runs_at_once() {
    let mut world = World::new().with_action("delete it", Status::PendingApproval);
    world.reviewer().approves().expect("an approval");
    let first = world.action;
    world.agent().proposes("build it").expect("a proposal");
    world.reviewer().approves().expect("an approval");
    revoke(&mut world, Who::Reviewer).expect("revoked");
    assert_eq!(world.status(), Status::PendingApproval);
    assert_eq!(world.actions[&first].approvals, []);
    world.wait_ms(23 * HOUR_MS);
    world.second_reviewer().approves().expect("the time to decide is a new one");
}
