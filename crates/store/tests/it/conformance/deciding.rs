//! How questions to people ended, and how much an agent may ask of them: as they are stored and counted.

use placet_domain::approval::{Asking, Terms};
use placet_domain::command::Submission;
use placet_domain::deciding::Outcome;
use placet_domain::digest::Digest;
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::{Reach, Role};
use placet_domain::policy::Tier;
use placet_domain::record::Event;
use placet_domain::refusal::Refusal;
use placet_domain::run::{RunCommand, RunEvent};
use placet_domain::time::Timestamp;
use placet_store::{DecisionFilter, SeenFile, Store, SubmitError};

use crate::world::{
    Ground, START_MS, World, asking, by, founding, new_action, new_run, policy, register, sealed, submit, verdict,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn everything() -> DecisionFilter {
    let since = Timestamp::from_unix_ms(0);
    DecisionFilter { reach: Reach::Everywhere, project: None, reviewer: None, since, until: None, limit: 100 }
}

pub(super) async fn c17_how_questions_ended_is_read_back<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let action = world.propose("C").await;
    ground.clock().move_by_ms(5_000);
    let receipt = submit(&world.store, world.approval(&action, &world.reviewers[0])).await.unwrap();
    assert_eq!(receipt.ended.len(), 1);
    submit(&world.store, world.approval(&action, &world.reviewers[1])).await.unwrap();
    let found = world.store.decisions(everything()).await.unwrap();
    let told: Vec<_> = found.iter().map(|one| (one.outcome, one.reviewer, one.waited_ms())).collect();
    let [first, second] = [&world.reviewers[0], &world.reviewers[1]].map(|reviewer| Some(reviewer.id));
    assert_eq!(told, [(Outcome::Approved, second, 5_000), (Outcome::Approved, first, 5_000)]);
    assert_eq!((found[0].tier, found[0].action, found[0].project), (Tier::C, action.id, world.project));
    let of = DecisionFilter { reviewer: first, ..everything() };
    assert_eq!(world.store.decisions(of).await.unwrap().len(), 1);
    let (before, after) = (Timestamp::from_unix_ms(START_MS + 5_000), Timestamp::from_unix_ms(START_MS + 5_001));
    for (until, count) in [(before, 0), (after, 2)] {
        let filter = DecisionFilter { until: Some(until), ..everything() };
        assert_eq!(world.store.decisions(filter).await.unwrap().len(), count);
    }
    let beyond = DecisionFilter { reach: Reach::Only([crate::world::new_project()].into()), ..everything() };
    assert_eq!(world.store.decisions(beyond).await.unwrap(), []);
    let before = Timestamp::from_unix_ms(START_MS);
    assert_eq!(world.store.decided_since(world.reviewers[0].id, before, 10).await.unwrap(), 1);
    world.propose("B").await;
    let waiting = world.store.waiting(Reach::Everywhere, 10).await.unwrap();
    assert_eq!(waiting, [(Tier::B, Timestamp::from_unix_ms(START_MS + 5_000))]);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

fn seen_file(world: &World, path: &str, content: &[u8]) -> SeenFile {
    let (who, project) = (world.reviewers[0].id, world.project);
    SeenFile { who, project, path: path.to_owned(), digest: Digest::of(content) }
}

pub(super) async fn c17_a_mark_on_a_file_is_of_one_person_one_project_one_path_and_these_bytes<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let file = seen_file(&world, "a.txt", b"one");
    let others = [
        SeenFile { who: world.reviewers[1].id, ..file.clone() },
        SeenFile { project: ProjectId::from_uuid(uuid::Uuid::from_u128(9)), ..file.clone() },
        SeenFile { path: "b.txt".to_owned(), ..file.clone() },
        SeenFile { digest: Digest::of(b"two"), ..file.clone() },
    ];
    let asked = || [&[file.clone()][..], &others].concat();
    let size = world.store.size();
    assert_eq!(world.store.seen(asked()).await.unwrap(), [false; 5]);
    for _ in 0..2 {
        world.store.mark_seen(file.clone(), true).await.unwrap();
        assert_eq!(world.store.seen(asked()).await.unwrap(), [true, false, false, false, false]);
    }
    world.store.mark_seen(others[2].clone(), false).await.unwrap();
    world.store.mark_seen(file.clone(), false).await.unwrap();
    assert_eq!(world.store.seen(asked()).await.unwrap(), [false; 5]);
    assert_eq!(world.store.size(), size, "no entry tells of it");
}

pub(super) async fn c17_marks_are_bounded_for_each_person_and_forgotten_after_their_time<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let file = |number: u32| seen_file(&world, &format!("{number}.txt"), b"one");
    let other = SeenFile { who: world.reviewers[1].id, ..file(0) };
    world.store.mark_seen(other.clone(), true).await.unwrap();
    for number in 0..2_002 {
        ground.clock().move_by_ms(1);
        world.store.mark_seen(file(number), true).await.unwrap();
    }
    let asked = vec![file(0), file(1), file(2), file(2_001), other.clone()];
    assert_eq!(world.store.seen(asked).await.unwrap(), [false, false, true, true, true], "the oldest of one's own go");
    ground.clock().move_by_ms(30 * DAY_MS);
    world.store.mark_seen(file(2_001), true).await.unwrap();
    ground.clock().move_by_ms(DAY_MS);
    while world.store.has_old_marks().await.unwrap() {
        world.store.forget_marks().await.unwrap();
    }
    let left = world.store.seen(vec![file(2_000), file(2_001), other]).await.unwrap();
    assert_eq!(left, [false, true, false], "what was marked anew counts from then");
}

/// A question in a run, under these bounds.
fn question(world: &World, run: RunId, bounds: Asking) -> Submission {
    let id = new_action();
    let mut asked = world.run.clone();
    asked.id = run;
    let action = sealed(&asked, world.agent.id, &id.to_string());
    let verdict = verdict(action.digest(), policy(), "B", 0.2);
    let command = placet_domain::action::ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
    let command = placet_domain::command::Command::Action { id, run, command };
    Submission { terms: Terms { asking: bounds, ..Terms::default() }, ..asking(by(&world.agent), command) }
}

pub(super) async fn b4_a_thousand_at_once_against_a_bound_of_twenty_leave_twenty<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let bounds = Asking { most_asked: 0, ..Asking::default() };
    let asks = (0..1_000).map(|_| {
        let (store, question) = (world.store.clone(), question(&world, world.run.id, bounds));
        tokio::spawn(async move { submit(&store, question).await })
    });
    let (mut asked, mut noted) = (0, 0);
    for one in asks.collect::<Vec<_>>() {
        match one.await.unwrap() {
            Ok(receipt) if receipt.loaded.action.is_some() => asked += 1,
            Ok(receipt) => {
                assert!(matches!(receipt.records[0].event, Event::Run(_, RunEvent::Overasked { undecided: 20 })));
                noted += 1;
            }
            Err(SubmitError::Refused(Refusal::TooManyQuestions { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((asked, noted, world.store.queue_length(Reach::Everywhere).await.unwrap()), (20, 1, 20));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

/// A run at work that this one had made, of another agent.
async fn child(world: &World, store: &Store) -> (RunId, placet_domain::identity::Identity) {
    let agent = register(store, "child", &[Role::Agent], Reach::Everywhere).await;
    let mut founded = founding(world.project, &agent);
    founded.parent = Some(world.run.id);
    let id = new_run();
    let ask = |actor, command| asking(actor, placet_domain::command::Command::Run { id, command });
    let made = submit(store, ask(by(&world.operator), RunCommand::Create(Box::new(founded)))).await.unwrap();
    let seen = made.loaded.run.unwrap().review();
    for (who, command) in [
        (&world.reviewers[0], RunCommand::ApprovePlan { seen }),
        (&world.operator, RunCommand::Start),
        (&agent, RunCommand::Attach),
    ] {
        submit(store, ask(by(who), command)).await.unwrap();
    }
    (id, agent)
}

pub(super) async fn b4_the_family_of_a_run_is_counted_together<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let bounds = Asking { most_undecided: 3, most_asked: 0, ..Asking::default() };
    for _ in 0..3 {
        submit(&world.store, question(&world, world.run.id, bounds)).await.unwrap();
    }
    let (run, agent) = child(&world, &world.store).await;
    let family = World { agent, ..world.clone() };
    let receipt = submit(&world.store, question(&family, run, bounds)).await.unwrap();
    assert!(receipt.loaded.action.is_none(), "a child asks for its parent");
    assert_eq!(receipt.records.len(), 1);
    let again = submit(&world.store, question(&family, run, bounds)).await;
    assert!(matches!(again, Err(SubmitError::Refused(Refusal::TooManyQuestions { undecided: 3, .. }))), "{again:?}");
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}
