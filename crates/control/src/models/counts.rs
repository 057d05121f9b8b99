//! Calls that are counted instead of being recorded one by one. An agent that is refused, or whose calls cost nothing, can call thousands of
//! times a second; no budget ends that, so the ledger has to be spared.
//!
//! Of each kind of refusal a run has an entry within a second or two of the first, and one more with the rest when its minute is over. Calls that
//! were answered and took nothing have an entry each, so many a minute; what is beyond is counted in the same way. What was counted
//! and not written yet is lost in a crash, and nothing else: no money is in it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::run::{CallCount, CallOutcome, ModelCall};

const MINUTE: Duration = Duration::from_secs(60);
/// Calls of one run in a minute that took nothing and are recorded one by one: more than any agent that was seen makes when it counts
/// tokens before each question, and little enough for years of entries.
const MOST_FREE: u32 = 60;
/// Of what the first call was told, so many characters are kept.
const MOST_SAID: usize = 240;

type Key = (RunId, CallOutcome, &'static str);

#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    counting: HashMap<Key, Counting>,
    /// How many of a run's calls that took nothing have an entry each, since when.
    free: HashMap<RunId, (Instant, u32)>,
}

/// Calls of one kind in one minute.
#[derive(Debug)]
struct Counting {
    since: Instant,
    /// Whether there is an entry already that tells of the first ones.
    told: bool,
    untold: Option<Untold>,
}

/// Calls that no entry tells of.
#[derive(Debug)]
struct Untold {
    calls: u64,
    first: Instant,
    last: Instant,
    said: Option<String>,
    digest: Option<Digest>,
}

impl Counts {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that was refused before it was sent.
    pub(super) fn refused(&self, run: RunId, reason: &'static str, said: &str) {
        self.open().add((run, CallOutcome::Refused, reason), Instant::now(), |untold| {
            untold.said.get_or_insert_with(|| said.chars().take(MOST_SAID).collect());
        });
    }

    /// Whether a call that is over is counted here, and has no entry of its own.
    pub(super) fn takes(&self, run: RunId, call: &ModelCall) -> bool {
        self.takes_at(run, call, Instant::now())
    }

    fn takes_at(&self, run: RunId, call: &ModelCall, now: Instant) -> bool {
        if !call.spent().is_none() || call.estimated {
            return false;
        }
        let mut open = self.open();
        let (since, count) = open.free.entry(run).or_insert((now, 0));
        if now.duration_since(*since) >= MINUTE {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        if *count <= MOST_FREE {
            return false;
        }
        let reason = if call.status < 400 { "free" } else { "failed" };
        open.add((run, CallOutcome::Answered, reason), now, |untold| untold.chain(call));
        true
    }

    /// What is to be written now: the first of each kind, and the rest of those whose minute is over; or all of it.
    pub(super) fn due(&self, all: bool) -> Vec<(RunId, CallCount)> {
        self.due_at(Instant::now(), all)
    }

    fn due_at(&self, now: Instant, all: bool) -> Vec<(RunId, CallCount)> {
        let mut open = self.open();
        let mut due = Vec::new();
        for ((run, outcome, reason), counting) in &mut open.counting {
            let is_over = now.duration_since(counting.since) >= MINUTE;
            if (all || !counting.told || is_over)
                && let Some(untold) = counting.untold.take()
            {
                counting.told = true;
                due.push((*run, untold.into_count(*outcome, reason)));
            }
        }
        open.counting.retain(|_, counting| now.duration_since(counting.since) < MINUTE);
        open.free.retain(|_, (since, _)| now.duration_since(*since) < MINUTE);
        due
    }
}

impl Open {
    fn add(&mut self, key: Key, now: Instant, also: impl FnOnce(&mut Untold)) {
        let counting = self.counting.entry(key).or_insert(Counting { since: now, told: false, untold: None });
        let untold =
            counting.untold.get_or_insert(Untold { calls: 0, first: now, last: now, said: None, digest: None });
        (untold.calls, untold.last) = (untold.calls.saturating_add(1), now);
        also(untold);
    }
}

impl Untold {
    /// Each digest is of the one before and of what was asked and answered, so that all of them can be told by one.
    fn chain(&mut self, call: &ModelCall) {
        let before = self.digest.map(|digest| digest.to_hex()).unwrap_or_default();
        let line = format!("{before} {} {} {} {}", call.id, call.request.to_hex(), call.response.to_hex(), call.status);
        self.digest = Some(Digest::of(line.as_bytes()));
    }

    fn into_count(self, outcome: CallOutcome, reason: &str) -> CallCount {
        let within_ms = u64::try_from(self.last.duration_since(self.first).as_millis()).unwrap_or(u64::MAX);
        let (reason, calls, said, digest) = (reason.to_owned(), self.calls, self.said, self.digest);
        CallCount { outcome, reason, calls, within_ms, said, digest }
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::run::ModelTokens;

    use super::*;

    fn run() -> RunId {
        RunId::from_bytes([1; 16])
    }

    fn call(status: u16, usd_micros: u64) -> ModelCall {
        ModelCall {
            id: "call_1".to_owned(),
            wire: "messages".to_owned(),
            upstream: "lab".to_owned(),
            model_asked: "m".to_owned(),
            model_answered: None,
            other_model: false,
            upstream_request: None,
            request: Digest::of(b"question"),
            response: Digest::of(b"answer"),
            tokens: ModelTokens::default(),
            usd_micros,
            prices: "free".to_owned(),
            estimated: false,
            status,
            failed: false,
            latency_ms: 1,
            first_byte_ms: None,
            words: None,
        }
    }

    #[test]
    fn b10_refusals_are_told_at_once_and_then_once_a_minute_with_their_number() {
        let counts = Counts::default();
        counts.refused(run(), "forbidden", "not this model");
        let first = counts.due(false);
        assert_eq!((first.len(), first[0].1.calls, first[0].1.said.as_deref()), (1, 1, Some("not this model")));
        for _ in 0..10_000 {
            counts.refused(run(), "forbidden", &"x".repeat(10_000));
            counts.refused(run(), "budget", "nothing left");
        }
        let second = counts.due(false);
        assert_eq!((second.len(), second[0].1.reason.as_str(), second[0].1.calls), (1, "budget", 10_000));
        let minute_later = Instant::now() + MINUTE;
        let rest = counts.due_at(minute_later, false);
        assert_eq!((rest.len(), rest[0].1.calls), (1, 10_000), "no refusal is missing");
        assert_eq!(rest[0].1.said.as_ref().map(String::len), Some(MOST_SAID));
        assert!(counts.due_at(minute_later, true).is_empty() && counts.open().counting.is_empty());
    }

    #[test]
    fn c12_calls_that_take_nothing_have_an_entry_each_up_to_so_many_a_minute() {
        let (counts, now) = (Counts::default(), Instant::now());
        let taken = |call: &ModelCall, at| counts.takes_at(run(), call, at);
        let own = (0..1_000).filter(|_| !taken(&call(200, 0), now)).count();
        assert_eq!(own, MOST_FREE as usize);
        assert!(!taken(&call(200, 1), now), "what is paid for has its own");
        assert!(!taken(&ModelCall { estimated: true, ..call(504, 0) }, now), "so has what was estimated");
        assert!(taken(&call(400, 0), now));
        let mut due = counts.due(false);
        due.sort_by(|one, other| one.1.reason.cmp(&other.1.reason));
        let told: Vec<_> = due.iter().map(|(_, count)| (count.reason.as_str(), count.calls)).collect();
        assert_eq!(told, [("failed", 1), ("free", 1_000 - u64::from(MOST_FREE))]);
        assert!(due.iter().all(|(_, count)| count.digest.is_some()));
        assert!(!taken(&call(200, 0), now + MINUTE), "the next minute has its own");
    }
}
