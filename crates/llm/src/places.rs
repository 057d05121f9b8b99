//! PLACES: how many answers are read to their ends whose agents hung up, and whose.
//!
//! One run has a quarter of the places at most. Where none is free, whoever has fewest gets one from whoever has most, so that any number of
//! agents that hang up on everything leaves to each run as many as to any other. An answer that loses its place is hung up on, and counts as
//! the longest that it may have been: who takes many places pays for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::RunId;
use tokio::sync::watch;

/// One run has at most this part of the places.
const RUNS: u64 = 4;

/// All places.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_each: usize,
    held: Mutex<Held>,
}

/// Those that are taken, of each run in the order in which they were taken.
#[derive(Debug, Default)]
struct Held {
    by_run: HashMap<RunId, Vec<Taken>>,
    next: u64,
}

#[derive(Debug)]
struct Taken {
    number: u64,
    /// Dropped when the place is lost.
    _keeps: watch::Sender<()>,
}

/// A place for one answer; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    run: RunId,
    number: u64,
    lost: watch::Receiver<()>,
}

impl Places {
    /// Where there is any, each run can have one.
    pub(crate) fn new(most: u64) -> Arc<Self> {
        let number = |places: u64| usize::try_from(places).unwrap_or(usize::MAX);
        let most_each = number((most / RUNS).max(1).min(most));
        Arc::new(Self { most: number(most), most_each, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place of the run's own, if it has not too many already and one is free, or somebody else has at least two more.
    pub(crate) fn take(self: &Arc<Self>, run: RunId) -> Option<Place> {
        let mut held = self.held();
        let own = held.of(run);
        if own >= self.most_each || (held.count() >= self.most && !held.take_from_richest(own + 2)) {
            return None;
        }
        let (keeps, lost) = watch::channel(());
        let number = held.next;
        held.next += 1;
        held.by_run.entry(run).or_default().push(Taken { number, _keeps: keeps });
        Some(Place { places: Arc::clone(self), run, number, lost })
    }
}

impl Held {
    fn of(&self, run: RunId) -> usize {
        self.by_run.get(&run).map_or(0, Vec::len)
    }

    fn count(&self) -> usize {
        self.by_run.values().map(Vec::len).sum()
    }

    /// Takes the newest place of whoever has most, if those are at least so many. The newest has waited least.
    fn take_from_richest(&mut self, at_least: usize) -> bool {
        let rich = self.by_run.iter_mut().filter(|(_, places)| places.len() >= at_least);
        let richest = rich.max_by_key(|(run, places)| (places.len(), **run));
        richest.and_then(|(_, places)| places.pop()).is_some()
    }

    fn give_back(&mut self, run: RunId, number: u64) {
        let Some(places) = self.by_run.get_mut(&run) else { return };
        places.retain(|taken| taken.number != number);
        if places.is_empty() {
            self.by_run.remove(&run);
        }
    }
}

impl Place {
    /// Returns when somebody else got it.
    pub(crate) async fn lost(&mut self) {
        while self.lost.changed().await.is_ok() {}
    }

    /// Whether somebody else got it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.has_changed().is_err()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.held().give_back(self.run, self.number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(number: u8) -> RunId {
        RunId::from_bytes([number; 16])
    }

    /// As many places as a run gets.
    fn fill(places: &Arc<Places>, number: u8) -> Vec<Place> {
        std::iter::from_fn(|| places.take(run(number))).collect()
    }

    fn kept(places: &[Place]) -> usize {
        places.iter().filter(|place| !place.is_lost()).count()
    }

    #[test]
    fn c12_one_run_has_a_quarter_of_the_places_and_what_it_gives_back_is_free() {
        let places = Places::new(256);
        let first = fill(&places, 1);
        assert_eq!((first.len(), kept(&first)), (64, 64));
        drop(first);
        assert_eq!(fill(&places, 1).len(), 64);
        assert!(places.held().by_run.is_empty(), "nobody is remembered who has none");
        assert!(Places::new(0).take(run(1)).is_none(), "of no places nobody has one");
        assert!(Places::new(1).take(run(1)).is_some());
    }

    #[test]
    fn c12_however_many_hostile_runs_there_are_each_other_run_has_as_many_places_as_they() {
        for hostile in [4, 8, 50, 100] {
            let places = Places::new(256);
            let mut taken: Vec<Place> = (1..=hostile).flat_map(|number| fill(&places, number)).collect();
            let honest = fill(&places, 200);
            let share = (256 / (usize::from(hostile) + 1)).min(64);
            assert!(honest.len() >= share, "{hostile}: {} of {share}", honest.len());
            // Those who come back for more take nothing from whoever has as few.
            taken.extend((1..=hostile).flat_map(|number| fill(&places, number)));
            assert!(kept(&honest) >= share, "{hostile}: it keeps them");
            assert_eq!(kept(&taken) + kept(&honest), places.held().count());
            assert!(places.held().count() <= 256);
        }
    }

    #[tokio::test]
    async fn c12_whoever_loses_a_place_is_told() {
        let places = Places::new(8);
        let mut taken: Vec<Place> = (1..=4).flat_map(|number| fill(&places, number)).collect();
        assert_eq!(kept(&taken), 8);
        let _honest = places.take(run(9)).unwrap();
        let lost: Vec<usize> = (0..8).filter(|index| taken[*index].is_lost()).collect();
        assert_eq!(lost, [7], "the newest of one that has most");
        let mut last = taken.pop().unwrap();
        last.lost().await;
        drop(last);
        assert_eq!(places.held().count(), 8, "what was lost is not given back twice");
    }

    proptest! {
        /// In whatever order places are taken and given back: never more than there are, nobody has more than a quarter, and who is
        /// refused has a quarter already, or as many as anybody to within one.
        #[test]
        fn c12_no_order_of_calls_starves_a_run(calls in prop::collection::vec((0u8..12, any::<bool>(), 0usize..64), 1..200)) {
            let places = Places::new(20);
            let mut open = Vec::new();
            for (number, ends, which) in calls {
                match places.take(run(number)) {
                    Some(place) => open.push(place),
                    None => {
                        let held = places.held();
                        let own = held.of(run(number));
                        prop_assert!(own == 5 || held.by_run.values().all(|places| places.len() <= own + 1));
                    }
                }
                if ends && !open.is_empty() {
                    open.swap_remove(which % open.len());
                }
                let alive = kept(&open);
                let held = places.held();
                prop_assert!(held.count() == alive && alive <= 20);
                prop_assert!(held.by_run.values().all(|places| (1..=5).contains(&places.len())));
            }
        }
    }
}
