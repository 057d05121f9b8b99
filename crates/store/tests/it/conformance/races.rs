//! Races, ten thousand rounds of each in `./check long`: the second caller is refused, and there is never more than one winner. Those who
//! race are tasks of their own on several threads, either may be the first, and over the rounds each of them has won.

use std::collections::BTreeMap;
use std::sync::Arc;

use placet_domain::action::{ActionCommand, ActionState, ActionStatus};
use placet_domain::approval::Terms;
use placet_domain::command::{Command, Submission};
use placet_domain::id::RunId;
use placet_domain::identity::Actor;
use placet_domain::run::{Run, RunCommand, RunStatus};
use placet_store::{Receipt, SubmitError};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::world::{Ground, World, asking, by, founding, new_run, submit};

/// Enough that either of the two wins in some rounds; a multiple of those that are under way together.
fn rounds() -> usize {
    placet_testkit::rounds(500, 10_000)
}

/// So many rounds are under way together, in each other's way as much as they can be.
const AT_ONCE: usize = 250;

async fn ask(world: &World, actor: Actor, id: RunId, command: RunCommand) -> Result<Run, SubmitError> {
    submit(&world.store, asking(actor, Command::Run { id, command })).await.map(|receipt| receipt.loaded.run.unwrap())
}

/// Has two things asked at the same moment, each by a task of its own. Who is spawned first alternates with the rounds, so that
/// no order of a queue decides in favour of one of them.
async fn race(world: &World, round: usize, one: Submission, other: Submission) -> [Result<Receipt, SubmitError>; 2] {
    let line = Arc::new(Barrier::new(2));
    let run = |submission| {
        let (store, line) = (world.store.clone(), Arc::clone(&line));
        tokio::spawn(async move {
            line.wait().await;
            submit(&store, submission).await
        })
    };
    let [one, other] = if round.is_multiple_of(2) {
        [one, other].map(run)
    } else {
        let [other, one] = [other, one].map(run);
        [one, other]
    };
    [one.await.unwrap(), other.await.unwrap()]
}

/// Who won, of two of whom exactly one may.
#[track_caller]
fn winner<T: Copy>(answers: &[Result<Receipt, SubmitError>; 2], names: [T; 2]) -> T {
    match answers {
        [Ok(_), Err(SubmitError::Refused(_))] => names[0],
        [Err(SubmitError::Refused(_)), Ok(_)] => names[1],
        [one, other] => panic!("not exactly one winner: {one:?} {other:?}"),
    }
}

/// How often each outcome was seen. One that was never seen was not raced for.
fn tally<T: Ord + Copy + std::fmt::Debug>(what: &str, expected: [T; 2], seen: impl IntoIterator<Item = T>) {
    let mut times: BTreeMap<T, usize> = BTreeMap::new();
    seen.into_iter().for_each(|outcome| *times.entry(outcome).or_default() += 1);
    assert_eq!(times.values().sum::<usize>(), rounds());
    assert_eq!(times.keys().copied().collect::<Vec<_>>(), expected, "{what}: both happen, and nothing else: {times:?}");
}

/// A run whose plan two people approve at the same time, and whose results one accepts while another cancels it. Tells which
/// of the two people was the first, and how it ended.
async fn decided_twice(world: World, round: usize) -> (&'static str, RunStatus) {
    let (id, [ruth, rolf]) = (new_run(), &world.reviewers);
    let about = |actor, command| asking(actor, Command::Run { id, command });
    let create = RunCommand::Create(Box::new(founding(world.project, &world.agent)));
    let made = ask(&world, by(&world.operator), id, create).await.unwrap();
    let approve = |reviewer| about(by(reviewer), RunCommand::ApprovePlan { seen: made.review() });
    let approver = winner(&race(&world, round, approve(ruth), approve(rolf)).await, ["ruth", "rolf"]);
    ask(&world, by(&world.operator), id, RunCommand::Start).await.unwrap();
    ask(&world, by(&world.agent), id, RunCommand::Attach).await.unwrap();
    let finish = RunCommand::Finish { summary: "done".to_owned() };
    let finished = ask(&world, by(&world.agent), id, finish).await.unwrap();
    let accept = about(by(ruth), RunCommand::ApproveResults { seen: finished.review(), chosen: None });
    let cancel = about(by(&world.operator), RunCommand::Cancel { reason: "no".to_owned() });
    let decided = race(&world, round, accept, cancel).await;
    let status = world.store.run(id).await.unwrap().unwrap().status;
    assert_eq!(status, winner(&decided, [RunStatus::Completed, RunStatus::Cancelled]));
    (approver, status)
}

pub(super) async fn c8_concurrent_decisions_have_one_winner<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mut ends = Vec::new();
    for first in (0..rounds()).step_by(AT_ONCE) {
        let mut rounds = JoinSet::new();
        (first..first + AT_ONCE).for_each(|round| drop(rounds.spawn(decided_twice(world.clone(), round))));
        ends.extend(rounds.join_all().await);
    }
    tally("the plan is approved by", ["rolf", "ruth"], ends.iter().map(|(approver, _)| *approver));
    let expected = [RunStatus::Completed, RunStatus::Cancelled];
    tally("accepted or cancelled", expected, ends.iter().map(|(_, status)| *status));
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
async fn late(world: World, round: usize, leased: ActionState) -> ActionStatus {
    let lapse = world.about(leased.id, Actor::Runtime, ActionCommand::Lapse);
    let [lapsed, completed] = race(&world, round, lapse, world.completion(&leased)).await;
    completed.expect("a result is always taken, if only to be kept apart");
    let status = world.store.action(leased.id).await.unwrap().unwrap().status;
    let expected = if lapsed.is_ok() { ActionStatus::Interrupted } else { ActionStatus::Succeeded };
    assert_eq!(status, expected, "what counts and what was said to count are the same");
    status
}

pub(super) async fn b5_result_and_lapse_of_its_lease_have_one_winner<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let lease_ms = i64::try_from(Terms::default().lease_ms).unwrap();
    let mut ends = Vec::new();
    for first in (0..rounds()).step_by(AT_ONCE) {
        let mut begun = JoinSet::new();
        (0..AT_ONCE).for_each(|_| drop(begun.spawn(begin(world.clone()))));
        let under_way = begun.join_all().await;
        ground.clock().move_by_ms(lease_ms + 1);
        let mut rounds = JoinSet::new();
        let numbered = (first..).zip(under_way);
        numbered.for_each(|(round, leased)| drop(rounds.spawn(late(world.clone(), round, leased))));
        ends.extend(rounds.join_all().await);
    }
    tally("a result that is late", [ActionStatus::Succeeded, ActionStatus::Interrupted], ends);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}
