//! Budgets, hosts, rollbacks and the switch: what they mean for what is stored and for what is leased.

use placet_domain::budget::{Amounts, Ceiling, Purpose, Resource};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::identity::{Actor, Reach, Role};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::refusal::Refusal;
use placet_domain::run::{
    Allowance, BudgetCommand, Hosting, HostingCommand, Launch, Run, RunCommand, RunStatus, SnapshotCommand, Wanted,
};
use placet_store::{Store, SubmitError};

use crate::world::{Ground, World, asking, by, founding, new_run, register, submit};

fn allowance(ceiling: Ceiling) -> Allowance {
    Allowance { ceiling, warn_at_percent: 100 }
}

fn usd(usd_micros: u64) -> Amounts {
    Amounts { usd_micros, ..Amounts::NONE }
}

async fn ask(store: &Store, actor: Actor, id: RunId, command: RunCommand) -> Result<Run, SubmitError> {
    submit(store, asking(actor, Command::Run { id, command })).await.map(|receipt| receipt.loaded.run.unwrap())
}

async fn give(world: &World, ceiling: Ceiling) {
    let more = RunCommand::Budget(BudgetCommand::Set { allowance: allowance(ceiling) });
    ask(&world.store, by(&world.reviewers[0]), world.run.id, more).await.unwrap();
}

pub(super) async fn c12_a_thousand_at_once_reserve_from_a_budget_for_ten_and_ten_get_it<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling::at(usd(10))).await;
    let asks = (0..1_000).map(|number| {
        let (store, id) = (world.store.clone(), world.run.id);
        let hold = RunCommand::Budget(BudgetCommand::Hold {
            purpose: Purpose::Call(format!("call-{number}")),
            amounts: usd(1),
        });
        tokio::spawn(async move { ask(&store, Actor::Runtime, id, hold).await })
    });
    let mut got = 0;
    for asked in asks.collect::<Vec<_>>() {
        match asked.await.unwrap() {
            Ok(run) => {
                assert!(run.budget.unwrap().committed().usd_micros <= 10);
                got += 1;
            }
            Err(SubmitError::Refused(Refusal::Budget { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(got, 10);
    let run = world.store.run(world.run.id).await.unwrap().unwrap();
    assert_eq!(run.budget.unwrap().left(Resource::UsdMicros), Some(0));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn c12_what_is_held_and_spent_changes_nothing_else_and_everything_else_moves_the_ledger<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling::at(usd(10))).await;
    let (before, purpose) = (world.store.moved(), Purpose::Call("a".to_owned()));
    assert_eq!(before, world.store.size(), "a budget is more than an amount");
    let hold = RunCommand::Budget(BudgetCommand::Hold { purpose: purpose.clone(), amounts: usd(1) });
    ask(&world.store, Actor::Runtime, world.run.id, hold).await.unwrap();
    ask(
        &world.store,
        Actor::Runtime,
        world.run.id,
        RunCommand::Budget(BudgetCommand::Settle { purpose, spent: usd(1) }),
    )
    .await
    .unwrap();
    assert_eq!((world.store.moved(), world.store.size()), (before, before + 2));
    let pause = RunCommand::Pause { reason: "look at it".to_owned() };
    ask(&world.store, by(&world.reviewers[0]), world.run.id, pause).await.unwrap();
    assert_eq!(world.store.moved(), before + 3);
}

pub(super) async fn c12_a_lease_that_a_budget_does_not_cover_pauses_its_run_and_blocks_nobody_else<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling { actions: Some(1), ..Ceiling::default() }).await;
    let (covered, not_covered) = (world.propose("A").await, world.propose("A").await);
    let other =
        crate::world::executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent)
            .await;
    let elsewhere = World { run: other, ..world.clone() }.propose("A").await;
    let mut leased = Vec::new();
    while let Some(action) = world.lease(&world.worker).await {
        leased.push(action.id);
    }
    let of_ours = leased.iter().filter(|id| [covered.id, not_covered.id].contains(id)).count();
    assert_eq!((leased.len(), of_ours, leased.contains(&elsewhere.id)), (2, 1, true));
    assert_eq!(world.store.run(world.run.id).await.unwrap().unwrap().status, RunStatus::Paused);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn c12_a_run_that_holds_too_much_at_once_blocks_nobody_else<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling { usd_micros: Some(1), ..Ceiling::default() }).await;
    let holds = (0..2_000).map(|number| {
        let (store, id) = (world.store.clone(), world.run.id);
        let hold = RunCommand::Budget(BudgetCommand::Hold {
            purpose: Purpose::Call(format!("call-{number}")),
            amounts: Amounts::NONE,
        });
        tokio::spawn(async move { ask(&store, Actor::Runtime, id, hold).await })
    });
    for held in holds.collect::<Vec<_>>() {
        held.await.unwrap().unwrap();
    }
    world.propose("A").await;
    ground.clock().move_by_ms(1);
    let other =
        crate::world::executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent)
            .await;
    let elsewhere = World { run: other, ..world.clone() }.propose("A").await;
    assert_eq!(world.lease(&world.worker).await.map(|action| action.id), Some(elsewhere.id));
    assert_eq!(world.lease(&world.worker).await, None);
}

pub(super) async fn c12_a_cancelled_run_ends_what_it_had_made_in_one_transaction<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling::at(usd(10))).await;
    let (store, child, grandchild) = (&world.store, new_run(), new_run());
    for (id, parent, share) in [(child, world.run.id, 6), (grandchild, child, 4)] {
        let mut new = founding(world.project, &world.agent);
        (new.parent, new.allowance) = (Some(parent), Some(allowance(Ceiling::at(usd(share)))));
        let run = ask(store, by(&world.operator), id, RunCommand::Create(Box::new(new))).await.unwrap();
        ask(store, by(&world.reviewers[0]), id, RunCommand::ApprovePlan { seen: run.review() }).await.unwrap();
    }
    let cancel = RunCommand::Cancel { reason: "enough".to_owned() };
    let run = ask(store, by(&world.operator), world.run.id, cancel).await.unwrap();
    assert_eq!(run.budget.unwrap().committed(), Amounts::NONE, "all of it is free again");
    for id in [child, grandchild] {
        assert_eq!(store.run(id).await.unwrap().unwrap().status, RunStatus::Cancelled);
    }
    assert_eq!(store.check_projections().await.unwrap(), []);
}

pub(super) async fn c11_a_hosted_run_is_found_by_its_host_and_its_actions_by_nobody_else<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (store, id) = (&world.store, new_run());
    let mut new = founding(world.project, &world.agent);
    let launch = Launch {
        program: "/usr/bin/true".to_owned(),
        arguments: Vec::new(),
        profile: "agent".to_owned(),
        profile_digest: Digest::of(b"agent"),
        files: Vec::new(),
        inputs: Vec::new(),
    };
    new.hosting = Hosting::Hosted(Box::new(launch));
    let run = ask(store, by(&world.operator), id, RunCommand::Create(Box::new(new))).await.unwrap();
    ask(store, by(&world.reviewers[0]), id, RunCommand::ApprovePlan { seen: run.review() }).await.unwrap();
    let wanting = async |worker: &placet_domain::identity::Identity| {
        store
            .runs_to_host(worker.id, worker.reach.clone())
            .await
            .unwrap()
            .into_iter()
            .map(|run| run.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(wanting(&world.worker).await, []);
    ask(store, by(&world.operator), id, RunCommand::Start).await.unwrap();
    let other = register(store, "other", &[Role::Worker], Reach::Everywhere).await;
    let stranger = register(store, "stranger", &[Role::Worker], Reach::Only([].into())).await;
    assert_eq!(wanting(&other).await, [id]);
    assert_eq!(wanting(&stranger).await, []);
    ask(store, by(&world.worker), id, RunCommand::Hosting(HostingCommand::Host)).await.unwrap();
    assert_eq!((wanting(&world.worker).await, wanting(&other).await), (vec![id], vec![]));
    let (workspace, memory) = (Digest::of(b"files"), Digest::of(b"memory"));
    let saved =
        |number| RunCommand::Snapshot(SnapshotCommand::Keep { number, workspace, memory, files: 1, size_bytes: 1 });
    ask(store, by(&world.worker), id, saved(0)).await.unwrap();
    let run = ask(store, by(&world.agent), id, RunCommand::Attach).await.unwrap();
    let hosted = World { run, ..world.clone() };
    let action = hosted.propose("A").await;
    assert_eq!(hosted.lease(&other).await, None, "its files are elsewhere");
    let back = RunCommand::RollBack { to: 0, reason: "start over".to_owned() };
    let run = ask(store, by(&world.operator), id, back).await.unwrap();
    assert_eq!(run.wanted(), Wanted::Restored { number: 0 });
    assert_eq!(store.void(10).await.unwrap(), [(id, action.id)]);
    ask(store, by(&world.worker), id, RunCommand::Snapshot(SnapshotCommand::Restore { number: 0, workspace, memory }))
        .await
        .unwrap();
    ask(store, by(&world.reviewers[0]), id, RunCommand::Resume).await.unwrap();
    assert_eq!(hosted.lease(&world.worker).await, None, "it is from before");
    assert_eq!(store.check_projections().await.unwrap(), []);
}

pub(super) async fn d11_the_switch_survives_a_restart<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let halt = Command::Organisation(OrganisationCommand::Halt { reason: "fire".to_owned() });
    submit(&world.store, asking(by(&world.operator), halt)).await.unwrap();
    let id = world.run.id;
    drop(world);
    let store = ground.open().await;
    assert_eq!(store.organisation().await.unwrap().halt.unwrap().reason, "fire");
    let hold = RunCommand::Budget(BudgetCommand::Hold { purpose: Purpose::Call("a".to_owned()), amounts: usd(1) });
    assert!(matches!(ask(&store, Actor::Runtime, id, hold).await, Err(SubmitError::Refused(Refusal::Halted { .. }))));
    assert_eq!(store.check_projections().await.unwrap(), []);
}

pub(super) async fn c9_runs_that_are_due_are_found_and_others_are_not<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    give(&world, Ceiling { wall_ms: Some(60_000), ..Ceiling::default() }).await;
    let due = async || world.store.runs_due(world.store.now(), 10).await.unwrap();
    assert_eq!(due().await, []);
    ground.clock().move_by_ms(60_000);
    assert_eq!(due().await, [world.run.id]);
    let run = ask(&world.store, Actor::Runtime, world.run.id, RunCommand::Lapse).await.unwrap();
    assert_eq!((run.status, due().await), (RunStatus::Paused, vec![]));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}
