//! The store's clock: the only one whose time counts. Deadlines and leases of all machines are measured by it.
//!
//! It is read once per transaction; that the ledger never goes backwards, even when this clock does, is the writer's care.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use placet_domain::time::Timestamp;

use crate::error::StoreError;

/// Where the time comes from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's own clock.
    #[default]
    System,
    /// A clock that stands still until it is moved, for tests and simulations.
    Manual(ManualClock),
}

impl Clock {
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::from_unix_ms(system_unix_ms()),
            Self::Manual(clock) => clock.now(),
        }
    }
}

/// A clock in somebody's hand; copies show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(time.unix_ms())))
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::SeqCst))
    }

    /// Moves the clock, forwards or, as a broken clock would, backwards.
    pub fn move_by_ms(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

fn system_unix_ms() -> i64 {
    // A clock before 1970 is broken; the writer's "never backwards" then keeps the ledger in order.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The form of a time in ledger entries: RFC 3339, UTC, milliseconds.
pub(crate) fn in_entries(time: Timestamp) -> Result<String, StoreError> {
    let unix_ms = time.unix_ms();
    let time = jiff::Timestamp::from_millisecond(unix_ms).map_err(|_| StoreError::Clock { unix_ms })?;
    Ok(format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_entries_have_milliseconds_and_end_in_z() {
        let text = |unix_ms| in_entries(Timestamp::from_unix_ms(unix_ms)).expect("a time within the calendar");
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(1_769_851_800_007), "2026-01-31T09:30:00.007Z");
        assert_eq!(text(951_782_399_999), "2000-02-28T23:59:59.999Z");
    }

    #[test]
    fn a_time_beyond_the_calendar_is_a_fault_and_not_a_strange_text() {
        assert!(matches!(in_entries(Timestamp::from_unix_ms(i64::MAX)), Err(StoreError::Clock { .. })));
    }

    #[test]
    fn copies_of_a_manual_clock_show_the_same_time() {
        let clock = ManualClock::at(Timestamp::from_unix_ms(5));
        let copy = Clock::Manual(clock.clone());
        clock.move_by_ms(10);
        assert_eq!(copy.now().unix_ms(), 15);
    }
}
