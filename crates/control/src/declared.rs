//! How often workers declared something new: entries are for ever, and a worker that says something else each time would fill the ledger.
//! In memory alone: a restart of the control plane begins anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use placet_domain::id::IdentityId;
use placet_domain::time::Timestamp;

/// As often as somebody sets up a machine and starts its worker again.
const MOST: usize = 12;
const WITHIN_MS: i64 = 60 * 60 * 1_000;

#[derive(Debug, Default)]
pub(crate) struct Declared(Mutex<BTreeMap<IdentityId, Vec<Timestamp>>>);

impl Declared {
    /// Whether it may once more; that counts.
    pub(crate) fn may(&self, who: IdentityId, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_lately = |at: &Timestamp| now.unix_ms().saturating_sub(at.unix_ms()) < WITHIN_MS;
        all.retain(|_, times| times.iter().any(is_lately));
        let times = all.entry(who).or_default();
        times.retain(is_lately);
        let may = times.len() < MOST;
        if may {
            times.push(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e8_a_worker_that_says_something_else_each_time_is_not_written_down_for_ever() {
        let (declared, at) = (Declared::default(), Timestamp::from_unix_ms);
        let [one, other] = [1, 2].map(|n| IdentityId::from_bytes([n; 16]));
        assert_eq!((0..100).filter(|n| declared.may(one, at(*n))).count(), MOST);
        assert!(declared.may(other, at(100)), "others are not held back by it");
        assert!(declared.may(one, at(WITHIN_MS)), "the first of them is an hour ago");
        assert!(!declared.may(one, at(WITHIN_MS)));
    }
}
