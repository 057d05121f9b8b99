//! What holds whatever happens: random commands by random people at random times, with the books kept beside.

mod books;
mod walk;

use std::cell::RefCell;
use std::collections::BTreeSet;

use placet_domain::action::ActionStatus;
use placet_domain::decide::Loaded;
use placet_domain::record::{Event, Record};
use placet_domain::run::RunStatus;
use placet_domain::time::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use self::walk::{Dice, Walk};
use crate::passkeys::checked;
use crate::scenario::World;
use crate::states;

/// Everything that was seen on walks, so that a walk that goes nowhere is noticed.
#[derive(Debug, Default)]
struct Seen {
    runs: BTreeSet<RunStatus>,
    actions: BTreeSet<ActionStatus>,
    kinds: BTreeSet<&'static str>,
    refusals: BTreeSet<&'static str>,
}

/// What every record of a walk may be called.
const KINDS: &[&str] = &[
    "action.approved",
    "action.assigned",
    "action.deferred",
    "action.expired",
    "action.judged",
    "action.proposed",
    "action.rehearsed",
    "action.rejected",
    "action.resolved",
    "action.superseded",
    "action.to_be_performed",
    "action.withdrawn",
    "evidence.quarantined",
    "identity.registered",
    "job.completed",
    "job.lease_lapsed",
    "job.leased",
    "job.renewed",
    "permit.redeemed",
    "project.created",
    "refused",
    "run.attached",
    "run.budget_set",
    "run.calls_counted",
    "run.cancelled",
    "run.checkpoint_moved",
    "run.checkpoint_passed",
    "run.checkpoint_reached",
    "run.checkpoint_rejected",
    "run.checkpoint_settled",
    "run.checkpoint_unanswered",
    "run.collected",
    "run.completed",
    "run.created",
    "run.destroyed",
    "run.equipped",
    "run.exhausted",
    "run.failed",
    "run.finished",
    "run.held",
    "run.hosted",
    "run.model_called",
    "run.network_granted",
    "run.network_rejected",
    "run.network_revoked",
    "run.network_wished",
    "run.order_given",
    "run.order_revoked",
    "run.order_used",
    "run.paused",
    "run.performed",
    "run.performing",
    "run.plan_approved",
    "run.plan_rejected",
    "run.restored",
    "run.results_rejected",
    "run.resumed",
    "run.rolled_back",
    "run.settled",
    "run.snapshot_asked",
    "run.snapshot_kept",
    "run.started",
    "run.step_finished",
    "run.submitted",
    "run.waiting_for_people",
    "run.waiting_over",
];

const REFUSALS: &[&str] = &[
    "denied",
    "exists",
    "expired",
    "invalid",
    "kin",
    "lost_lease",
    "not_now",
    "other_agent",
    "other_host",
    "permit",
    "role",
    "run_not_active",
    "same_person",
    "stale",
    "unknown",
];

fn walks() -> impl Strategy<Value = (bool, Vec<Dice>)> {
    (any::<bool>(), prop::collection::vec(any::<Dice>(), 20..160))
}

/// Takes a walk and checks every step of it; then reads the whole ledger back.
fn check(alone: bool, steps: &[Dice], seen: &mut Seen) -> Result<(), TestCaseError> {
    let mut walk = Walk::start(if alone { World::single_operator() } else { World::new() });
    seen.kinds.extend(walk.world.ledger.iter().map(Record::kind));
    for dice in steps {
        walk.step(*dice, seen)?;
    }
    let reread = reread(&walk.world.ledger, &walk.world.times)?;
    for (id, run) in &walk.world.runs {
        prop_assert_eq!(reread.runs.get(id), Some(run));
    }
    prop_assert_eq!(&reread.actions, &walk.world.actions);
    // A stranger finds nothing where nobody lied.
    prop_assert_eq!(checked(&walk.world).findings, []);
    Ok(())
}

/// The world as the ledger tells it, entry by entry, each written and read back first.
fn reread(ledger: &[Record], times: &[Timestamp]) -> Result<World, TestCaseError> {
    let mut world = World::new();
    for (record, at) in ledger.iter().zip(times) {
        let read = Record::read(record.about, record.kind(), record.body());
        let read = read.map_err(|unreadable| TestCaseError::fail(unreadable.to_string()))?;
        prop_assert_eq!(&read, record);
        let mut loaded = Loaded::default();
        match &read.event {
            Event::Run(id, _) => loaded.run = world.runs.get(id).cloned(),
            Event::Action(id, _) => loaded.action = world.actions.get(id).cloned(),
            Event::Organisation(_)
            | Event::Project(..)
            | Event::Identity(..)
            | Event::Worktree(_)
            | Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => {
                continue;
            }
        }
        loaded.apply(&read, *at);
        world.keep(loaded);
    }
    Ok(world)
}

/// The same walks every time, and together they have been everywhere.
#[test]
fn b3_b4_b5_c8_no_walk_breaks_the_law_and_together_they_see_all_of_it() {
    let seen = RefCell::new(Seen::default());
    let config = Config { cases: 250, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let walked = runner.run(&walks(), |(alone, steps)| check(alone, &steps, &mut seen.borrow_mut()));
    walked.unwrap_or_else(|broken| panic!("{broken}"));
    let seen = seen.into_inner();
    assert_eq!(seen.runs.into_iter().collect::<Vec<_>>(), RunStatus::ALL);
    assert_eq!(seen.actions.into_iter().collect::<Vec<_>>(), ActionStatus::ALL);
    assert_eq!(seen.kinds.into_iter().collect::<Vec<_>>(), KINDS);
    assert_eq!(seen.refusals.into_iter().collect::<Vec<_>>(), REFUSALS);
}

proptest! {
    #![proptest_config(Config { cases: 60, failure_persistence: None, ..Config::default() })]

    /// Other walks every time.
    #[test]
    fn b3_b4_b5_c8_no_new_walk_breaks_the_law((alone, steps) in walks()) {
        check(alone, &steps, &mut Seen::default())?;
    }
}

/// The edges that `docs/states.md` lists, once for all walks.
fn edges() -> &'static states::Edges {
    static EDGES: std::sync::OnceLock<states::Edges> = std::sync::OnceLock::new();
    EDGES.get_or_init(states::edges)
}
