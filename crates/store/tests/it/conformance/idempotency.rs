//! A request that comes again has no second effect.

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::approval::Terms;
use placet_domain::command::{Command, IdempotencyKey};
use placet_domain::digest::Digest;
use placet_domain::identity::{Actor, IdentityCommand};
use placet_domain::refusal::Refusal;
use placet_store::{Receipt, SubmitError};

use crate::world::{Ground, World, asking, by, idempotency, keyed, new_action, policy, submit};

pub(super) async fn the_same_key_and_request_have_one_effect_and_one_answer<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposal = keyed(world.proposal(new_action(), "B", 0.3), "k1", "propose");
    let first = submit(&world.store, proposal.clone()).await.unwrap();
    let size = world.store.size();
    let second = submit(&world.store, proposal).await.unwrap();
    assert!(!first.replayed);
    assert_eq!(second, Receipt { replayed: true, ..first });
    assert_eq!(world.store.size(), size);
}

pub(super) async fn a_replayed_answer_is_the_first_one_whatever_happened_since<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    let approval = keyed(world.approval(&proposed, &world.reviewers[0]), "k1", "approve");
    let first = submit(&world.store, approval.clone()).await.unwrap();
    let leased = world.lease(&world.worker).await.unwrap();
    submit(&world.store, world.redemption(&leased)).await.unwrap();
    ground.clock().move_by_ms(1_000);
    let again = submit(&world.store, approval).await.unwrap();
    assert_eq!(again.loaded.action.as_ref().unwrap().status, ActionStatus::Approved);
    assert_eq!(first.ended.len(), 1, "it was decided once, and is counted once");
    assert_eq!(again, Receipt { replayed: true, ended: Vec::new(), ..first });
}

pub(super) async fn many_at_once_with_one_key_have_one_effect<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let before = world.store.size();
    let id = new_action();
    let racers = (0..32).map(|_| {
        let (store, proposal) = (world.store.clone(), keyed(world.proposal(id, "B", 0.3), "k1", "propose"));
        tokio::spawn(async move { submit(&store, proposal).await.unwrap() })
    });
    let mut receipts = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        receipts.push(racer.await.unwrap());
    }
    assert_eq!(receipts.iter().filter(|receipt| !receipt.replayed).count(), 1);
    assert!(receipts.iter().all(|receipt| receipt.seqs == (before..before + 2)));
    assert_eq!(world.store.size(), before + 2);
}

/// Different requests race under one key: one of them has its effect, the others are refused.
pub(super) async fn different_requests_at_once_with_one_key_have_one_effect<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let before = world.store.size();
    let racers = (0..32).map(|number| {
        let request = keyed(world.proposal(new_action(), "B", 0.3), "k1", &format!("request {number}"));
        let store = world.store.clone();
        tokio::spawn(async move { submit(&store, request).await })
    });
    let mut taken = 0;
    for racer in racers.collect::<Vec<_>>() {
        match racer.await.unwrap() {
            Ok(receipt) => taken += usize::from(!receipt.replayed),
            Err(refused) => assert!(matches!(refused, SubmitError::KeyReused), "{refused:?}"),
        }
    }
    assert_eq!((taken, world.store.size()), (1, before + 2));
}

/// The answer to a key is for the identity as it is now: a revoked one gets none.
pub(super) async fn b1_revoked_identity_gets_no_replay<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (proposed, reviewer) = (world.propose("C").await, &world.reviewers[0]);
    let approval = keyed(world.approval(&proposed, reviewer), "k1", "approve");
    submit(&world.store, approval.clone()).await.unwrap();
    let revoke = Command::Identity { id: reviewer.id, command: IdentityCommand::Revoke };
    submit(&world.store, asking(Actor::Runtime, revoke)).await.unwrap();
    let again = submit(&world.store, approval).await;
    assert!(matches!(again, Err(SubmitError::Refused(Refusal::Revoked))), "{again:?}");
}

pub(super) async fn a_key_used_for_another_request_is_refused<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    submit(&world.store, keyed(world.proposal(new_action(), "B", 0.3), "k1", "one")).await.unwrap();
    let size = world.store.size();
    let other = submit(&world.store, keyed(world.proposal(new_action(), "B", 0.3), "k1", "two")).await;
    assert!(matches!(other, Err(SubmitError::KeyReused)), "{other:?}");
    assert_eq!(world.store.size(), size);
}

pub(super) async fn keys_of_two_actors_do_not_meet<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("C").await;
    for reviewer in &world.reviewers {
        let receipt = submit(&world.store, keyed(world.approval(&proposed, reviewer), "k", "approve")).await.unwrap();
        assert!(!receipt.replayed);
    }
}

pub(super) async fn a_refusal_is_not_remembered<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    let stale = ActionCommand::Approve { seen: Digest::of(b"stale"), proof: None };
    let stale = keyed(world.about(proposed.id, by(&world.reviewers[0]), stale), "k", "stale");
    submit(&world.store, stale).await.unwrap_err();
    submit(&world.store, keyed(world.approval(&proposed, &world.reviewers[0]), "k", "fresh")).await.unwrap();
}

/// Ids are made anew for each request, so a repeated one brings another id; it must get the first.
pub(super) async fn a_replay_answers_with_the_ids_of_the_first_request<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (first, second) = (new_action(), new_action());
    submit(&world.store, keyed(world.proposal(first, "B", 0.3), "k", "propose")).await.unwrap();
    let again = submit(&world.store, keyed(world.proposal(second, "B", 0.3), "k", "propose")).await.unwrap();
    assert_eq!(again.loaded.action.unwrap().id, first);
    assert_eq!(world.store.action(second).await.unwrap(), None);
}

pub(super) async fn a_lease_asked_for_twice_is_one_lease<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (first, second) = (world.propose("A").await, world.propose("A").await);
    let lease = async |key: &str| {
        let key = Some(idempotency(key, "lease"));
        world.store.lease_next(world.worker.clone(), Terms::default(), policy(), key).await.unwrap()
    };
    let leased = lease("k1").await.unwrap();
    let again = lease("k1").await.unwrap();
    assert_eq!(again, Receipt { replayed: true, ..leased });
    assert_eq!(again.loaded.action.unwrap().id, first.id);
    assert_eq!(lease("k2").await.unwrap().loaded.action.unwrap().id, second.id);
    assert_eq!(lease("k3").await, None);
}

pub(super) async fn a_key_is_remembered_across_a_restart<G: Ground>() {
    let ground = G::fresh();
    let mut world = World::on(&ground).await;
    let proposal = keyed(world.proposal(new_action(), "B", 0.3), "k", "propose");
    let first = submit(&world.store, proposal.clone()).await.unwrap();
    drop(world.store);
    world.store = ground.open().await;
    assert_eq!(submit(&world.store, proposal).await.unwrap(), Receipt { replayed: true, ..first });
}

pub(super) async fn what_was_answered_under_a_key_can_be_asked_for_without_an_effect<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposal = keyed(world.proposal(new_action(), "B", 0.3), "k1", "propose");
    let (actor, key) = (proposal.actor.clone(), proposal.idempotency.clone().unwrap());
    assert_eq!(world.store.recall(actor.clone(), key.clone()).await.unwrap(), None);
    let first = submit(&world.store, proposal).await.unwrap();
    let size = world.store.size();
    let recalled = world.store.recall(actor.clone(), key.clone()).await.unwrap();
    assert_eq!(recalled, Some(Receipt { replayed: true, ..first }));
    let other = IdempotencyKey { request: Digest::of(b"another"), ..key.clone() };
    assert!(matches!(world.store.recall(actor, other).await, Err(SubmitError::KeyReused)));
    assert_eq!(world.store.recall(Actor::Runtime, key).await.unwrap(), None, "keys of two do not meet");
    assert_eq!(world.store.size(), size);
}
