//! PORTION: what all callers have together and nobody may take alone, counted in memory: bytes of requests, answers that are read on.
//!
//! Nobody waits here. Who finds nothing left is told so at once: a queue would be one more thing that can be filled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::RunId;

/// One run has at most this part of everything, so that one hostile agent does not shut out the others.
const RUNS: u64 = 4;

/// So much of something for everybody, and a part of it for each run.
#[derive(Debug)]
pub(crate) struct Whole {
    most: u64,
    most_each: u64,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    by_run: HashMap<RunId, u64>,
}

/// What one call has of it; it goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Portion {
    whole: Arc<Whole>,
    run: RunId,
    amount: u64,
}

impl Whole {
    /// A run has a quarter of it, or `least` where that is more: what a single call may need.
    pub(crate) fn new(most: u64, least: u64) -> Arc<Self> {
        Arc::new(Self { most, most_each: (most / RUNS).max(least).min(most), taken: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, taken: &Taken, run: RunId, amount: u64) -> bool {
        let of_run = taken.by_run.get(&run).copied().unwrap_or(0);
        amount <= self.most.saturating_sub(taken.all) && amount <= self.most_each.saturating_sub(of_run)
    }

    /// Whether so much could be taken now. Somebody else may be faster.
    pub(crate) fn has_room(&self, run: RunId, amount: u64) -> bool {
        self.fits(&self.taken(), run, amount)
    }

    pub(crate) fn take(self: &Arc<Self>, run: RunId, amount: u64) -> Option<Portion> {
        let mut portion = Portion { whole: Arc::clone(self), run, amount: 0 };
        portion.grow(amount).then_some(portion)
    }
}

impl Portion {
    /// Takes more, all of it or nothing.
    pub(crate) fn grow(&mut self, more: u64) -> bool {
        let mut taken = self.whole.taken();
        let fits = self.whole.fits(&taken, self.run, more);
        if fits {
            taken.all += more;
            *taken.by_run.entry(self.run).or_default() += more;
            self.amount += more;
        }
        fits
    }
}

impl Drop for Portion {
    fn drop(&mut self) {
        let mut taken = self.whole.taken();
        taken.all = taken.all.saturating_sub(self.amount);
        let left = taken.by_run.get(&self.run).copied().unwrap_or(0).saturating_sub(self.amount);
        if left == 0 {
            taken.by_run.remove(&self.run);
        } else {
            taken.by_run.insert(self.run, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(number: u8) -> RunId {
        RunId::from_bytes([number; 16])
    }

    #[test]
    fn one_run_has_a_quarter_and_all_together_have_all() {
        let whole = Whole::new(100, 1);
        let first = whole.take(run(1), 25).unwrap();
        assert!(whole.take(run(1), 1).is_none() && !whole.has_room(run(1), 1));
        let others: Vec<Portion> = (2..5).map(|number| whole.take(run(number), 25).unwrap()).collect();
        assert!(whole.take(run(9), 1).is_none(), "nothing is left of the whole");
        drop(first);
        assert!(whole.take(run(9), 25).is_some());
        drop(others);
        assert!(whole.taken().by_run.is_empty(), "nobody is remembered who has nothing");
    }

    #[test]
    fn what_one_call_may_need_is_there_for_each_run() {
        let whole = Whole::new(100, 60);
        let mut portion = whole.take(run(1), 20).unwrap();
        assert!(portion.grow(40) && !portion.grow(1));
        assert!(Whole::new(0, 1).take(run(1), 1).is_none(), "of nothing nobody has a part");
    }

    proptest! {
        /// Whatever is taken, grown and given back, in whatever order: never more than there is, and in the end nothing is missing.
        #[test]
        fn no_order_of_calls_takes_more_than_there_is(calls in prop::collection::vec((0u8..4, 0u64..40, 0u64..40, any::<bool>()), 1..80)) {
            let whole = Whole::new(100, 30);
            let mut open = Vec::new();
            for (number, amount, more, ends) in calls {
                if let Some(mut portion) = whole.take(run(number), amount) {
                    portion.grow(more);
                    open.push(portion);
                }
                if ends && !open.is_empty() {
                    open.remove(0);
                }
                let sum: u64 = open.iter().map(|portion| portion.amount).sum();
                prop_assert_eq!(whole.taken().all, sum);
                prop_assert!(sum <= 100 && whole.taken().by_run.values().all(|of_run| *of_run <= 30));
            }
            drop(open);
            prop_assert_eq!(whole.taken().all, 0);
        }
    }
}
