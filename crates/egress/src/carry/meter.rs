//! What a run carried, and what one connection of it did. Bytes are counted before they are passed on, so that the limit
//! is never exceeded, not even by one buffer.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::rules::Reason;

/// As seen from the cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// What was used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Requests of plain HTTP and tunnels that were allowed.
    pub requests: u64,
}

/// The count of a run, shared by its connections.
#[derive(Debug)]
pub struct Meter {
    most_bytes: u64,
    total: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
    requests: AtomicU64,
}

impl Meter {
    pub(crate) const fn new(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            total: AtomicU64::new(0),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        }
    }

    pub fn used(&self) -> Used {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Used { bytes_up: read(&self.up), bytes_down: read(&self.down), requests: read(&self.requests) }
    }

    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self, direction: Direction, bytes: u64) -> Result<(), Reason> {
        let within = |total: u64| total.checked_add(bytes).filter(|&sum| sum <= self.most_bytes);
        let taken = self.total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
        taken.map_err(|_| Reason::BytesUsedUp { most_bytes: self.most_bytes })?;
        let side = match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        };
        side.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// What one connection carries, and when it last did.
#[derive(Debug)]
pub(crate) struct Carriage<'a> {
    meter: &'a Meter,
    began: Instant,
    up: AtomicU64,
    down: AtomicU64,
    /// Milliseconds after the beginning.
    moved_ms: AtomicU64,
}

impl<'a> Carriage<'a> {
    pub(crate) fn new(meter: &'a Meter) -> Self {
        let began = Instant::now();
        Self { meter, began, up: AtomicU64::new(0), down: AtomicU64::new(0), moved_ms: AtomicU64::new(0) }
    }

    /// Counts bytes that are about to be passed on.
    pub(crate) fn count(&self, direction: Direction, bytes: usize) -> Result<(), Reason> {
        let bytes = bytes as u64;
        self.meter.take(direction, bytes)?;
        let side = match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        };
        side.fetch_add(bytes, Ordering::Relaxed);
        self.moved();
        Ok(())
    }

    /// Something came or went.
    pub(crate) fn moved(&self) {
        self.moved_ms.store(self.age_ms(), Ordering::Relaxed);
    }

    pub(crate) fn age_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn still_for_ms(&self) -> u64 {
        self.age_ms().saturating_sub(self.moved_ms.load(Ordering::Relaxed))
    }

    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.up.load(Ordering::Relaxed), self.down.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_byte_that_fits_is_carried_and_the_next_is_not() {
        let meter = Meter::new(10);
        let (first, second) = (Carriage::new(&meter), Carriage::new(&meter));
        first.count(Direction::Up, 6).unwrap();
        second.count(Direction::Down, 4).unwrap();
        assert_eq!(second.count(Direction::Up, 1).unwrap_err().number(), 40);
        assert_eq!(meter.used(), Used { bytes_up: 6, bytes_down: 4, requests: 0 });
        assert_eq!((first.bytes(), second.bytes()), ((6, 0), (0, 4)));
    }
}
