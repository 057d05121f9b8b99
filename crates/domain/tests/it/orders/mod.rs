//! Standing orders: one yes for actions that are the same question. Who gives one, on what, and how far it goes.

mod class;
mod ends;

use placet_domain::action::{ActionCommand, ActionEvent, ActionStatus as Status};
use placet_domain::approval::{Approval, Asking, Extent, MOST_TIMES, Width};
use placet_domain::digest::Digest;
use placet_domain::evidence::Exit;
use placet_domain::proposal::ActionKind;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{MOST_ORDERS, Mode, Order, RunStatus, Stand};
use serde_json::json;

use crate::people::Who;
use crate::scenario::{HOUR_MS, Outcome, World};

const AN_HOUR: u64 = 3_600_000;

pub(crate) const fn extent(times: u32) -> Extent {
    Extent { width: Width::Exact, lasts_ms: AN_HOUR, times }
}

impl World {
    /// Gives an order on the action that waits; these are its words.
    fn orders(&mut self, who: Who, words: &str, extent: Extent) -> Outcome {
        let action = Box::new(self.seal(words, Who::Agent, self.run));
        let seen = self.action().review();
        self.by(who).act(ActionCommand::GiveOrder { seen, action, extent })
    }

    fn order(&self) -> &Order {
        self.run().orders.last().expect("an order was given")
    }

    fn stand(&self) -> Stand {
        self.order().stand(self.run(), self.policy, self.now)
    }
}

/// A run in which "build it" is approved and so are the next few.
fn ordered(times: u32) -> World {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.orders(Who::Reviewer, "build it", extent(times)).expect("a reviewer may");
    assert_eq!(world.status(), Status::Approved);
    world
}

fn proposes_again(world: &mut World) -> Status {
    world.agent().proposes("build it").expect("the run is at work");
    world.status()
}

fn kinds(records: &[Record]) -> Vec<&'static str> {
    records.iter().map(Record::kind).collect()
}

fn approval(records: &[Record]) -> Approval {
    let approved = records.iter().find_map(|record| {
        let Event::Action(_, ActionEvent::Approved { approval, .. }) = &record.event else { return None };
        Some(approval.clone())
    });
    approved.expect("an approval")
}

#[test]
fn b4_an_order_approves_the_action_it_is_given_on_and_the_next_ones_of_its_class_as_its_giver() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let given = world.orders(Who::Reviewer, "build it", extent(2)).unwrap();
    assert_eq!(kinds(&given), ["action.approved", "run.order_given"]);
    assert_eq!(approval(&given).order, None, "that one somebody looked at");
    let used = world.agent().proposes("build it").unwrap();
    assert_eq!(kinds(&used), ["action.proposed", "action.judged", "action.approved", "run.order_used"]);
    let by = approval(&used);
    assert_eq!((by.order, Some(by.reviewer)), (Some(1), Who::Reviewer.id()));
    assert_eq!(by.review, world.action().review(), "it is a yes to what this action is");
    assert_eq!(world.status(), Status::Approved);
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), Status::Succeeded);
}

#[test]
fn b4_an_order_is_for_so_many_and_not_for_one_more() {
    let mut world = ordered(2);
    for expected in [Status::Approved, Status::Approved, Status::PendingApproval, Status::PendingApproval] {
        assert_eq!(proposes_again(&mut world), expected);
    }
    assert_eq!((world.order().used, world.stand()), (2, Stand::UsedUp));
}

#[test]
fn b4_an_order_ends_at_its_time_and_nothing_it_approved_begins_after_it() {
    let mut world = ordered(9);
    world.wait_ms(HOUR_MS - 1);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    assert_eq!(world.action().deadline, world.order().until, "the yes of an order is over with the order");
    world.wait_ms(1);
    assert_eq!(world.worker().leases(), Err(Refusal::Expired));
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Expired, Status::PendingApproval));
}

#[test]
fn b4_orders_are_given_only_where_one_person_is_asked() {
    let mut world = World::new().with_action("delete it", Status::PendingApproval);
    let refused = world.orders(Who::Reviewer, "delete it", extent(1));
    assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("one person")), "{refused:?}");
    assert!(world.action().approvals.is_empty(), "and the yes that would come with it is not given either");
}

#[test]
fn b4_no_order_is_given_where_a_person_is_always_asked() {
    let mut always = World::new().with_action("build and mail it", Status::PendingApproval);
    assert_eq!(always.run_status(), RunStatus::CheckpointReached, "that kind always asks");
    let mut supervised = World::new();
    supervised.posture.mode = Mode::Supervised;
    let mut supervised = supervised.with_action("build it", Status::PendingApproval);
    let mut agreed = World::new();
    agreed.posture.gates.before.insert(ActionKind::ExecuteCode);
    let mut agreed = agreed.with_action("build it", Status::PendingApproval);
    for (world, words) in [(&mut always, "build and mail it"), (&mut supervised, "build it"), (&mut agreed, "build it")]
    {
        let refused = world.orders(Who::Reviewer, words, extent(1));
        assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("each time")), "{refused:?}");
        assert_eq!(world.status(), Status::PendingApproval);
    }
}

#[test]
fn b4_an_order_has_bounds_that_nobody_goes_beyond() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.terms.longest_order_ms = 2 * AN_HOUR;
    for wrong in [
        extent(0),
        extent(MOST_TIMES + 1),
        Extent { lasts_ms: 0, ..extent(1) },
        Extent { lasts_ms: 2 * AN_HOUR + 1, ..extent(1) },
        // A program that runs code is not let run other code.
        Extent { width: Width::Contents, ..extent(1) },
    ] {
        assert!(matches!(world.orders(Who::Reviewer, "build it", wrong), Err(Refusal::Invalid { .. })), "{wrong:?}");
    }
    world.terms.longest_order_ms = 0;
    assert!(matches!(world.orders(Who::Reviewer, "build it", extent(1)), Err(Refusal::Invalid { .. })));
    assert!(world.run().orders.is_empty() && world.status() == Status::PendingApproval);
}

#[test]
fn b4_an_order_is_about_what_was_seen_and_about_those_bytes() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let action = Box::new(world.seal("build it", Who::Agent, world.run));
    let seen = Digest::of(b"something else");
    let stale = ActionCommand::GiveOrder { seen, action, extent: extent(1) };
    assert!(matches!(world.reviewer().act(stale), Err(Refusal::Stale { .. })));
    let other = world.orders(Who::Reviewer, "build something else", extent(1));
    assert!(matches!(other, Err(Refusal::Invalid { .. })), "{other:?}");
    assert!(world.run().orders.is_empty());
}

/// The whole table of who may give one, and for whom it then counts.
#[test]
fn b4_r7_who_could_not_approve_the_action_gives_no_order_on_it() {
    for (start, alone) in [(World::new as fn() -> World, false), (World::single_operator, true)] {
        for who in Who::ALL.iter().copied() {
            let mut world = start().with_action("build it", Status::PendingApproval);
            let may = world.clone().by(who).approves().is_ok();
            let given = world.orders(who, "build it", extent(3));
            assert_eq!(given.is_ok(), may, "{who:?} {alone} {given:?}");
            let Ok(given) = given else { continue };
            let used = world.agent().proposes("build it").unwrap();
            assert_eq!(approval(&used).single_operator, approval(&given).single_operator, "{who:?}");
            assert_eq!(approval(&used).single_operator, alone && matches!(who, Who::Parent | Who::Grandparent));
        }
    }
}

#[test]
fn b4_what_an_order_said_yes_to_asks_nobody_and_counts_for_no_bound() {
    let mut world = ordered(50);
    world.terms.asking = Asking { most_undecided: 2, most_asked: 3, ..Asking::default() };
    for _ in 0..10 {
        assert_eq!(proposes_again(&mut world), Status::Approved);
    }
}

#[test]
fn b4_a_run_has_so_many_orders_and_no_more() {
    let mut world = World::new().with_run(RunStatus::Executing);
    world.terms.asking = Asking::UNBOUNDED;
    for number in 0..=MOST_ORDERS {
        let words = format!("build it {number}");
        world.agent().proposes(&words).unwrap();
        let given = world.orders(Who::Reviewer, &words, extent(1));
        assert_eq!(given.is_ok(), number < MOST_ORDERS, "{number}");
    }
    assert_eq!(world.status(), Status::PendingApproval);
}

#[test]
fn b6_an_order_is_read_back_from_the_ledger_as_it_was_given() {
    let mut world = ordered(3);
    proposes_again(&mut world);
    let given = world.ledger.iter().find(|record| record.kind() == "run.order_given").unwrap();
    let body = given.body();
    assert_eq!((&body["times"], &body["width"]), (&json!(3), &json!("exact")));
    for record in &world.ledger {
        assert_eq!(&Record::read(record.about, record.kind(), record.body()).unwrap(), record);
    }
}
