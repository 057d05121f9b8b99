//! A part of a run's budget, drawn from in memory by many calls at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::budget::{Amounts, Ceiling};
use placet_domain::id::RunId;

use super::{Draw, NotDrawn};

/// Tokens and money that one run may use up here. What is left out of its ceiling is not limited.
#[derive(Debug)]
pub struct Allotment {
    run: RunId,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    ceiling: Ceiling,
    held: Amounts,
    spent: Amounts,
}

impl State {
    /// What is neither spent nor held; without end where nothing is limited.
    fn left(&self) -> Amounts {
        let used = self.held.plus(self.spent);
        let of = |limit: Option<u64>, used: u64| limit.map_or(u64::MAX, |limit| limit.saturating_sub(used));
        Amounts {
            tokens: of(self.ceiling.tokens, used.tokens),
            usd_micros: of(self.ceiling.usd_micros, used.usd_micros),
            ..Amounts::NONE
        }
    }
}

impl Allotment {
    pub fn new(run: RunId, ceiling: Ceiling) -> Arc<Self> {
        Arc::new(Self { run, state: Mutex::new(State { ceiling, held: Amounts::NONE, spent: Amounts::NONE }) })
    }

    /// Check and hold are one step under one lock, so no two draws see the same amount as free.
    pub fn draw(self: &Arc<Self>, worst: Amounts) -> Result<Draw, NotDrawn> {
        let mut state = self.state();
        let left = state.left();
        if worst.tokens > left.tokens || worst.usd_micros > left.usd_micros {
            return Err(NotDrawn::Exhausted { left });
        }
        state.held = state.held.plus(worst);
        drop(state);
        let allotment = Arc::clone(self);
        Ok(Draw::new(self.run, worst, move |spent| allotment.settle(worst, spent)))
    }

    /// Adds to what may be used: the next part of the run's budget.
    pub fn add(&self, more: Amounts) {
        let mut state = self.state();
        let sum = |limit: Option<u64>, more: u64| limit.map(|limit| limit.saturating_add(more));
        state.ceiling.tokens = sum(state.ceiling.tokens, more.tokens);
        state.ceiling.usd_micros = sum(state.ceiling.usd_micros, more.usd_micros);
    }

    pub fn left(&self) -> Amounts {
        self.state().left()
    }

    pub fn spent(&self) -> Amounts {
        self.state().spent
    }

    pub fn held(&self) -> Amounts {
        self.state().held
    }

    fn settle(&self, worst: Amounts, spent: Amounts) {
        let mut state = self.state();
        state.held = state.held.less(worst);
        state.spent = state.spent.plus(spent);
    }

    /// No code that can panic runs under the lock, so a poisoned one holds whole numbers.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amounts(tokens: u64, usd_micros: u64) -> Amounts {
        Amounts { tokens, usd_micros, ..Amounts::NONE }
    }

    fn allotment(tokens: u64, usd_micros: u64) -> Arc<Allotment> {
        let ceiling = Ceiling { tokens: Some(tokens), usd_micros: Some(usd_micros), ..Ceiling::default() };
        Allotment::new(RunId::from_bytes([7; 16]), ceiling)
    }

    #[test]
    fn what_is_not_used_goes_back() {
        let purse = allotment(100, 1_000);
        purse.draw(amounts(60, 900)).unwrap().spend(amounts(10, 100));
        assert_eq!(purse.left(), amounts(90, 900));
        assert_eq!(purse.held(), Amounts::NONE);
    }

    #[test]
    fn a_forgotten_draw_is_spent_in_full() {
        let purse = allotment(100, 1_000);
        drop(purse.draw(amounts(60, 900)).unwrap());
        assert_eq!(purse.spent(), amounts(60, 900));
    }

    #[test]
    fn tokens_and_money_are_limits_of_their_own() {
        let purse = allotment(100, 1_000);
        let left = amounts(100, 1_000);
        assert_eq!(purse.draw(amounts(101, 0)).unwrap_err(), NotDrawn::Exhausted { left });
        assert_eq!(purse.draw(amounts(0, 1_001)).unwrap_err(), NotDrawn::Exhausted { left });
        purse.add(amounts(1, 0));
        purse.draw(amounts(101, 0)).unwrap().spend(Amounts::NONE);
    }

    #[test]
    fn what_a_model_used_beyond_the_worst_case_is_counted_too() {
        let purse = allotment(100, 1_000);
        purse.draw(amounts(50, 500)).unwrap().spend(amounts(150, 500));
        assert_eq!(purse.left().tokens, 0);
        assert_eq!(purse.spent().tokens, 150);
    }

    #[test]
    fn r30_a_thousand_calls_at_once_against_a_budget_for_ten() {
        let purse = allotment(1_000, 10_000);
        let start = std::sync::Barrier::new(50);
        let drawn: usize = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..50).map(|_| scope.spawn(|| twenty_draws(&purse, &start))).collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).sum()
        });
        assert_eq!(drawn, 10);
        assert_eq!(purse.spent(), amounts(1_000, 10_000));
    }

    fn twenty_draws(purse: &Arc<Allotment>, start: &std::sync::Barrier) -> usize {
        start.wait();
        (0..20).filter_map(|_| purse.draw(amounts(100, 1_000)).ok()).map(|draw| draw.spend(amounts(100, 1_000))).count()
    }

    proptest! {
        /// Whatever is drawn, settled, forgotten or kept, in whatever order: spent and held together stay within the limit, as
        /// long as nobody uses more than was drawn.
        #[test]
        fn r30_no_order_of_calls_overspends(calls in prop::collection::vec((0u64..60, 0u64..600, 0u8..101, 0u8..3), 1..60)) {
            let purse = allotment(200, 2_000);
            let mut open = Vec::new();
            for (tokens, usd_micros, percent, how) in calls {
                if let Ok(draw) = purse.draw(amounts(tokens, usd_micros)) {
                    let part = |n: u64| n * u64::from(percent) / 100;
                    match how {
                        0 => draw.spend(amounts(part(tokens), part(usd_micros))),
                        1 => drop(draw),
                        _ => open.push(draw),
                    }
                }
                let used = purse.spent().plus(purse.held());
                prop_assert!(used.tokens <= 200 && used.usd_micros <= 2_000);
            }
            let before = purse.spent().plus(purse.held());
            drop(open);
            prop_assert_eq!(purse.spent(), before);
            prop_assert_eq!(purse.held(), Amounts::NONE);
        }
    }
}
