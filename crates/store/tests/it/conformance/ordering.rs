//! Standing orders: count and time are looked at where they are written, so that no crowd and no restart gets more than was said.

use placet_domain::action::{ActionCommand, ActionState, ActionStatus};
use placet_domain::approval::{Extent, Width};
use placet_domain::command::{Command, Submission};
use placet_domain::id::ActionId;
use placet_domain::identity::{Actor, Identity, IdentityCommand};
use placet_domain::run::{OrderCommand, RunCommand};
use placet_store::{EntryFilter, RunFilter};

use crate::world::{Ground, World, asking, by, keyed, new_action, policy, sealed, submit, verdict};

const AN_HOUR: u64 = 3_600_000;

/// The same question as ever.
fn proposal(world: &World, id: ActionId) -> Submission {
    let action = sealed(&world.run, world.agent.id, "the same");
    let verdict = verdict(action.digest(), policy(), "B", 0.2);
    let command = ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
    world.about(id, by(&world.agent), command)
}

async fn propose(world: &World) -> ActionState {
    submit(&world.store, proposal(world, new_action())).await.unwrap().loaded.action.unwrap()
}

fn order(world: &World, on: &ActionState, reviewer: &Identity, times: u32) -> Submission {
    let action = Box::new(sealed(&world.run, world.agent.id, "the same"));
    let extent = Extent { width: Width::Exact, lasts_ms: AN_HOUR, times };
    world.about(on.id, by(reviewer), ActionCommand::GiveOrder { seen: on.review(), action, extent })
}

async fn kinds(world: &World, action: ActionId) -> Vec<String> {
    let filter = EntryFilter { action: Some(action), ..EntryFilter::default() };
    world.store.entries(filter).await.unwrap().into_iter().map(|entry| entry.kind).collect()
}

pub(super) async fn b4_a_thousand_at_once_against_an_order_for_ten_are_ten<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let first = propose(&world).await;
    submit(&world.store, order(&world, &first, &world.reviewers[0], 10)).await.unwrap();
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let world = world.clone();
        crowd.spawn(async move { propose(&world).await });
    }
    let all = crowd.join_all().await;
    let approved: Vec<&ActionState> = all.iter().filter(|action| action.status == ActionStatus::Approved).collect();
    let waiting = all.iter().filter(|action| action.status == ActionStatus::PendingApproval).count();
    assert_eq!((approved.len(), waiting), (10, 990));
    for action in approved {
        let told = ["action.proposed", "action.judged", "action.approved", "run.order_used"];
        assert_eq!(kinds(&world, action.id).await, told, "all of it is one commit, once");
    }
    let run = world.store.run(world.run.id).await.unwrap().unwrap();
    assert_eq!(run.order(1).unwrap().used, 10);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn b4_an_order_and_its_uses_survive_a_restart<G: Ground>() {
    let ground = G::fresh();
    let mut world = World::on(&ground).await;
    let first = propose(&world).await;
    let given = keyed(order(&world, &first, &world.reviewers[0], 2), "k", "r");
    let receipt = submit(&world.store, given.clone()).await.unwrap();
    assert_eq!(receipt.loaded.run.as_ref().map(|run| run.orders.len()), Some(1));
    assert_eq!(propose(&world).await.status, ActionStatus::Approved);
    let run = world.run.clone();
    drop(std::mem::replace(&mut world.store, G::fresh().open().await));
    world.store = ground.open().await;
    let again = submit(&world.store, given).await.unwrap();
    assert!(again.replayed && again.loaded.run.is_some_and(|run| run.orders.len() == 1), "asked twice, given once");
    assert_eq!(propose(&world).await.status, ActionStatus::Approved);
    assert_eq!(propose(&world).await.status, ActionStatus::PendingApproval, "two is two, whatever happens between");
    assert_eq!(world.store.run(run.id).await.unwrap().unwrap().order(1).unwrap().used, 2);
}

pub(super) async fn b4_whoever_is_revoked_says_yes_to_nothing_any_more_not_even_beforehand<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let first = propose(&world).await;
    submit(&world.store, order(&world, &first, &world.reviewers[0], 10)).await.unwrap();
    assert_eq!(propose(&world).await.status, ActionStatus::Approved);
    let revoke = Command::Identity { id: world.reviewers[0].id, command: IdentityCommand::Revoke };
    submit(&world.store, asking(Actor::Runtime, revoke)).await.unwrap();
    assert_eq!(propose(&world).await.status, ActionStatus::PendingApproval);
}

pub(super) async fn b4_what_was_approved_by_an_order_that_is_taken_back_stands_in_nobodys_way<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let first = propose(&world).await;
    submit(&world.store, order(&world, &first, &world.reviewers[0], 10)).await.unwrap();
    let void = propose(&world).await;
    let free = world.propose("A").await;
    let revoke = RunCommand::Order(OrderCommand::Revoke { number: 1, reason: "enough".to_owned() });
    let revoke = Command::Run { id: world.run.id, command: revoke };
    submit(&world.store, asking(by(&world.operator), revoke)).await.unwrap();
    let mut leased = Vec::new();
    while let Some(job) = world.lease(&world.worker).await {
        leased.push(job.id);
    }
    assert!(!leased.contains(&void.id) && leased.contains(&free.id) && leased.contains(&first.id), "{leased:?}");
}

pub(super) async fn b4_runs_with_orders_are_found_without_the_others<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let with_orders = || RunFilter { with_orders: true, ..RunFilter::default() };
    assert!(world.store.runs(with_orders()).await.unwrap().is_empty());
    let first = propose(&world).await;
    submit(&world.store, order(&world, &first, &world.reviewers[0], 1)).await.unwrap();
    let found = world.store.runs(with_orders()).await.unwrap();
    assert_eq!(found.iter().map(|run| run.id).collect::<Vec<_>>(), [world.run.id]);
    let end = RunCommand::Cancel { reason: "over".to_owned() };
    let end = Command::Run { id: world.run.id, command: end };
    submit(&world.store, asking(by(&world.operator), end)).await.unwrap();
    assert!(world.store.runs(with_orders()).await.unwrap().is_empty(), "with the run its orders are over");
}
