//! What is held for the calls of one run: parts of its budget, each under a name of its own, drawn from in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use placet_domain::budget::{Amounts, Ceiling, Purpose};
use placet_domain::id::RunId;
use placet_llm::purse::{Allotment, Draw};
use tokio::sync::Notify;

/// What every name of a part begins with, so that what a crash left held is found again.
const PREFIX: &str = "model-";

/// Whether an amount is held for calls of models.
pub(super) fn is_for_models(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Call(name) if name.starts_with(PREFIX))
}

pub(super) fn new_purpose(unique: &str) -> Purpose {
    Purpose::Call(format!("{PREFIX}{unique}"))
}

#[derive(Debug)]
pub(super) struct Account {
    run: RunId,
    parts: Mutex<Vec<Part>>,
    pace: Mutex<Pace>,
    /// How long the ledger took to hold the last part.
    took_ms: AtomicU64,
    /// One at a time asks the ledger for more.
    pub(super) asking: Arc<tokio::sync::Mutex<()>>,
    /// How many calls are over, and how many of them are in the ledger.
    over: AtomicU64,
    recorded: AtomicU64,
    /// Told each time calls got into the ledger.
    recording: Notify,
}

#[derive(Debug)]
struct Part {
    purpose: Purpose,
    allotment: Arc<Allotment>,
    used_at: Instant,
    /// Calls that are over and not in the ledger yet.
    queued: usize,
    /// What the ledger knows of.
    recorded: Amounts,
}

impl Part {
    /// Nothing that was drawn from it is still to be settled, and everything that was settled is recorded.
    fn is_idle(&self, for_at_least: Duration) -> bool {
        self.allotment.held().is_none() && self.queued == 0 && self.used_at.elapsed() >= for_at_least
    }

    /// Spent without a record: a call that was lost on its way counts as its worst case.
    fn lost(&self) -> Amounts {
        self.allotment.spent().less(self.recorded)
    }
}

/// How fast a run calls: calls since a moment, and in the second before it.
#[derive(Debug, Default)]
struct Pace {
    since: Option<Instant>,
    calls: u64,
    before: u64,
}

impl Pace {
    fn count(&mut self, now: Instant) -> u64 {
        const SECOND: Duration = Duration::from_secs(1);
        match self.since.map(|since| now.duration_since(since)) {
            Some(passed) if passed < SECOND => {}
            Some(passed) if passed < 2 * SECOND => (self.since, self.before, self.calls) = (Some(now), self.calls, 0),
            Some(_) | None => (self.since, self.before, self.calls) = (Some(now), 0, 0),
        }
        self.calls += 1;
        self.calls.max(self.before)
    }
}

/// A part that nobody uses any more.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) purpose: Purpose,
    pub(super) spent: Amounts,
}

impl Account {
    pub(super) fn new(run: RunId) -> Self {
        let (parts, pace, took_ms) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        let (over, recorded, recording) = (AtomicU64::new(0), AtomicU64::new(0), Notify::new());
        Self { run, parts, pace, took_ms, asking: Arc::default(), over, recorded, recording }
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From the first part that covers it.
    pub(super) fn draw(&self, worst: Amounts) -> Option<Draw> {
        let mut parts = self.parts();
        parts.iter_mut().find_map(|part| {
            let draw = part.allotment.draw(worst).ok()?;
            part.used_at = Instant::now();
            Some(draw.from(part.purpose.to_string()))
        })
    }

    /// Counts a call, and tells about how many there were in a second lately.
    pub(super) fn pace(&self) -> u64 {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).count(Instant::now())
    }

    /// How long the next part is likely to take.
    pub(super) fn took_ms(&self) -> u64 {
        self.took_ms.load(Ordering::Relaxed)
    }

    /// How many calls like this one could be drawn without asking for more.
    pub(super) fn covers(&self, worst: Amounts) -> u64 {
        let in_it = |left: u64, one: u64| left.checked_div(one).unwrap_or(u64::MAX);
        let of = |part: &Part| {
            let left = part.allotment.left();
            in_it(left.tokens, worst.tokens).min(in_it(left.usd_micros, worst.usd_micros))
        };
        self.parts().iter().map(of).fold(0, u64::saturating_add)
    }

    /// Takes in what was just held.
    pub(super) fn add(&self, purpose: Purpose, amounts: Amounts, took: Duration) {
        self.took_ms.store(u64::try_from(took.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let ceiling =
            Ceiling { tokens: Some(amounts.tokens), usd_micros: Some(amounts.usd_micros), ..Ceiling::default() };
        let allotment = Allotment::new(self.run, ceiling);
        let (used_at, queued, recorded) = (Instant::now(), 0, Amounts::NONE);
        self.parts().push(Part { purpose, allotment, used_at, queued, recorded });
    }

    fn change(&self, purpose: &str, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.parts().iter_mut().find(|part| part.purpose.to_string() == purpose) {
            change(part);
        }
    }

    /// A call that was drawn from this part is over, and on its way into the ledger.
    pub(super) fn queue(&self, purpose: &str) {
        self.change(purpose, |part| part.queued += 1);
        self.over.fetch_add(1, Ordering::Relaxed);
    }

    /// So many calls are in the ledger, with what they took.
    pub(super) fn record(&self, purpose: &str, calls: usize, spent: Amounts) {
        self.change(purpose, |part| {
            part.queued = part.queued.saturating_sub(calls);
            part.recorded = part.recorded.plus(spent);
        });
        self.recorded.fetch_add(calls as u64, Ordering::Relaxed);
        self.recording.notify_waiters();
    }

    /// How many calls are over.
    pub(super) fn over(&self) -> u64 {
        self.over.load(Ordering::Relaxed)
    }

    /// How many of these are not in the ledger yet.
    pub(super) fn behind(&self, over: u64) -> u64 {
        over.saturating_sub(self.recorded.load(Ordering::Relaxed))
    }

    /// Returns when these are in the ledger. Those that end later do not matter: a run that calls all the time always has some.
    pub(super) async fn recorded(&self, over: u64) {
        loop {
            let more = self.recording.notified();
            if self.behind(over) == 0 {
                return;
            }
            more.await;
        }
    }

    /// The most that one call could have without asking for more.
    pub(super) fn left(&self) -> Amounts {
        let parts = self.parts();
        parts
            .iter()
            .map(|part| part.allotment.left())
            .max_by_key(|left| (left.tokens, left.usd_micros))
            .unwrap_or_default()
    }

    /// Takes out the parts that nobody has used for so long: what is left of them goes back.
    pub(super) fn take_idle(&self, for_at_least: Duration) -> Vec<Rest> {
        let mut parts = self.parts();
        let idle = parts.extract_if(.., |part| part.is_idle(for_at_least));
        idle.map(|part| Rest { spent: part.lost(), purpose: part.purpose }).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_of_a_run_follows_its_calls_and_is_forgotten_when_it_stops() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let at = |ms: u64| start + Duration::from_millis(ms);
        assert_eq!((0..200).map(|call| pace.count(at(call * 5))).last(), Some(200));
        assert_eq!(pace.count(at(1_001)), 200, "the last second counts until this one has more");
        assert_eq!(pace.count(at(60_000)), 1);
    }

    #[test]
    fn what_parts_cover_is_counted_by_what_is_short() {
        let account = Account::new(RunId::from_bytes([1; 16]));
        let amounts = |tokens, usd_micros| Amounts { tokens, usd_micros, ..Amounts::NONE };
        account.add(new_purpose("a"), amounts(1_000, 45), Duration::ZERO);
        account.add(new_purpose("b"), amounts(1_000, u64::MAX), Duration::from_millis(7));
        assert_eq!(account.took_ms(), 7);
        assert_eq!(account.covers(amounts(100, 10)), 4 + 10);
        assert_eq!(account.covers(amounts(600, 10)), 2, "two halves are no whole");
        let _draw = account.draw(amounts(500, 40)).unwrap();
        assert_eq!(account.covers(amounts(100, 10)), 10);
    }

    #[tokio::test]
    async fn c12_calls_that_end_later_keep_nobody_waiting_for_those_before_to_be_recorded() {
        let account = Account::new(RunId::from_bytes([1; 16]));
        let purpose = new_purpose("a");
        account.add(purpose.clone(), Amounts { usd_micros: 100, ..Amounts::NONE }, Duration::ZERO);
        let queue = || account.queue(&purpose.to_string());
        queue();
        let over = account.over();
        let recorded = async {
            tokio::task::yield_now().await;
            queue();
            account.record(&purpose.to_string(), 1, Amounts::NONE);
        };
        tokio::join!(account.recorded(over), recorded);
        assert_eq!((account.behind(over), account.behind(account.over())), (0, 1));
    }
}
