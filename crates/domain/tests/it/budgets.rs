//! Budgets: reserved before, settled after, never overspent by what was reserved.

use placet_domain::budget::{Amounts, Budget, Ceiling, NotHeld, Purpose, Resource, Shortage};
use proptest::prelude::*;

fn call(number: usize) -> Purpose {
    Purpose::Call(format!("call-{number}"))
}

fn dollars(usd: u64) -> Amounts {
    Amounts { usd_micros: usd * 1_000_000, ..Amounts::NONE }
}

#[test]
fn c12_a_thousand_reservations_against_a_budget_for_ten_leave_ten() {
    let mut budget = Budget::new(Ceiling::at(dollars(10)), 80);
    let held = (0..1_000).filter(|number| {
        let may = budget.permits(&call(*number), dollars(1)).is_ok();
        if may {
            budget.hold(call(*number), dollars(1));
        }
        may
    });
    assert_eq!(held.count(), 10);
    assert_eq!(budget.left(Resource::UsdMicros), Some(0));
}

#[test]
fn c12_what_was_held_and_not_used_is_free_again() {
    let mut budget = Budget::new(Ceiling::at(dollars(10)), 80);
    budget.hold(call(1), dollars(9));
    let short = Shortage { resource: Resource::UsdMicros, limit: 10_000_000, left: 1_000_000, asked: 2_000_000 };
    assert_eq!(budget.permits(&call(2), dollars(2)), Err(NotHeld::Short(short)));
    assert!(short.to_string().contains("1000000 usd_micros left of 10000000"), "{short}");
    budget.settle(&call(1), dollars(3));
    assert_eq!(budget.permits(&call(2), dollars(7)), Ok(()));
    assert!(budget.permits(&call(2), dollars(8)).is_err());
}

#[test]
fn c12_one_purpose_holds_one_amount() {
    let mut budget = Budget::default();
    budget.hold(call(1), dollars(1));
    assert_eq!(budget.permits(&call(1), dollars(1)), Err(NotHeld::Twice(call(1))));
}

#[test]
fn c12_of_each_threshold_a_person_is_asked_once() {
    let mut budget = Budget::new(Ceiling { tokens: Some(1_000), ..Ceiling::at(dollars(10)) }, 80);
    budget.settle(&call(1), dollars(7));
    assert_eq!((budget.unasked(), budget.asks_first_in(Resource::UsdMicros)), (None, Some(1_000_000)));
    budget.settle(&call(1), dollars(1));
    assert_eq!(budget.unasked(), Some(Resource::UsdMicros));
    budget.ask(Resource::UsdMicros);
    assert_eq!(budget.unasked(), None, "once is enough");
    budget.settle(&call(1), Amounts { tokens: 900, ..Amounts::NONE });
    assert_eq!((budget.unasked(), budget.overdrawn()), (Some(Resource::Tokens), None));
    let more = budget.clone().within(Ceiling::at(dollars(20)), 80);
    assert_eq!(more.asks_first_in(Resource::UsdMicros), Some(8_000_000), "of a larger limit it is asked again");
    budget.settle(&call(2), dollars(2));
    assert_eq!(budget.overdrawn(), None, "what is reserved can be used to the last");
    budget.settle(&call(3), Amounts { usd_micros: 1, ..Amounts::NONE });
    assert_eq!(budget.overdrawn(), Some(Resource::UsdMicros));
}

#[test]
fn c12_a_part_is_limited_wherever_the_whole_is() {
    let whole = Ceiling { usd_micros: Some(5), tokens: Some(5), ..Ceiling::default() };
    let part = Ceiling { usd_micros: Some(1), ..Ceiling::default() };
    assert_eq!(part.unlimited_beside(&whole), Some(Resource::Tokens));
    assert_eq!(whole.unlimited_beside(&part), None);
}

#[test]
fn purposes_survive_print_and_parse_and_have_one_spelling() {
    for text in ["act_0000000000000000000000000192f0c1", "run_0000000000000000000000000192f0c1", "llm-1.a_b"] {
        assert_eq!(text.parse::<Purpose>().unwrap().to_string(), text);
    }
    for text in ["", "a b", "é", "x/y", &"x".repeat(65)] {
        assert!(text.parse::<Purpose>().is_err(), "{text:?}");
    }
    assert!(matches!("act_1".parse(), Ok(Purpose::Call(_))), "what is no id is a name");
}

fn amounts() -> impl Strategy<Value = Amounts> {
    let sums = prop_oneof![Just(0), 0..50_u64, Just(u64::MAX)];
    (sums.clone(), sums).prop_map(|(tokens, usd_micros)| Amounts { tokens, usd_micros, ..Amounts::NONE })
}

proptest! {
    /// Whoever settles no more than was held never brings a budget over its limits, in whatever order things happen.
    #[test]
    fn c12_no_order_of_holding_and_settling_overspends(steps in prop::collection::vec((0..8_usize, amounts(), any::<bool>()), 0..200)) {
        let ceiling = Ceiling { tokens: Some(100), usd_micros: Some(70), ..Ceiling::default() };
        let mut budget = Budget::new(ceiling, 80);
        for (number, asked, settles) in steps {
            let purpose = call(number);
            match budget.held_for(&purpose) {
                Some(held) if settles => budget.settle(&purpose, Amounts { tokens: held.tokens.min(asked.tokens), usd_micros: held.usd_micros.min(asked.usd_micros), ..Amounts::NONE }),
                _ => if budget.permits(&purpose, asked).is_ok() { budget.hold(purpose, asked); },
            }
            prop_assert!(budget.committed().tokens <= 100 && budget.committed().usd_micros <= 70);
        }
    }
}
