//! Clock facet of a run: how long it was at work. Time in which it only waits for people does not count, nor time in which everything is
//! stopped. The events come from the actions of the run and from the organisation; nobody commands them.

use serde::{Deserialize, Serialize};

use crate::event_meta::EventMeta;
use crate::time::Timestamp;

/// Working time of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkClock {
    /// Start of the current stretch of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Working time before the current stretch.
    pub worked_ms: u64,
    /// Working time at the last checkpoint.
    pub worked_ms_at_gate: u64,
    /// True if every open action of the run waits for people, in any run status.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// True if a halt stopped the run while it was executing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub halted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClockEvent {
    /// Every open action of the run waits for people: the clock stops.
    WaitingForPeople,
    /// An action of the run is in progress again, or none waits: the clock may run.
    WaitingOver,
    /// Everything was stopped while the run was executing: the clock stops.
    Halted,
    /// Everything may go on, and the clock with it.
    Released,
}

impl ClockEvent {
    pub(super) fn meta(self) -> EventMeta {
        EventMeta::new(match self {
            Self::WaitingForPeople => "run.waiting_for_people",
            Self::WaitingOver => "run.waiting_over",
            Self::Halted => "run.halted",
            Self::Released => "run.released",
        })
    }
}

impl WorkClock {
    pub fn worked_ms(&self, now: Timestamp) -> u64 {
        let current = self.since.map_or(0, |since| now.unix_ms().saturating_sub(since.unix_ms()));
        self.worked_ms.saturating_add(u64::try_from(current).unwrap_or(0))
    }

    /// Time at which this working time is reached if work goes on.
    pub fn reaches(&self, worked_ms: u64) -> Option<Timestamp> {
        self.since.map(|since| since.plus_ms(worked_ms.saturating_sub(self.worked_ms)))
    }

    pub(super) const fn evolve(&mut self, event: ClockEvent) {
        match event {
            ClockEvent::WaitingForPeople => self.waits = true,
            ClockEvent::WaitingOver => self.waits = false,
            ClockEvent::Halted => self.halted = true,
            ClockEvent::Released => self.halted = false,
        }
    }

    /// Starts or stops the clock, and returns the working time that was added.
    pub(super) fn turn(&mut self, works: bool, at: Timestamp) -> u64 {
        let worked_ms = self.worked_ms(at);
        let more_ms = worked_ms.saturating_sub(self.worked_ms);
        self.worked_ms = worked_ms;
        self.since = (works && !self.waits && !self.halted).then_some(at);
        more_ms
    }
}
