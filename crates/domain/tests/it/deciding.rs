//! How people decide: what of the record is a decision, what figures follow, and what stands out of one's own.

use placet_domain::action::{ActionCommand, ActionStatus, Resolution};
use placet_domain::deciding::{Decision, Outcome, Signal, decision, figures, habits};
use placet_domain::id::IdentityId;
use placet_domain::policy::Tier;
use placet_domain::proposal::ActionKind;
use placet_domain::record::Event;
use placet_domain::time::Timestamp;

use crate::orders::extent;
use crate::people::Who;
use crate::scenario::{DAY_MS, HOUR_MS, MINUTE_MS, World, action_id, project_id};

/// Every decision of a world, as a store would note them: each by the action as it stood before its entry.
pub(crate) fn noted(world: &World) -> Vec<Decision> {
    let mut before = placet_domain::decide::Loaded::default();
    let mut found = Vec::new();
    for (record, at) in world.ledger.iter().zip(&world.times) {
        if let Event::Action(id, event) = &record.event {
            let known = [&before.action, &before.successor].into_iter().flatten().find(|action| action.id == *id);
            found.extend(known.and_then(|action| decision(action, event, *at)));
            before.apply(record, *at);
        }
    }
    found
}

fn told(world: &World) -> Vec<(Outcome, Option<Who>, u64, bool)> {
    let who = |id: Option<IdentityId>| id.and_then(Who::from_id);
    noted(world)
        .iter()
        .map(|one| (one.outcome, who(one.reviewer), one.waited_ms() / 60_000, one.single_operator))
        .collect()
}

#[test]
fn c17_a_decision_tells_how_long_it_waited_who_decided_and_how() {
    let mut world = World::new().executing();
    world.agent().proposes("delete it").unwrap();
    world.wait_ms(3 * MINUTE_MS);
    world.reviewer().approves().unwrap();
    world.wait_ms(MINUTE_MS);
    world.second_reviewer().approves().unwrap();
    let (first, second) = (Some(Who::Reviewer), Some(Who::SecondReviewer));
    assert_eq!(told(&world), [(Outcome::Approved, first, 3, false), (Outcome::Approved, second, 4, false)]);
}

#[test]
fn c17_what_nobody_decided_is_told_as_that_and_what_the_policy_decides_is_no_decision() {
    let mut world = World::new().executing();
    world.agent().proposes("read it").unwrap();
    world.agent().proposes("burn it").unwrap();
    assert_eq!(told(&world), []);
    world.agent().proposes("build it").unwrap();
    world.wait_ms(25 * HOUR_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(told(&world), [(Outcome::Expired, None, 25 * 60, false)]);
}

#[test]
fn c17_who_changes_something_decides_once_and_not_by_their_own_yes_again() {
    let mut world = World::new().executing();
    world.agent().proposes("build it").unwrap();
    world.wait_ms(MINUTE_MS);
    let amended = world.amended("build less of it");
    let seen = world.action().review();
    let command = ActionCommand::Amend { seen, reason: "less".to_owned(), amended: Box::new(amended) };
    let (id, run) = (world.action, world.run);
    world.submit(Who::Reviewer, placet_domain::command::Command::Action { id, run, command }).unwrap();
    assert_eq!(told(&world), [(Outcome::Amended, Some(Who::Reviewer), 1, false)]);
}

#[test]
fn c17_what_an_order_approved_is_no_decision_of_its_giver() {
    let mut world = World::new().executing();
    world.agent().proposes("build it").unwrap();
    world.wait_ms(MINUTE_MS);
    let (action, seen) = (Box::new(world.seal("build it", Who::Agent, world.run)), world.action().review());
    world.reviewer().act(ActionCommand::GiveOrder { seen, action, extent: extent(3) }).unwrap();
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.action().status, ActionStatus::Approved);
    assert_eq!(
        told(&world),
        [(Outcome::Approved, Some(Who::Reviewer), 1, false)],
        "the yes to the first, and no other"
    );
}

#[test]
fn c17_who_approves_alone_is_marked() {
    let mut world = World::single_operator().executing();
    world.agent().proposes("build it").unwrap();
    world.by(Who::Parent).approves().unwrap();
    assert_eq!(told(&world), [(Outcome::Approved, Some(Who::Parent), 0, true)]);
    assert_eq!(figures(&noted(&world)).counts.single_operator, 1);
}

fn who(number: u128) -> IdentityId {
    IdentityId::from_uuid(uuid::Uuid::from_u128(number))
}

/// Builds an approval of tier C that waited so many milliseconds.
fn yes(number: i64, waited_ms: i64) -> Decision {
    let at = Timestamp::from_unix_ms(DAY_MS * 20_000 + number * HOUR_MS);
    Decision {
        at,
        asked_at: Timestamp::from_unix_ms(at.unix_ms() - waited_ms),
        project: project_id(1),
        action: action_id(u128::try_from(number).expect("a small number")),
        reviewer: Some(who(1)),
        tier: Tier::C,
        kind: ActionKind::ExecuteCode,
        outcome: Outcome::Approved,
        single_operator: false,
    }
}

#[test]
fn c17_medians_and_nine_of_ten_are_of_what_people_decided() {
    let mut all: Vec<Decision> = (1..=10).map(|number| yes(number, number * 1_000)).collect();
    all.push(Decision { outcome: Outcome::Expired, reviewer: None, ..yes(11, 86_400_000) });
    let figures = figures(&all);
    let waited = figures.waited.unwrap();
    assert_eq!((waited.median_ms, waited.p90_ms, waited.count), (5_000, 9_000, 10), "silence is no decision");
    assert_eq!((figures.counts.approved, figures.counts.expired, figures.people), (10, 1, 1));
    assert_eq!(figures.weeks.iter().map(|week| week.counts.approved).sum::<u64>(), 10);
    let monday = |at: Timestamp| (at.unix_ms() / DAY_MS + 3) % 7 == 0;
    assert!(figures.weeks.iter().all(|week| monday(week.from)), "{:?}", figures.weeks);
    assert_eq!(placet_domain::deciding::figures(&[]).waited, None);
}

#[test]
fn c17_approving_everything_stands_out_and_one_no_is_enough() {
    let mut all: Vec<Decision> = (1..=60).map(|number| yes(number, 500)).collect();
    assert_eq!(habits(&all).signals, [Signal::NeverNo]);
    all.push(Decision { outcome: Outcome::Rejected, ..yes(30, 500) });
    assert_eq!(habits(&all).signals, []);
    assert!(habits(&all).streak < 60, "and it breaks the row");
}

#[test]
fn c17_what_whoever_changed_something_says_later_is_a_decision_of_its_own() {
    let mut world = World::new().executing();
    world.agent().proposes("build it").unwrap();
    world.reviewer().amends("build less of it").unwrap();
    assert_eq!(told(&world), [(Outcome::Amended, Some(Who::Reviewer), 0, false)], "the yes is part of it");
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(HOUR_MS);
    world.clockwork().lapses().unwrap();
    world.reviewer().resolves(Resolution::Retry).unwrap();
    assert_eq!(world.status(), ActionStatus::Approved);
    let again = (Outcome::Approved, Some(Who::Reviewer), 0, false);
    assert_eq!(told(&world), [(Outcome::Amended, Some(Who::Reviewer), 0, false), again]);
}
