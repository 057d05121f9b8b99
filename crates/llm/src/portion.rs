//! PORTION: the memory that all callers have together and nobody may take alone: bodies of requests, and what was said in open calls.
//!
//! Nobody waits here. Who finds nothing left is told so at once: a queue would be one more thing that can be filled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::RunId;

/// One run has at most this part of everything, so that one hostile agent does not shut out the others.
const RUNS: u64 = 4;
/// Of its part, and of everything, so much at most is for words: they are held for as long as an answer lasts, and must not keep out
/// requests, which nobody can do without.
const FOR_WORDS: u64 = 2;

/// So much of something for everybody, and a part of it for each run.
#[derive(Debug)]
pub(crate) struct Whole {
    most: Taken,
    most_each: Taken,
    taken: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    sum: Taken,
    by_run: HashMap<RunId, Taken>,
}

/// What is taken: altogether, and for words alone.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Taken {
    sum: u64,
    words: u64,
}

/// What a portion is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Body,
    Words,
}

/// What one call has of it; it goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Portion {
    whole: Arc<Whole>,
    run: RunId,
    of: Use,
    amount: u64,
}

impl Taken {
    /// Whatever is kept of words, the largest body still fits.
    fn most(sum: u64, largest: u64) -> Self {
        Self { sum, words: (sum / FOR_WORDS).min(sum.saturating_sub(largest)) }
    }

    const fn of(of: Use, amount: u64) -> Self {
        let words = match of {
            Use::Body => 0,
            Use::Words => amount,
        };
        Self { sum: amount, words }
    }

    const fn plus(self, more: Self) -> Self {
        Self { sum: self.sum.saturating_add(more.sum), words: self.words.saturating_add(more.words) }
    }

    const fn less(self, other: Self) -> Self {
        Self { sum: self.sum.saturating_sub(other.sum), words: self.words.saturating_sub(other.words) }
    }

    /// Where nothing is wanted for words, what they have does not matter.
    const fn leaves(self, most: Self, wanted: Self) -> bool {
        self.sum <= most.sum && (wanted.words == 0 || self.words <= most.words)
    }
}

impl Whole {
    /// A run has a quarter of it, or `least` where that is more: what a single call may need.
    pub(crate) fn new(most: u64, least: u64) -> Arc<Self> {
        let each = (most / RUNS).max(least).min(most);
        let [most, most_each] = [most, each].map(|sum| Taken::most(sum, least));
        Arc::new(Self { most, most_each, taken: Mutex::default() })
    }

    /// Whether a run finds any room for words: none, where the largest request may take all that it has.
    pub(crate) const fn has_room_for_words(&self) -> bool {
        self.most_each.words > 0
    }

    fn taken(&self) -> MutexGuard<'_, All> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, taken: &All, run: RunId, wanted: Taken) -> bool {
        let of_run = taken.by_run.get(&run).copied().unwrap_or_default();
        taken.sum.plus(wanted).leaves(self.most, wanted) && of_run.plus(wanted).leaves(self.most_each, wanted)
    }

    /// Whether a body of this size could be taken in now. Somebody else may be faster.
    pub(crate) fn has_room(&self, run: RunId, amount: u64) -> bool {
        self.fits(&self.taken(), run, Taken::of(Use::Body, amount))
    }

    /// Nothing of it yet.
    pub(crate) fn portion(self: &Arc<Self>, run: RunId, of: Use) -> Portion {
        Portion { whole: Arc::clone(self), run, of, amount: 0 }
    }
}

impl Portion {
    /// One more of the same run for the same, with nothing in it yet.
    pub(crate) fn another(&self) -> Self {
        self.whole.portion(self.run, self.of)
    }

    /// Takes more, all of it or nothing.
    pub(crate) fn grow(&mut self, more: u64) -> bool {
        let mut taken = self.whole.taken();
        let wanted = Taken::of(self.of, more);
        let fits = self.whole.fits(&taken, self.run, wanted);
        if fits {
            taken.sum = taken.sum.plus(wanted);
            let of_run = taken.by_run.entry(self.run).or_default();
            *of_run = of_run.plus(wanted);
            self.amount += more;
        }
        fits
    }
}

impl Drop for Portion {
    fn drop(&mut self) {
        let mut taken = self.whole.taken();
        let back = Taken::of(self.of, self.amount);
        taken.sum = taken.sum.less(back);
        let left = taken.by_run.get(&self.run).copied().unwrap_or_default().less(back);
        if left.sum == 0 {
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

    fn taking(whole: &Arc<Whole>, number: u8, of: Use, amount: u64) -> Option<Portion> {
        let mut portion = whole.portion(run(number), of);
        portion.grow(amount).then_some(portion)
    }

    #[test]
    fn one_run_has_a_quarter_and_all_together_have_all() {
        let whole = Whole::new(100, 1);
        let body = |number, amount| taking(&whole, number, Use::Body, amount);
        let first = body(1, 25).unwrap();
        assert!(body(1, 1).is_none() && !whole.has_room(run(1), 1));
        let others: Vec<Portion> = (2..5).map(|number| body(number, 25).unwrap()).collect();
        assert!(body(9, 1).is_none(), "nothing is left of the whole");
        drop(first);
        assert!(body(9, 25).is_some());
        drop(others);
        assert!(whole.taken().by_run.is_empty(), "nobody is remembered who has nothing");
    }

    #[test]
    fn what_one_call_may_need_is_there_for_each_run() {
        let whole = Whole::new(100, 60);
        let mut portion = taking(&whole, 1, Use::Body, 20).unwrap();
        assert!(portion.grow(40) && !portion.grow(1));
        assert!(taking(&Whole::new(0, 1), 1, Use::Body, 1).is_none(), "of nothing nobody has a part");
    }

    #[test]
    fn c12_words_take_half_of_it_and_requests_have_the_rest_however_long_answers_last() {
        let whole = Whole::new(160, 1);
        let held: Vec<Portion> = (1..5).map(|number| taking(&whole, number, Use::Words, 20).unwrap()).collect();
        assert!(taking(&whole, 1, Use::Words, 1).is_none(), "half of the part of a run");
        assert!(taking(&whole, 9, Use::Words, 1).is_none(), "half of everything");
        let bodies: Vec<Portion> = (1..5).map(|number| taking(&whole, number, Use::Body, 20).unwrap()).collect();
        assert!(taking(&whole, 9, Use::Body, 1).is_none(), "both together are bounded");
        drop(held);
        assert!(taking(&whole, 9, Use::Words, 20).is_some() && taking(&whole, 9, Use::Body, 40).is_some());
        drop(bodies);
        assert!(whole.taken().by_run.is_empty());
    }

    #[test]
    fn c12_where_the_largest_request_may_take_everything_of_a_run_there_is_no_room_for_words() {
        // A quarter is 100.
        assert!(Whole::new(400, 99).has_room_for_words() && !Whole::new(400, 100).has_room_for_words());
        assert!(taking(&Whole::new(400, 100), 1, Use::Words, 1).is_none());
    }

    proptest! {
        /// Whatever is taken, grown and given back, in whatever order: never more than there is, and in the end nothing is missing.
        #[test]
        fn no_order_of_calls_takes_more_than_there_is(
            calls in prop::collection::vec((0u8..4, any::<bool>(), 0u64..40, 0u64..40, any::<bool>()), 1..80)
        ) {
            let whole = Whole::new(100, 30);
            let mut open: Vec<Portion> = Vec::new();
            for (number, is_words, amount, more, ends) in calls {
                let of = if is_words { Use::Words } else { Use::Body };
                if let Some(mut portion) = taking(&whole, number, of, amount) {
                    portion.grow(more);
                    open.push(portion);
                }
                if ends && !open.is_empty() {
                    open.remove(0);
                }
                let sum = |of: &[Use]| -> u64 { open.iter().filter(|it| of.contains(&it.of)).map(|it| it.amount).sum() };
                let (all, words) = (sum(&[Use::Body, Use::Words]), sum(&[Use::Words]));
                prop_assert_eq!(whole.taken().sum, Taken { sum: all, words });
                prop_assert!(all <= 100 && words <= 50);
                prop_assert!(whole.taken().by_run.values().all(|of_run| of_run.sum <= 30 && of_run.words <= 15));
            }
            drop(open);
            prop_assert_eq!(whole.taken().sum, Taken::default());
        }
    }
}
