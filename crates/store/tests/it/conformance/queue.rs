//! The queue of those who decide: all of it can be reached, by whoever may decide it.

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::id::ActionId;
use placet_domain::identity::{Actor, Identity, Reach, Role};
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_store::{EntryFilter, Going, HEARTBEAT, Kinds, QueueFilter, Rows, Seat, Spot, Twins, Waits, Whose};

use crate::world::{
    Ground, START_MS, World, by, executing_run, make_project, new_action, policy, register, sealed, submit, verdict,
};

async fn propose(world: &World, tier: &str, risk: f64) -> ActionId {
    let id = new_action();
    submit(&world.store, world.proposal(id, tier, risk)).await.unwrap();
    id
}

async fn found(world: &World, filter: QueueFilter) -> Vec<ActionId> {
    world.store.queue(filter).await.unwrap().into_iter().map(|waiting| waiting.id).collect()
}

fn of(waits: Waits) -> QueueFilter {
    QueueFilter { waits, ..QueueFilter::default() }
}

pub(super) async fn b4_a_tier_is_found_behind_any_number_of_riskier_ones<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mild = propose(&world, "B", 0.1).await;
    for _ in 0..60 {
        propose(&world, "C", 0.9).await;
    }
    let of_tier = |tier| QueueFilter { tier: Some(tier), limit: 50, ..QueueFilter::default() };
    assert_eq!(found(&world, of_tier(Tier::B)).await, [mild]);
    assert_eq!(found(&world, of_tier(Tier::C)).await.len(), 50);
}

pub(super) async fn b4_the_whole_queue_is_reached_page_by_page_there_and_back<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for risk in [0.3, 0.9, 0.3, 0.1, 0.9, 0.3, 0.3] {
        propose(&world, "B", risk).await;
    }
    let whole = found(&world, QueueFilter::default()).await;
    let (mut there, mut from) = (Vec::new(), None);
    loop {
        let filter = QueueFilter { from, limit: 3, ..QueueFilter::default() };
        let page = world.store.queue(filter).await.unwrap();
        let Some(last) = page.last() else { break };
        from = Some(Going::After(Spot::of(last)));
        there.push(page);
    }
    assert_eq!(there.iter().flatten().map(|listed| listed.id).collect::<Vec<_>>(), whole);
    let back = Some(Going::Before(Spot::of(&there[2][0])));
    let before = found(&world, QueueFilter { from: back, limit: 3, ..QueueFilter::default() }).await;
    assert_eq!(before, there[1].iter().map(|listed| listed.id).collect::<Vec<_>>(), "in the same order");
    assert_eq!("90-17".parse(), Ok(Spot { risk: 90, created: 17 }));
    assert!("".parse::<Spot>().is_err() && "90".parse::<Spot>().is_err() && "-1-2".parse::<Spot>().is_err());
}

/// Something that anybody may want again.
async fn propose_again(world: &World, words: &str, tier: &str) -> ActionState {
    let action = sealed(&world.run, world.agent.id, words);
    let verdict = verdict(action.digest(), policy(), tier, 0.2);
    let propose = ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
    let proposal = world.about(new_action(), by(&world.agent), propose);
    submit(&world.store, proposal).await.unwrap().loaded.action.unwrap()
}

/// All rows of which no two ask the same, read so many at a time.
async fn folded(world: &World, waits: &Waits, limit: u32) -> Vec<ActionId> {
    let (mut rows, mut from) = (Vec::new(), None);
    loop {
        let filter = QueueFilter { rows: Rows::OfEachQuestion, from, limit, ..of(waits.clone()) };
        let page = world.store.queue(filter).await.unwrap();
        let Some(last) = page.last() else { return rows };
        from = Some(Going::After(Spot::of(last)));
        rows.extend(page.iter().map(|listed| listed.id));
    }
}

pub(super) async fn b4_what_asks_the_same_is_one_row_wherever_in_the_queue_it_stands<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let [ruth, rolf] = &world.reviewers;
    let first = propose_again(&world, "same", "B").await;
    let between = [propose_again(&world, "one", "B").await.id, propose_again(&world, "two", "B").await.id];
    let (second, third) = (propose_again(&world, "same", "B").await, propose_again(&world, "same", "B").await);
    let everybody = Waits::ForApproval(Whose::All);
    for limit in [1, 2, 50] {
        assert_eq!(folded(&world, &everybody, limit).await, [first.id, between[0], between[1]]);
    }
    let question = first.shared_question().unwrap();
    assert_eq!((second.shared_question(), third.question()), (Some(question), Some(question)));
    let twins = async |of: &ActionState, most| {
        let asked = vec![(of.id, of.shared_question().unwrap())];
        let Twins { actions, count } = world.store.twins(asked, Whose::All, most).await.unwrap().remove(0);
        (actions.into_iter().map(|listed| listed.id).collect::<Vec<_>>(), count)
    };
    assert_eq!(twins(&first, 10).await, (vec![second.id, third.id], 2));
    assert_eq!(twins(&third, 1).await, (vec![first.id], 2), "so many of them, and how many there are");
    let assign = ActionCommand::Assign { to: Some(Box::new(rolf.clone())), note: String::new() };
    submit(&world.store, world.about(second.id, by(ruth), assign)).await.unwrap();
    let apart = [first.id, between[0], between[1], second.id];
    assert_eq!(folded(&world, &everybody, 2).await, apart, "about which somebody said something");
    assert_eq!(twins(&first, 10).await, (vec![third.id], 1));
    submit(&world.store, world.approval(&first, ruth)).await.unwrap();
    assert_eq!(folded(&world, &everybody, 2).await, [between[0], between[1], second.id, third.id]);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn b4_where_two_people_are_asked_nothing_is_folded<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let grave = [propose_again(&world, "grave", "C").await, propose_again(&world, "grave", "C").await];
    assert_eq!((grave[0].shared_question(), grave[0].question()), (None, grave[1].question()));
    let rows = folded(&world, &Waits::ForApproval(Whose::All), 50).await;
    assert_eq!(rows, grave.map(|action| action.id));
}

pub(super) async fn b4_what_is_not_somebodys_to_decide_hides_nothing_that_is<G: Ground>() {
    let ground = G::fresh();
    let mut world = World::on(&ground).await;
    let own = propose_again(&world, "same", "B").await;
    let tom = world.agent.clone();
    let mia = register(&world.store, "mia", &[Role::Agent], Reach::Everywhere).await;
    world.run = executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &mia).await;
    world.agent = mia;
    let others = propose_again(&world, "same", "B").await;
    assert_eq!(own.question(), others.question(), "whoever wants it");
    let rows = async |whose: fn(Seat) -> Whose| folded(&world, &Waits::ForApproval(whose(seat(&tom, 0))), 50).await;
    assert_eq!((rows(Whose::Of).await, rows(Whose::NotOf).await), (vec![others.id], vec![own.id]));
    let twins = async |of: &ActionState, whose| {
        let asked = vec![(of.id, of.shared_question().unwrap())];
        world.store.twins(asked, whose, 10).await.unwrap().remove(0).count
    };
    assert_eq!((twins(&others, Whose::Of(seat(&tom, 0))).await, twins(&others, Whose::All).await), (0, 1));
}

pub(super) async fn b4_what_somebody_said_yes_to_waits_for_others<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let [ruth, rolf] = &world.reviewers;
    let grave = world.propose("C").await;
    let other = world.propose("C").await;
    submit(&world.store, world.approval(&grave, ruth)).await.unwrap();
    let wanted = |whose: fn(Seat) -> Whose, who: &Identity| of(Waits::ForApproval(whose(seat(who, 0))));
    assert_eq!(found(&world, wanted(Whose::Of, ruth)).await, [other.id]);
    assert_eq!(found(&world, wanted(Whose::NotOf, ruth)).await, [grave.id]);
    assert_eq!(found(&world, wanted(Whose::Of, rolf)).await, [grave.id, other.id]);
    assert_eq!(found(&world, wanted(Whose::NotOf, rolf)).await, []);
    let its_agent = wanted(Whose::NotOf, &world.agent);
    assert_eq!(found(&world, its_agent).await, [grave.id, other.id], "nobody decides about what is theirs");
    assert_eq!(world.store.queue_length(Reach::Everywhere).await.unwrap(), 2, "it still waits");
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

/// Somebody who looks at the queue so many seconds after the world began.
fn seat(who: &Identity, seconds: u64) -> Seat {
    Seat { who: who.id, behind: Vec::new(), now: Timestamp::from_unix_ms(START_MS).plus_ms(seconds * 1_000) }
}

pub(super) async fn b4_what_is_for_somebody_comes_to_them_and_what_was_set_aside_is_back_at_its_time<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let [ruth, rolf] = &world.reviewers;
    let (first, second) = (world.propose("B").await, world.propose("B").await);
    let assign = ActionCommand::Assign { to: Some(Box::new(rolf.clone())), note: "you know it".to_owned() };
    submit(&world.store, world.about(first.id, by(ruth), assign)).await.unwrap();
    let defer = ActionCommand::Defer { until: Some(Timestamp::from_unix_ms(START_MS + 600_000)) };
    submit(&world.store, world.about(second.id, by(rolf), defer)).await.unwrap();
    let wanted = |whose: fn(Seat) -> Whose, who: &Identity, seconds| of(Waits::ForApproval(whose(seat(who, seconds))));
    for (whose, who, seconds, seen) in [
        (Whose::NamedFor as fn(Seat) -> Whose, rolf, 60, vec![first.id]),
        (Whose::Of, rolf, 60, vec![]),
        (Whose::AsideBy, rolf, 60, vec![second.id]),
        (Whose::Of, rolf, 600, vec![second.id]),
        (Whose::AsideBy, rolf, 600, vec![]),
        (Whose::NotOf, ruth, 60, vec![first.id]),
        (Whose::Of, ruth, 60, vec![second.id]),
        (Whose::AsideBy, ruth, 60, vec![]),
    ] {
        assert_eq!(found(&world, wanted(whose, who, seconds)).await, seen, "{} after {seconds}", who.name);
    }
    let length =
        async |who, seconds| world.store.queue_length_for(Reach::Everywhere, seat(who, seconds)).await.unwrap();
    assert_eq!((length(rolf, 60).await, length(rolf, 600).await, length(ruth, 60).await), (1, 2, 2));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    submit(&world.store, world.approval(&first, ruth)).await.unwrap();
    assert_eq!(found(&world, wanted(Whose::NamedFor, rolf, 60)).await, [], "it ends with the question");
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn c14_what_was_interrupted_waits_for_somebody_until_they_say_what_becomes_of_it<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    submit(&world.store, world.approval(&proposed, &world.reviewers[0])).await.unwrap();
    let leased = world.lease(&world.worker).await.unwrap();
    submit(&world.store, world.redemption(&leased)).await.unwrap();
    assert_eq!(world.store.interrupted(Reach::Everywhere).await.unwrap(), 0);
    ground.clock().move_by_ms(600_000);
    submit(&world.store, world.about(leased.id, Actor::Runtime, ActionCommand::Lapse)).await.unwrap();
    assert_eq!(found(&world, of(Waits::ForResolution)).await, [leased.id]);
    assert_eq!(world.store.interrupted(Reach::Everywhere).await.unwrap(), 1);
    let beta = Reach::Only([make_project(&world.store, "beta").await].into());
    assert_eq!(world.store.interrupted(beta).await.unwrap(), 0);
    let (resolution, reason) = (placet_domain::action::Resolution::Abandon, "gone".to_owned());
    let resolve = ActionCommand::Resolve { resolution, reason };
    submit(&world.store, world.about(leased.id, by(&world.reviewers[0]), resolve)).await.unwrap();
    assert_eq!(world.store.interrupted(Reach::Everywhere).await.unwrap(), 0);
}

pub(super) async fn c16_entries_are_found_without_heartbeats_and_these_are_counted<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    submit(&world.store, world.approval(&proposed, &world.reviewers[0])).await.unwrap();
    let leased = world.lease(&world.worker).await.unwrap();
    submit(&world.store, world.redemption(&leased)).await.unwrap();
    for _ in 0..60 {
        ground.clock().move_by_ms(10_000);
        let beat = ActionCommand::Heartbeat { attempt: leased.attempt };
        submit(&world.store, world.about(leased.id, by(&world.worker), beat)).await.unwrap();
    }
    submit(&world.store, world.completion(&leased)).await.unwrap();
    let about = |kinds| EntryFilter { action: Some(leased.id), kinds, limit: 50, ..EntryFilter::default() };
    let told = world.store.entries(about(Kinds::But(HEARTBEAT))).await.unwrap();
    assert_eq!(told.last().unwrap().kind, "job.completed");
    assert_eq!(world.store.count_entries(about(Kinds::Only(HEARTBEAT))).await.unwrap(), 60);
    let since = EntryFilter { after: Some(told.last().unwrap().seq), ..about(Kinds::Only(HEARTBEAT)) };
    assert_eq!(world.store.count_entries(since).await.unwrap(), 0);
    assert_eq!(world.store.action_count(world.run.id).await.unwrap(), 1);
}
