//! Finding things again.

use placet_domain::action::ActionStatus;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::ActionId;
use placet_domain::identity::{Actor, Reach};
use placet_domain::run::{RunCommand, RunStatus};
use placet_store::{ActionFilter, EntryFilter, Listed, Order, QueueFilter, RunFilter};

use crate::world::{Ground, START_MS, World, asking, by, executing_run, make_project, new_action, sealed, submit};

async fn propose_with_risk(world: &World, risk: f64) -> ActionId {
    let id = new_action();
    submit(&world.store, world.proposal(id, "B", risk)).await.unwrap();
    id
}

pub(super) async fn the_queue_shows_the_riskiest_first_and_only_open_runs<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (mild, old, young) = (
        propose_with_risk(&world, 0.1).await,
        propose_with_risk(&world, 0.7).await,
        propose_with_risk(&world, 0.7).await,
    );
    world.propose("A").await;
    let queue = async || -> Vec<_> {
        world.store.queue(QueueFilter::default()).await.unwrap().into_iter().map(|waiting| waiting.id).collect()
    };
    assert_eq!(queue().await, [old, young, mild]);
    let cancel = RunCommand::Cancel { reason: "over".to_owned() };
    submit(&world.store, asking(by(&world.operator), Command::Run { id: world.run.id, command: cancel }))
        .await
        .unwrap();
    assert_eq!(queue().await, []);
}

pub(super) async fn actions_are_paged_in_both_directions<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mut all = Vec::new();
    for number in 0..7 {
        all.push(world.propose(if number % 2 == 0 { "A" } else { "B" }).await.id);
    }
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let filter = ActionFilter { run: Some(world.run.id), order, after, limit: 3, ..ActionFilter::default() };
            let page = world.store.actions(filter).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.created);
            seen.extend(page.iter().map(|action| action.id));
        }
        assert_eq!(seen, all);
        all.reverse();
    }
    let statuses = vec![ActionStatus::Approved, ActionStatus::Denied];
    let approved = world.store.actions(ActionFilter { statuses, ..ActionFilter::default() }).await.unwrap();
    assert_eq!(approved.iter().map(|action| action.id).collect::<Vec<_>>(), [all[0], all[2], all[4], all[6]]);
}

pub(super) async fn runs_are_listed_newest_first<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    ground.clock().move_by_ms(5);
    let second = executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent).await;
    let runs = world.store.runs(RunFilter::default()).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [second.id, world.run.id]);
    let Listed { created, created_at, changed, changed_at, .. } = &runs[0];
    assert!(created < changed && created_at == changed_at && created_at.unix_ms() == START_MS + 5);
    let older = RunFilter { before: Some(runs[0].created), limit: 1, ..RunFilter::default() };
    assert_eq!(world.store.runs(older).await.unwrap()[0].id, world.run.id);
    let drafts = RunFilter { status: Some(RunStatus::Draft), ..RunFilter::default() };
    assert_eq!(world.store.runs(drafts).await.unwrap(), []);
}

pub(super) async fn entries_are_found_by_what_they_are_about<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let done = world.carry_through().await;
    world.propose("B").await;
    let kinds = async |filter| -> Vec<String> {
        world.store.entries(filter).await.unwrap().into_iter().map(|entry| entry.kind).collect()
    };
    let about_action = kinds(EntryFilter { action: Some(done.id), ..EntryFilter::default() }).await;
    let life =
        ["action.proposed", "action.judged", "action.approved", "job.leased", "permit.redeemed", "job.completed"];
    assert_eq!(about_action, life);
    let about_run = kinds(EntryFilter { run: Some(world.run.id), ..EntryFilter::default() }).await;
    assert_eq!((about_run.len(), about_run[0].as_str()), (13, "run.created"));
    let newest = EntryFilter { order: Order::NewestFirst, limit: 1, ..EntryFilter::default() };
    assert_eq!(world.store.entries(newest).await.unwrap()[0].seq, world.store.size() - 1);
    assert_eq!(world.store.entry(world.store.size()).await.unwrap(), None);
    assert_eq!(world.store.entry(u64::MAX).await.unwrap(), None);
}

pub(super) async fn counts_add_up<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for tier in ["A", "A", "B", "D"] {
        world.propose(tier).await;
    }
    let counts = world.store.counts(Reach::Everywhere, None).await.unwrap();
    let expected = [(ActionStatus::PendingApproval, 1), (ActionStatus::Approved, 2), (ActionStatus::Denied, 1)];
    assert_eq!(counts, expected.into());
    let beta = make_project(&world.store, "beta").await;
    assert!(world.store.counts(Reach::Everywhere, Some(beta)).await.unwrap().is_empty());
}

pub(super) async fn sealed_bytes_and_words_are_kept_beside_the_ledger<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let id = new_action();
    let action = sealed(&world.run, world.agent.id, &id.to_string());
    submit(&world.store, world.proposal(id, "B", 0.1)).await.unwrap();
    assert_eq!(world.store.sealed(id, action.digest()).await.unwrap().as_deref(), Some(action.bytes()));
    assert_eq!(world.store.sealed(id, Digest::of(b"")).await.unwrap(), None);
    let done = world.carry_through().await;
    let manifest = world.store.sealed(done.id, done.evidence.unwrap()).await.unwrap();
    assert!(manifest.is_some(), "what an execution left is listed for good");
    assert_eq!(world.store.sealed(id, done.digest).await.unwrap(), None, "one action's bytes are not another's");
    assert_eq!(world.store.advice(id, Digest::of(b"")).await.unwrap(), None);
    let digest = Digest::of(b"kept");
    let keep = Command::KeepBlob { project: world.project, digest, size_bytes: 4, secrets: SecretsSeen::default() };
    submit(&world.store, asking(Actor::Runtime, keep)).await.unwrap();
    assert_eq!(world.store.kept(world.project, digest).await.unwrap().map(|kept| kept.size_bytes), Some(4));
    let beta = make_project(&world.store, "beta").await;
    assert_eq!(world.store.kept(beta, digest).await.unwrap(), None, "another project's evidence does not exist here");
}

pub(super) async fn nobody_sees_beyond_their_reach<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    world.propose("B").await;
    let beta = make_project(&world.store, "beta").await;
    let reach = Reach::Only([beta].into());
    let store = &world.store;
    assert_eq!(store.actions(ActionFilter { reach: reach.clone(), ..ActionFilter::default() }).await.unwrap(), []);
    let asked_for = ActionFilter { reach: reach.clone(), project: Some(world.project), ..ActionFilter::default() };
    assert_eq!(store.actions(asked_for).await.unwrap(), []);
    assert_eq!(store.runs(RunFilter { reach: reach.clone(), ..RunFilter::default() }).await.unwrap(), []);
    assert_eq!(store.queue(QueueFilter { reach: reach.clone(), ..QueueFilter::default() }).await.unwrap(), []);
    assert!(store.counts(reach.clone(), None).await.unwrap().is_empty());
    let entries = store.entries(EntryFilter { reach, ..EntryFilter::default() }).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.kind.as_str()).collect::<Vec<_>>(), ["project.created"]);
}
