//! Who did not take a message, and when each of them is tried again. Pure: it is told what time it is.
//!
//! By recipient: one mailbox that is full holds up no other.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::webhook::Backoff;

/// Those who could not be told.
pub(crate) struct Retries {
    backoff: Backoff,
    failing: BTreeMap<String, Failing>,
}

struct Failing {
    /// In a row.
    failures: u32,
    next_try: Instant,
}

impl Retries {
    pub(crate) const fn new(backoff: Backoff) -> Self {
        Self { backoff, failing: BTreeMap::new() }
    }

    pub(crate) fn failures(&self, to: &str) -> u32 {
        self.failing.get(to).map_or(0, |failing| failing.failures)
    }

    /// Whether they are left alone for now.
    pub(crate) fn rests(&self, to: &str, now: Instant) -> bool {
        self.failing.get(to).is_some_and(|failing| failing.next_try > now)
    }

    pub(crate) fn failed(&mut self, to: &str, now: Instant) {
        let failures = self.failures(to).saturating_add(1);
        let next_try = now + self.backoff.after(failures);
        self.failing.insert(to.to_owned(), Failing { failures, next_try });
    }

    pub(crate) fn worked(&mut self, to: &str) {
        self.failing.remove(to);
    }

    /// How long it is until somebody else is to be tried again.
    pub(crate) fn next_in(&self, now: Instant) -> Option<Duration> {
        let waits = self.failing.values().filter(|failing| failing.next_try > now);
        waits.map(|failing| failing.next_try - now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b12_one_mailbox_that_fails_rests_alone_and_longer_each_time() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut retries = Retries::new(Backoff { first_ms: 1_000, most_ms: 300_000 });
        let (full, good) = ("full", "good");
        retries.failed(full, now);
        assert!(retries.rests(full, now) && !retries.rests(good, now));
        assert_eq!(retries.next_in(now), Some(second));
        assert!(!retries.rests(full, now + second));
        assert_eq!(retries.next_in(now + second), None, "it is now");
        retries.failed(full, now);
        assert_eq!((retries.next_in(now), retries.failures(full)), (Some(2 * second), 2));
        retries.worked(full);
        assert_eq!((retries.next_in(now), retries.failures(full)), (None, 0));
    }
}
