//! Workers take what is ready, once, and lose it when they are gone.

use std::collections::BTreeSet;

use placet_domain::action::{ActionCommand, ActionState, ActionStatus};
use placet_domain::approval::Terms;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::identity::{Actor, Reach, Role};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::refusal::Refusal;
use placet_domain::run::RunCommand;
use placet_store::SubmitError;

use crate::world::{
    Ground, World, asking, by, executing_run, make_project, new_action, policy, register, sealed_as, submit, verdict,
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

/// Makes an executing run of another agent, in the same world.
async fn another(world: &World, name: &str) -> World {
    let agent = register(&world.store, name, &[Role::Agent], Reach::Everywhere).await;
    let run = executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &agent).await;
    World { run, agent, ..world.clone() }
}

pub(super) async fn agents_are_served_in_turn<G: Ground>() {
    let ground = G::fresh();
    let flood = World::on(&ground).await;
    for _ in 0..50 {
        flood.propose("A").await;
    }
    ground.clock().move_by_ms(1_000);
    let other = another(&flood, "other").await;
    for _ in 0..3 {
        other.propose("A").await;
    }
    let mut served = Vec::new();
    for _ in 0..8 {
        served.push(flood.lease(&flood.worker).await.unwrap().proposer == other.agent.id);
    }
    assert_eq!(
        served,
        [false, true, false, true, false, true, false, false],
        "whose time runs out first, then in turn"
    );
}

pub(super) async fn runs_of_one_agent_are_served_in_turn<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for _ in 0..20 {
        world.propose("A").await;
    }
    ground.clock().move_by_ms(1_000);
    let second = executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent).await;
    let second = World { run: second, ..world.clone() };
    second.propose("A").await;
    let runs = [world.lease(&world.worker).await.unwrap().run, world.lease(&world.worker).await.unwrap().run];
    assert_eq!(runs, [world.run.id, second.run.id]);
}

pub(super) async fn refused_actions_of_some_runs_do_not_end_the_search<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for flood in [world.clone(), another(&world, "second").await] {
        for _ in 0..60 {
            flood.propose("A").await;
        }
    }
    ground.clock().move_by_ms(1_000);
    let other = another(&world, "other").await;
    let reading = sealed_as("read_file", &other.run, other.agent.id, "hello");
    let verdict = verdict(reading.digest(), policy(), "A", 0.1);
    let propose = ActionCommand::Propose { action: Box::new(reading), verdict, advice: None };
    let id = new_action();
    submit(&world.store, other.about(id, by(&other.agent), propose)).await.unwrap();
    let safe = OrganisationCommand::EnterSafeMode { reason: "smoke".to_owned() };
    submit(&world.store, asking(by(&world.operator), Command::Organisation(safe))).await.unwrap();
    assert_eq!(world.lease(&world.worker).await.unwrap().id, id, "what only looks is leased");
}

pub(super) async fn agent_with_nothing_ready_does_not_lose_others_their_turn<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let paused = another(&world, "paused").await;
    paused.propose("A").await;
    let pause = RunCommand::Pause { reason: "wait".to_owned() };
    let pause = Command::Run { id: paused.run.id, command: pause };
    submit(&world.store, asking(by(&world.operator), pause)).await.unwrap();
    let ready = world.propose("A").await;
    assert_eq!(world.lease(&world.worker).await.unwrap().id, ready.id);
    assert_eq!(world.lease(&world.worker).await, None);
}

/// Leases one action, so that a worker is busy, and lets the deadline of a second approved action pass.
async fn overdue<G: Ground>(ground: &G, terms: Terms) -> (World, ActionId) {
    let world = World::on(ground).await;
    world.propose("A").await;
    let store = &world.store;
    let leased = store.lease_next(world.worker.clone(), terms, policy(), None).await.unwrap().unwrap();
    assert!(leased.loaded.action.is_some());
    let waiting = world.propose("A").await;
    ground.clock().move_by_ms(HOUR_MS);
    (world, waiting.id)
}

async fn lapse(world: &World, id: ActionId) -> ActionState {
    let lapse = world.about(id, Actor::Runtime, ActionCommand::Lapse);
    submit(&world.store, lapse).await.unwrap().loaded.action.unwrap()
}

/// Lease time of two days, so that a silent worker still counts as busy.
fn patient() -> Terms {
    Terms { lease_ms: 48 * 3_600_000, ..Terms::default() }
}

pub(super) async fn approved_action_outlives_busy_workers_for_a_day<G: Ground>() {
    let ground = G::fresh();
    let (world, id) = overdue(&ground, patient()).await;
    // The lease expires with its approval; redeeming the permit keeps it alive.
    let approved_at = world.store.action(id).await.unwrap().unwrap().approved_at.unwrap();
    let mut passed_h = 1;
    let last = loop {
        let state = lapse(&world, id).await;
        if state.status != ActionStatus::Approved {
            break state;
        }
        assert!(state.deadline > world.store.now() && state.deadline <= approved_at.plus_ms(24 * 3_600_000));
        ground.clock().move_by_ms(HOUR_MS);
        passed_h += 1;
        assert!(passed_h <= 24, "it waits for ever");
    };
    assert_eq!((last.status, passed_h), (ActionStatus::Expired, 24));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn approved_action_expires_where_a_worker_was_idle<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    world.propose("A").await;
    world.lease(&world.worker).await.unwrap();
    let waiting = world.propose("A").await;
    let pause = |command| Command::Run { id: world.run.id, command };
    let reason = "wait".to_owned();
    submit(&world.store, asking(by(&world.operator), pause(RunCommand::Pause { reason }))).await.unwrap();
    let second = register(&world.store, "second", &[Role::Worker], Reach::Everywhere).await;
    assert_eq!(world.lease(&second).await, None, "it asks and finds nothing");
    submit(&world.store, asking(by(&world.operator), pause(RunCommand::Resume))).await.unwrap();
    ground.clock().move_by_ms(HOUR_MS);
    assert_eq!(lapse(&world, waiting.id).await.status, ActionStatus::Expired);
}

pub(super) async fn approved_action_expires_where_no_worker_works<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let waiting = world.propose("A").await;
    ground.clock().move_by_ms(HOUR_MS);
    assert_eq!(lapse(&world, waiting.id).await.status, ActionStatus::Expired);
}

pub(super) async fn other_policy_voids_an_approval_that_waits_for_workers<G: Ground>() {
    let ground = G::fresh();
    let (world, id) = overdue(&ground, patient()).await;
    let mut lapse = world.about(id, Actor::Runtime, ActionCommand::Lapse);
    lapse.policy = Digest::of(b"a stricter policy");
    let state = submit(&world.store, lapse).await.unwrap().loaded.action.unwrap();
    assert_eq!(state.status, ActionStatus::Expired);
}
