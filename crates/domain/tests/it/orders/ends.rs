//! How orders end, and what they never cover: everything that an agent could do to get more than somebody meant.

use placet_domain::action::{ActionStatus as Status, Resolution};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::identity::{IdentityCommand, Lineage, Reach};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::policy::Tier;
use placet_domain::run::{OrderCommand, RunCommand, RunStatus, Stand};

use super::{extent, kinds, ordered, proposes_again};
use crate::people::Who;
use crate::scenario::{MINUTE_MS, World, run_id};

#[test]
fn b4_the_order_of_somebody_who_is_no_longer_trusted_is_void() {
    let mut world = ordered(9);
    let id = Who::Reviewer.id().unwrap();
    world.submit(Who::Admin, Command::Identity { id, command: IdentityCommand::Revoke }).unwrap();
    assert_eq!((proposes_again(&mut world), world.order().used), (Status::PendingApproval, 0));
    // Nor does it count if they no longer reach the project, or no longer review; by whatever way that came about.
    let mut world = ordered(9);
    world.identities.get_mut(&id).unwrap().reach = Reach::Only([].into());
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
    let mut world = ordered(9);
    world.identities.get_mut(&id).unwrap().roles.clear();
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
    let mut world = ordered(9);
    world.identities.remove(&id);
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
    // Whoever gets a new token may not have given it themself.
    let mut world = ordered(9);
    let command = IdentityCommand::ReplaceToken { token: Digest::of(b"new"), proof: None };
    world.submit(Who::Admin, Command::Identity { id, command }).unwrap();
    assert_eq!((proposes_again(&mut world), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_r7_independence_is_looked_at_again_when_an_order_is_used() {
    let mut world = ordered(9);
    let agent = world.identities[&Who::Agent.id().unwrap()].clone();
    // As if the giver had turned out to come from the agent.
    let kin = world.identities.get_mut(&Who::Reviewer.id().unwrap()).unwrap();
    kin.lineage = Lineage::below(&agent);
    assert_eq!((proposes_again(&mut world), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_under_another_policy_an_order_says_nothing_and_what_it_approved_is_over() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.change_policy();
    world.clockwork().rejudges(Tier::B).unwrap();
    assert_eq!(world.status(), Status::Withdrawn, "nobody was asked about it, and it becomes no question");
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Void, Status::PendingApproval));
}

#[test]
fn b4_what_is_judged_again_into_the_class_is_not_let_pass() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.change_policy();
    let waiting = world.action;
    world.agent().proposes("build it").unwrap();
    world.orders(Who::Reviewer, "build it", extent(9)).unwrap();
    world.action = waiting;
    world.clockwork().rejudges(Tier::B).unwrap();
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_a_rollback_ends_every_order_and_brings_no_uses_back() {
    let mut world = World::new().governed().with_action("build it", Status::PendingApproval);
    world.orders(Who::Reviewer, "build it", extent(5)).unwrap();
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.operator().run(RunCommand::RollBack { to: 0, reason: "again".to_owned() }).unwrap();
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!((world.stand(), world.order().used), (Stand::Void, 1));
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
}

#[test]
fn b4_who_takes_an_order_back_also_stops_what_it_approved_and_nobody_has_begun() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    let waiting = world.action;
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.worker().leases().unwrap();
    let revoke = RunCommand::Order(OrderCommand::Revoke { number: 1, reason: "enough".to_owned() });
    assert!(world.agent().run(revoke.clone()).is_err(), "an agent has no say in it");
    let revoked = world.operator().run(revoke.clone()).unwrap();
    assert_eq!(kinds(&revoked), ["run.order_revoked"]);
    assert_eq!(world.worker().redeems().unwrap_err().code(), "not_now", "leased, and still not begun");
    world.action = waiting;
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Withdrawn);
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Revoked, Status::PendingApproval));
    assert_eq!(world.operator().run(revoke).unwrap_err().code(), "not_now");
}

#[test]
fn b4_who_rejects_an_action_ends_the_orders_for_its_tool() {
    let mut world = ordered(9);
    world.agent().proposes("build it otherwise").unwrap();
    let rejected = world.second_reviewer().rejects("this is not what I meant").unwrap();
    assert_eq!(kinds(&rejected), ["action.rejected", "run.order_revoked"]);
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Revoked, Status::PendingApproval));
}

#[test]
fn b4_what_waits_when_an_order_is_given_waits_on() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let earlier = world.action;
    world.agent().proposes("build it").unwrap();
    world.orders(Who::Reviewer, "build it", extent(9)).unwrap();
    world.action = earlier;
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_an_order_stays_in_its_run() {
    let mut world = ordered(9);
    world.run = run_id(2);
    let mut world = world.with_run(RunStatus::Executing);
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.status(), Status::PendingApproval, "the same agent, the same words, another run");
}

#[test]
fn b4_what_a_reviewer_amends_is_not_let_pass_by_an_order() {
    let mut world = ordered(9);
    world.agent().proposes("build it otherwise").unwrap();
    // Its author stands behind the agent, so their own yes does not count: somebody else is asked.
    let mut alone = world.clone();
    alone.reviewer().amends("build it").unwrap();
    assert_eq!(alone.order().used, 0);
    assert_eq!(alone.action().approvals.first().map(|approval| approval.order), Some(None), "a yes of their own");
}

#[test]
fn b4_what_is_rehearsed_and_what_is_tried_again_is_not_let_pass() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Interrupted);
    let used = world.order().used;
    world.second_reviewer().resolves(Resolution::Retry).unwrap();
    assert_eq!((world.order().used, world.action().approvals[0].order), (used, None), "a person said so");
    let mut world = World::performing("build and mail it");
    let refused = world.orders(Who::Reviewer, "build and mail it", extent(1));
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn b4_pause_halt_and_safe_mode_come_before_orders() {
    let mut paused = ordered(9);
    paused.operator().run(RunCommand::Pause { reason: "wait".to_owned() }).unwrap();
    assert_eq!(paused.agent().proposes("build it").unwrap_err().code(), "run_not_active");
    let reason = || "smoke".to_owned();
    for (stop, code) in [
        (OrganisationCommand::Halt { reason: reason() }, "halted"),
        (OrganisationCommand::EnterSafeMode { reason: reason() }, "safe_mode"),
    ] {
        let mut world = ordered(9);
        world.agent().proposes("build it otherwise").unwrap();
        let waiting = world.action;
        world.submit(Who::Admin, Command::Organisation(stop)).unwrap();
        assert_eq!(world.agent().proposes("build it").unwrap_err().code(), code);
        world.action = waiting;
        let given = world.orders(Who::Reviewer, "build it otherwise", extent(1));
        assert_eq!(given.unwrap_err().code(), code, "nor is one given meanwhile");
    }
}
