//! Revocation voids everything unstarted that depends on the identity, in the same transaction, and records it.

use placet_domain::action::ActionStatus;
use placet_domain::budget::{Ceiling, USUAL_WARNING_PERCENT};
use placet_domain::command::Command;
use placet_domain::identity::{Actor, Identity, IdentityCommand};
use placet_domain::run::{Allowance, BudgetCommand, RunCommand, RunStatus};
use placet_store::Receipt;

use crate::world::{Ground, World, asking, by, submit};

async fn revoke(world: &World, who: &Identity) -> Receipt {
    let command = Command::Identity { id: who.id, command: IdentityCommand::Revoke };
    submit(&world.store, asking(Actor::Runtime, command)).await.unwrap()
}

pub(super) async fn b4_revocation_voids_approvals_in_one_transaction<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let [rita, sam] = &world.reviewers;
    let mut waiting = Vec::new();
    for tier in ["B", "C", "B"] {
        let action = world.propose(tier).await;
        submit(&world.store, world.approval(&action, rita)).await.unwrap();
        waiting.push(action.id);
    }
    let leased = world.lease(&world.worker).await.unwrap();
    let receipt = revoke(&world, rita).await;
    let kinds: Vec<&str> = receipt.records.iter().map(|record| record.kind()).collect();
    assert_eq!(kinds[0], "identity.revoked");
    assert_eq!(kinds.iter().filter(|kind| **kind == "action.approvals_voided").count(), 3, "{kinds:?}");
    for id in waiting {
        let action = world.store.action(id).await.unwrap().unwrap();
        assert_eq!((action.status, action.approvals.len()), (ActionStatus::PendingApproval, 0));
        assert!(action.because.unwrap().to_string().contains("who approved it, was revoked"));
    }
    assert!(world.lease(&world.worker).await.is_none(), "nothing is approved");
    assert!(submit(&world.store, world.redemption(&leased)).await.is_err(), "the permit starts nothing");
    let again = world.store.action(leased.id).await.unwrap().unwrap();
    submit(&world.store, world.approval(&again, sam)).await.unwrap();
    assert_eq!(world.lease(&world.worker).await.unwrap().id, leased.id);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    world.store.scrub().await.unwrap();
}

pub(super) async fn b4_revocation_withdraws_actions_of_an_agent<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (ready, asked) = (world.propose("A").await, world.propose("B").await);
    revoke(&world, &world.agent).await;
    for id in [ready.id, asked.id] {
        let action = world.store.action(id).await.unwrap().unwrap();
        assert_eq!(action.status, ActionStatus::Withdrawn);
    }
    let run = world.store.run(world.run.id).await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Paused);
    assert!(world.lease(&world.worker).await.is_none());
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn c12_clock_of_a_run_stands_while_it_waits<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let ceiling = Ceiling { wall_ms: Some(3_600_000), ..Ceiling::default() };
    let allowance = Allowance { ceiling, warn_at_percent: USUAL_WARNING_PERCENT };
    let set = Command::Run { id: world.run.id, command: RunCommand::Budget(BudgetCommand::Set { allowance }) };
    submit(&world.store, asking(by(&world.reviewers[1]), set)).await.unwrap();
    let worked = async || {
        let run = world.store.run(world.run.id).await.unwrap().unwrap();
        run.clock.worked_ms(world.store.now())
    };
    let (asked, other) = (world.propose("B").await, world.propose("B").await);
    let before = worked().await;
    ground.clock().move_by_ms(60_000);
    assert_eq!(worked().await, before, "two questions and nothing else");
    submit(&world.store, world.approval(&asked, &world.reviewers[0])).await.unwrap();
    ground.clock().move_by_ms(60_000);
    assert_eq!(worked().await, before + 60_000, "one may be started");
    let pause = RunCommand::Pause { reason: "lunch".to_owned() };
    submit(&world.store, asking(by(&world.operator), Command::Run { id: world.run.id, command: pause })).await.unwrap();
    submit(&world.store, world.approval(&other, &world.reviewers[0])).await.unwrap();
    assert_eq!(worked().await, before + 60_000);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}
