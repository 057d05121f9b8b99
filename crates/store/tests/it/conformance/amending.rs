//! To amend an action changes one and makes another, together or not at all.

use placet_domain::action::{ActionCommand, ActionState, ActionStatus, Amended};
use placet_domain::command::Submission;
use placet_domain::identity::Identity;
use placet_store::{EntryFilter, SubmitError};

use crate::world::{Ground, World, by, keyed, new_action, policy, sealed, submit, verdict};

fn amendment(world: &World, action: &ActionState, reviewer: &Identity, tier: &str) -> Submission {
    let id = new_action();
    let sealed = sealed(&world.run, world.agent.id, &format!("something else as {id}"));
    let verdict = verdict(sealed.digest(), policy(), tier, 0.2);
    let amended = Box::new(Amended { id, action: sealed, verdict });
    let (seen, reason) = (action.review(), "rather this".to_owned());
    world.about(action.id, by(reviewer), ActionCommand::Amend { seen, reason, amended })
}

pub(super) async fn b4_an_amendment_is_one_transaction_and_both_actions_are_read_back<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let old = world.propose("B").await;
    let receipt = submit(&world.store, amendment(&world, &old, &world.reviewers[0], "B")).await.unwrap();
    let (replaced, new) = (receipt.loaded.action.unwrap(), receipt.loaded.successor.unwrap());
    assert_eq!((replaced.status, replaced.superseded_by), (ActionStatus::Superseded, Some(new.id)));
    assert_eq!(new.status, ActionStatus::Approved);
    assert_eq!(world.store.action(old.id).await.unwrap(), Some(replaced));
    assert_eq!(world.store.action(new.id).await.unwrap(), Some(new.clone()));
    assert!(world.store.sealed(new.id, new.digest).await.unwrap().is_some(), "its bytes are kept with it");
    let of = async |action: &ActionState| -> Vec<String> {
        let filter = EntryFilter { action: Some(action.id), ..EntryFilter::default() };
        world.store.entries(filter).await.unwrap().into_iter().map(|entry| entry.kind).collect()
    };
    assert_eq!(of(&old).await, ["action.proposed", "action.judged", "action.superseded"]);
    assert_eq!(of(&new).await, ["action.proposed", "action.judged", "action.approved"]);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    assert_eq!(world.lease(&world.worker).await.map(|leased| leased.id), Some(new.id), "only the new one is executed");
    assert!(world.lease(&world.worker).await.is_none());
}

pub(super) async fn b4_an_amendment_that_is_refused_leaves_both_as_they_were<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let old = world.propose("C").await;
    let before = world.store.size();
    let refused = amendment(&world, &old, &world.reviewers[0], "D");
    let id = refused.command.reads().successor.unwrap();
    let answer = submit(&world.store, refused).await;
    assert!(matches!(answer, Err(SubmitError::Refused(refusal)) if refusal.code() == "denied"));
    assert_eq!(world.store.size(), before + 1, "that it was tried is recorded");
    assert_eq!(world.store.action(old.id).await.unwrap(), Some(old.clone()));
    assert_eq!(world.store.action(id).await.unwrap(), None);
    submit(&world.store, world.approval(&old, &world.reviewers[1])).await.unwrap();
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn b4_two_amendments_race_and_one_wins<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for _ in 0..20 {
        let old = world.propose("B").await;
        let before = world.store.size();
        let [ruth, rolf] = world.reviewers.each_ref().map(|reviewer| amendment(&world, &old, reviewer, "B"));
        let (first, second) = tokio::join!(submit(&world.store, ruth), submit(&world.store, rolf));
        let won = [&first, &second].into_iter().filter(|answer| answer.is_ok()).count();
        assert_eq!((won, world.store.size() - before), (1, 4));
    }
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn b4_an_amendment_asked_for_twice_is_one_with_one_answer<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let old = world.propose("C").await;
    let reviewer = &world.reviewers[0];
    let first = submit(&world.store, keyed(amendment(&world, &old, reviewer, "C"), "k", "r")).await.unwrap();
    let new = first.loaded.successor.clone().unwrap();
    submit(&world.store, world.approval(&new, &world.reviewers[1])).await.unwrap();
    let again = submit(&world.store, keyed(amendment(&world, &old, reviewer, "C"), "k", "r")).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.seqs, first.seqs);
    assert_eq!((again.loaded.action, again.loaded.successor), (first.loaded.action, Some(new)));
}
