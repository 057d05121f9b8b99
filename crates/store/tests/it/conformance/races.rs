//! Races, ten thousand rounds of each: whoever comes second is told so, and there is never more than one winner.

use placet_domain::action::{ActionCommand, ActionState, ActionStatus};
use placet_domain::approval::Terms;
use placet_domain::command::Command;
use placet_domain::id::RunId;
use placet_domain::identity::Actor;
use placet_domain::run::{Run, RunCommand, RunStatus};
use placet_store::SubmitError;
use tokio::task::JoinSet;

use crate::world::{Ground, World, asking, by, founding, new_run, submit};

const ROUNDS: usize = 10_000;
/// So many rounds are under way together, in each other's way as much as they can be.
const AT_ONCE: usize = 250;

async fn ask(world: &World, actor: Actor, id: RunId, command: RunCommand) -> Result<Run, SubmitError> {
    submit(&world.store, asking(actor, Command::Run { id, command })).await.map(|receipt| receipt.loaded.run.unwrap())
}

/// A run whose plan two people approve at the same time, and whose results one accepts while another cancels it.
async fn decided_twice(world: World) -> RunStatus {
    let (id, [ruth, rolf]) = (new_run(), &world.reviewers);
    let create = RunCommand::Create(Box::new(founding(world.project, &world.agent)));
    let made = ask(&world, by(&world.operator), id, create).await.unwrap();
    let approve = || RunCommand::ApprovePlan { seen: made.review() };
    let (one, other) = tokio::join!(ask(&world, by(ruth), id, approve()), ask(&world, by(rolf), id, approve()));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    ask(&world, by(&world.operator), id, RunCommand::Start).await.unwrap();
    ask(&world, by(&world.agent), id, RunCommand::Attach).await.unwrap();
    let finish = RunCommand::Finish { summary: "done".to_owned() };
    let finished = ask(&world, by(&world.agent), id, finish).await.unwrap();
    let accept = RunCommand::ApproveResults { seen: finished.review(), chosen: None };
    let cancel = RunCommand::Cancel { reason: "no".to_owned() };
    let (accepted, cancelled) =
        tokio::join!(ask(&world, by(ruth), id, accept), ask(&world, by(&world.operator), id, cancel));
    assert!(accepted.is_ok() != cancelled.is_ok(), "{accepted:?} {cancelled:?}");
    let status = world.store.run(id).await.unwrap().unwrap().status;
    assert_eq!(status, if accepted.is_ok() { RunStatus::Completed } else { RunStatus::Cancelled });
    status
}

pub(super) async fn c8_two_who_decide_at_once_have_one_winner_in_ten_thousand_rounds<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mut ends = Vec::new();
    for _ in 0..ROUNDS / AT_ONCE {
        let mut rounds = JoinSet::new();
        (0..AT_ONCE).for_each(|_| drop(rounds.spawn(decided_twice(world.clone()))));
        ends.extend(rounds.join_all().await);
    }
    assert_eq!(ends.len(), ROUNDS);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

/// Some action that is under way.
async fn begin(world: World) -> ActionState {
    world.propose("A").await;
    let leased = world.lease(&world.worker).await.expect("as many are ready as are asked for");
    submit(&world.store, world.redemption(&leased)).await.unwrap();
    leased
}

/// An action whose result comes in at the moment its lease is given up.
async fn late(world: World, leased: ActionState) -> ActionStatus {
    let lapse = world.about(leased.id, Actor::Runtime, ActionCommand::Lapse);
    let complete = world.completion(&leased);
    let (lapsed, completed) = tokio::join!(submit(&world.store, lapse), submit(&world.store, complete));
    completed.expect("a result is always taken, if only to be kept apart");
    let status = world.store.action(leased.id).await.unwrap().unwrap().status;
    let expected = if lapsed.is_ok() { ActionStatus::Interrupted } else { ActionStatus::Succeeded };
    assert_eq!(status, expected, "what counts and what was said to count are the same");
    status
}

pub(super) async fn b5_a_result_and_the_end_of_its_lease_have_one_winner_in_ten_thousand_rounds<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let lease_ms = i64::try_from(Terms::default().lease_ms).unwrap();
    for _ in 0..ROUNDS / AT_ONCE {
        let mut begun = JoinSet::new();
        (0..AT_ONCE).for_each(|_| drop(begun.spawn(begin(world.clone()))));
        let under_way = begun.join_all().await;
        ground.clock().move_by_ms(lease_ms + 1);
        let mut rounds = JoinSet::new();
        under_way.into_iter().for_each(|leased| drop(rounds.spawn(late(world.clone(), leased))));
        assert_eq!(rounds.join_all().await.len(), AT_ONCE);
    }
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}
