//! Who did not take a message, and when each of them is tried again. Pure: it is told what time it is.
//!
//! By recipient: one mailbox that is full holds up no other.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Recipient;
use crate::webhook::Backoff;

/// Those who could not be told.
pub(crate) struct Retries {
    backoff: Backoff,
    failing: BTreeMap<Recipient, Failing>,
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

    pub(crate) fn failures(&self, to: &Recipient) -> u32 {
        self.failing.get(to).map_or(0, |failing| failing.failures)
    }

    /// Whether they are left alone for now.
    pub(crate) fn rests(&self, to: &Recipient, now: Instant) -> bool {
        self.failing.get(to).is_some_and(|failing| failing.next_try > now)
    }

    pub(crate) fn failed(&mut self, to: &Recipient, now: Instant) {
        let failures = self.failures(to).saturating_add(1);
        let next_try = now + self.backoff.after(failures);
        self.failing.insert(to.clone(), Failing { failures, next_try });
    }

    pub(crate) fn worked(&mut self, to: &Recipient) {
        self.failing.remove(to);
    }

    /// Forgets those for whom there is nothing any more.
    pub(crate) fn keep(&mut self, is_owed: impl Fn(&Recipient) -> bool) {
        self.failing.retain(|to, _| is_owed(to));
    }

    /// Whether somebody is to be tried again.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.failing.values().any(|failing| failing.next_try <= now)
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

    fn list(name: &str) -> Recipient {
        Recipient::List(format!("{name}@example.org").parse().unwrap())
    }

    #[test]
    fn b12_one_mailbox_that_fails_rests_alone_and_longer_each_time() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut retries = Retries::new(Backoff { first_ms: 1_000, most_ms: 300_000 });
        let (full, good) = (list("full"), list("good"));
        retries.failed(&full, now);
        assert!(retries.rests(&full, now) && !retries.rests(&good, now));
        assert_eq!((retries.next_in(now), retries.is_due(now)), (Some(second), false));
        assert!(!retries.rests(&full, now + second) && retries.is_due(now + second));
        assert_eq!(retries.next_in(now + second), None, "it is now");
        retries.failed(&full, now);
        assert_eq!((retries.next_in(now), retries.failures(&full)), (Some(2 * second), 2));
        retries.worked(&full);
        assert_eq!((retries.next_in(now), retries.failures(&full)), (None, 0));
    }

    #[test]
    fn b12_whoever_is_owed_nothing_is_forgotten() {
        let now = Instant::now();
        let mut retries = Retries::new(Backoff { first_ms: 0, most_ms: 0 });
        retries.failed(&list("full"), now);
        assert!(retries.is_due(now));
        retries.keep(|_| false);
        assert!(!retries.is_due(now));
    }
}
