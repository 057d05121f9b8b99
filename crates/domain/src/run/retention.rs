//! Which snapshots a run keeps. Their number never keeps a run from going on: where there are too many, the older ones are forgotten,
//! and the ledger says so.
//!
//! The first is always kept, and the newest ones are, and of those between the newest at which a person decided. What a host has
//! on disk is not known here: it forgets what the run does not list any more.

use super::event::RunEvent;
use super::evolve::evolve;
use super::snapshots::{Snapshot, SnapshotEvent};
use super::state::Run;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// However they came about. Lists of snapshots are part of a run's state, which is read with every action.
const NEWEST: usize = 64;
/// Of those before, at which a person decided.
const DECIDED: usize = 128;

/// A new snapshot, and what is forgotten for it.
pub(super) fn with_retention(run: &Run, kept: SnapshotEvent, now: Timestamp) -> Vec<SnapshotEvent> {
    let after = evolve(run.id, Some(run.clone()), &RunEvent::Snapshot(kept.clone()), now);
    let numbers = after.map(|run| superfluous(&run.snapshots.kept, waited_for(&run))).unwrap_or_default();
    let forgotten = (!numbers.is_empty()).then_some(SnapshotEvent::Forgotten { numbers });
    std::iter::once(kept).chain(forgotten).collect()
}

/// The one a person is just asked about.
fn waited_for(run: &Run) -> Option<u32> {
    run.gate.as_ref().and_then(|gate| gate.snapshot)
}

fn superfluous(snapshots: &[Snapshot], waited_for: Option<u32>) -> Vec<u32> {
    let older = snapshots.len().saturating_sub(NEWEST);
    let between = snapshots.get(1..older).unwrap_or_default();
    let decided = between.iter().filter(|snapshot| snapshot.decided).count();
    let mut too_many = decided.saturating_sub(DECIDED);
    let mut is_superfluous = |snapshot: &&Snapshot| {
        if !snapshot.decided {
            return Some(snapshot.number) != waited_for;
        }
        let oldest = too_many > 0;
        too_many = too_many.saturating_sub(1);
        oldest
    };
    between.iter().filter(|snapshot| is_superfluous(snapshot)).map(|snapshot| snapshot.number).collect()
}

impl Run {
    /// Whether it can go back to this snapshot; otherwise, to which it can.
    pub(super) fn is_kept(&self, number: u32) -> Result<(), Refusal> {
        if self.snapshot(number).is_some() {
            return Ok(());
        }
        if number >= self.next_snapshot() {
            return Err(Refusal::Unknown { what: "snapshot" });
        }
        let there = spans(self.snapshots.kept.iter().map(|snapshot| snapshot.number));
        Err(Refusal::invalid(format!("snapshot {number} is no longer kept; there are {there}: choose one of them")))
    }
}

/// Numbers in rising order as a person would say them: `0, 3 and 810 to 1001`.
fn spans(numbers: impl Iterator<Item = u32>) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let mut words =
        spans.iter().map(|&(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") });
    let last = words.next_back().unwrap_or_default();
    let before: Vec<String> = words.collect();
    if before.is_empty() { last } else { format!("{} and {last}", before.join(", ")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::budget::Amounts;
    use crate::digest::Digest;

    fn snapshot(number: u32, decided: bool) -> Snapshot {
        Snapshot {
            number,
            gate: None,
            decided,
            taken_at: Timestamp::from_unix_ms(i64::from(number)),
            workspace: Digest::of(b"files"),
            memory: Digest::of(b"memory"),
            files: 0,
            size_bytes: 0,
            steps_done: 0,
            spent: Amounts::NONE,
        }
    }

    /// What is kept after each of them came, one after the other.
    fn kept(decided: impl Iterator<Item = bool>) -> Vec<Snapshot> {
        let mut there = Vec::new();
        for (number, decided) in (0..).zip(decided) {
            there.push(snapshot(number, decided));
            let forgotten = superfluous(&there, None);
            there.retain(|snapshot| !forgotten.contains(&snapshot.number));
        }
        there
    }

    #[test]
    fn c11_however_many_come_the_first_the_newest_and_those_of_decisions_stay() {
        let there = kept((0..5_000).map(|number| number % 10 == 0));
        assert_eq!(there.len(), 1 + DECIDED + NEWEST);
        assert_eq!(there[0].number, 0);
        assert!(there[1..=DECIDED].iter().all(|snapshot| snapshot.decided));
        let newest: Vec<u32> = there[1 + DECIDED..].iter().map(|snapshot| snapshot.number).collect();
        assert_eq!(newest, (4_936..5_000).collect::<Vec<_>>());
        assert_eq!(kept((0..60).map(|_| false)).len(), 60, "few are all kept");
    }

    #[test]
    fn numbers_that_follow_each_other_are_said_in_one() {
        assert_eq!(spans([0, 3, 4, 5, 9].into_iter()), "0, 3 to 5 and 9");
        assert_eq!(spans([7].into_iter()), "7");
        assert_eq!(spans([0, 1].into_iter()), "0 to 1");
    }

    proptest! {
        #[test]
        fn the_first_and_the_newest_are_never_forgotten(decided in prop::collection::vec(any::<bool>(), 1..600)) {
            let count = decided.len();
            let there = kept(decided.into_iter());
            prop_assert!(there.len() <= 1 + DECIDED + NEWEST);
            prop_assert_eq!(there[0].number, 0);
            let newest = u32::try_from(count.saturating_sub(NEWEST)).unwrap()..u32::try_from(count).unwrap();
            prop_assert!(newest.into_iter().all(|number| there.iter().any(|snapshot| snapshot.number == number)));
        }
    }
}
