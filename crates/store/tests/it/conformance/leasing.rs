//! Workers take what is ready, once, and lose it when they are gone.

use std::collections::BTreeSet;

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::approval::Terms;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::identity::{Actor, Reach, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::RunCommand;
use placet_store::SubmitError;

use crate::world::{
    Ground, World, asking, by, executing_run, make_project, new_action, policy, register, submit, verdict,
};

const HOUR_MS: i64 = 3_600_000;

pub(super) async fn c14_no_action_is_leased_twice_by_sixteen_workers<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mut ready = BTreeSet::new();
    for _ in 0..100 {
        ready.insert(world.propose("A").await.id);
    }
    let workers = (0..16).map(|_| {
        let (store, worker) = (world.store.clone(), world.worker.clone());
        tokio::spawn(async move {
            let mut taken = Vec::new();
            while let Some(receipt) = store.lease_next(worker.clone(), Terms::default(), policy(), None).await.unwrap()
            {
                taken.push(receipt.loaded.action.unwrap().id);
            }
            taken
        })
    });
    let mut leased = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        leased.extend(worker.await.unwrap());
    }
    assert_eq!(leased.len(), 100);
    assert_eq!(leased.into_iter().collect::<BTreeSet<_>>(), ready);
}

pub(super) async fn of_those_that_are_ready_the_one_whose_time_runs_out_first_is_leased_first<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let asked = world.propose("B").await;
    ground.clock().move_by_ms(1);
    let automatic = world.propose("A").await;
    ground.clock().move_by_ms(1);
    submit(&world.store, world.approval(&asked, &world.reviewers[0])).await.unwrap();
    let asked = world.store.action(asked.id).await.unwrap().unwrap();
    let mut ready = [(asked.deadline, asked.id), (automatic.deadline, automatic.id)];
    ready.sort();
    assert_ne!(ready[0].0, ready[1].0);
    for (_, id) in ready {
        assert_eq!(world.lease(&world.worker).await.unwrap().id, id);
    }
    assert_eq!(world.lease(&world.worker).await, None);
}

pub(super) async fn a_worker_sees_only_the_projects_within_its_reach<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let beta = make_project(&world.store, "beta").await;
    let action = world.propose("A").await;
    let only = |project| Reach::Only([project].into());
    let stranger = register(&world.store, "stranger", &[Role::Worker], only(beta)).await;
    let nobody = register(&world.store, "nobody", &[Role::Worker], Reach::Only(BTreeSet::new())).await;
    let local = register(&world.store, "local", &[Role::Worker], only(world.project)).await;
    assert_eq!(world.lease(&stranger).await, None);
    assert_eq!(world.lease(&nobody).await, None);
    assert_eq!(world.lease(&local).await.unwrap().id, action.id);
}

pub(super) async fn what_a_paused_run_an_old_policy_or_a_deadline_holds_back_is_not_leased_and_blocks_nothing<
    G: Ground,
>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let late = world.propose("A").await;
    ground.clock().move_by_ms(2 * HOUR_MS);
    let outdated = world.propose("A").await;
    let other = executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent).await;
    let paused = World { run: other.clone(), ..world.clone() }.propose("A").await;
    let pause = RunCommand::Pause { reason: "wait".to_owned() };
    submit(&world.store, asking(by(&world.operator), Command::Run { id: other.id, command: pause })).await.unwrap();

    let new_policy = Digest::of(b"a stricter policy");
    let verdict = verdict(outdated.digest, new_policy, "A", 0.1);
    let mut rejudge = world.about(outdated.id, Actor::Runtime, ActionCommand::Rejudge { verdict });
    rejudge.policy = new_policy;
    submit(&world.store, rejudge).await.unwrap();
    assert_eq!(world.store.outdated(policy(), 10).await.unwrap(), [(world.run.id, outdated.id)]);

    let ready = world.propose("A").await;
    assert_eq!(world.lease(&world.worker).await.unwrap().id, ready.id);
    assert_eq!(world.lease(&world.worker).await, None);
    for id in [late.id, outdated.id, paused.id] {
        assert_eq!(world.store.action(id).await.unwrap().unwrap().status, ActionStatus::Approved);
    }
}

pub(super) async fn c14_what_ran_out_of_time_is_found_and_ended<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (waiting, leased) = (world.propose("B").await, world.propose("A").await);
    world.lease(&world.worker).await.unwrap();
    assert_eq!(world.store.lapsing(world.store.now(), 10).await.unwrap(), []);
    ground.clock().move_by_ms(30_000);
    assert_eq!(world.store.lapsing(world.store.now(), 10).await.unwrap(), [(world.run.id, leased.id)]);
    ground.clock().move_by_ms(24 * HOUR_MS);
    let lapsing = world.store.lapsing(world.store.now(), 10).await.unwrap();
    assert_eq!(lapsing, [(world.run.id, leased.id), (world.run.id, waiting.id)]);
    assert_eq!(world.store.lapsing(world.store.now(), 1).await.unwrap().len(), 1);
    for (_, id) in lapsing {
        submit(&world.store, world.about(id, Actor::Runtime, ActionCommand::Lapse)).await.unwrap();
    }
    assert_eq!(world.store.action(waiting.id).await.unwrap().unwrap().status, ActionStatus::Expired);
    assert_eq!(world.store.action(leased.id).await.unwrap().unwrap().status, ActionStatus::Approved);
}

pub(super) async fn c14_a_lost_worker_has_lost_its_say<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    world.propose("A").await;
    let leased = world.lease(&world.worker).await.unwrap();
    submit(&world.store, world.redemption(&leased)).await.unwrap();
    let heartbeat = || world.about(leased.id, by(&world.worker), ActionCommand::Heartbeat { attempt: 1 });
    submit(&world.store, heartbeat()).await.unwrap();
    ground.clock().move_by_ms(30_000);
    submit(&world.store, world.about(leased.id, Actor::Runtime, ActionCommand::Lapse)).await.unwrap();
    let refused = submit(&world.store, heartbeat()).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::LostLease { .. }))), "{refused:?}");
    let late = submit(&world.store, world.completion(&leased)).await.unwrap();
    assert_eq!(
        late.loaded.action.unwrap().status,
        ActionStatus::Interrupted,
        "a late result is kept and changes nothing"
    );
    let kind = world.store.entry(late.seqs.start).await.unwrap().unwrap().kind;
    assert_eq!(kind, "evidence.quarantined");
    assert_eq!(world.store.action(new_action()).await.unwrap(), None);
}
