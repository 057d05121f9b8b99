//! How much is asked of people, and how fast they decide before they are asked to look twice: the bounds, and which of them make sense. What
//! happens at a bound is decided elsewhere ([`crate::run`]).

use serde::{Deserialize, Serialize};

const TEN_MINUTES_MS: u64 = 10 * 60_000;
/// Within less nobody asks or decides anything worth counting, and it is told in minutes.
const SHORTEST_MS: u64 = 60_000;
/// Whatever is longer is no pace: whoever decides every day would be asked to look twice for good.
const LONGEST_MS: u64 = 24 * 3_600_000;

/// How much is asked of people. Each bound is switched off by 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asking {
    /// So many questions of one agent and its family of runs may wait undecided.
    pub most_undecided: u32,
    /// So many they may ask within the time below, before the run stands still until a person has looked at it.
    pub most_asked: u32,
    pub asked_within_ms: u64,
    /// Maximum number of actions of one agent and its family of runs that may wait for people or for workers.
    pub most_waiting: u32,
    /// So many decisions one person makes on pages within the time below, before each further yes takes the tool's name.
    pub most_decided: u32,
    pub decided_within_ms: u64,
}

impl Asking {
    /// Nothing is bounded: for whoever measures something else.
    pub const UNBOUNDED: Self = Self {
        most_undecided: 0,
        most_asked: 0,
        asked_within_ms: TEN_MINUTES_MS,
        most_waiting: 0,
        most_decided: 0,
        decided_within_ms: TEN_MINUTES_MS,
    };

    /// Whether every bound that is not switched off can do what it is for: within no time nothing is ever too much.
    pub fn check(&self) -> Result<(), SenselessWindow> {
        let windows = [
            ("asked_within_ms", self.asked_within_ms, self.most_asked),
            ("decided_within_ms", self.decided_within_ms, self.most_decided),
        ];
        let makes_no_sense = |ms: u64, most: u32| most > 0 && !(SHORTEST_MS..=LONGEST_MS).contains(&ms);
        match windows.into_iter().find(|(_, ms, most)| makes_no_sense(*ms, *most)) {
            Some((name, found_ms, _)) => Err(SenselessWindow { name, found_ms }),
            None => Ok(()),
        }
    }
}

/// Why terms are not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "`terms.asking.{name} = {found_ms}` makes no sense; say from {SHORTEST_MS} (a minute) to {LONGEST_MS} (a day), and switch a bound off by \
     0 for how many"
)]
pub struct SenselessWindow {
    pub name: &'static str,
    pub found_ms: u64,
}

impl Default for Asking {
    fn default() -> Self {
        Self {
            // More than a person keeps in mind, and a queue is no use to an agent that cannot go on anyway.
            most_undecided: 20,
            // One every fifteen seconds, by one agent alone.
            most_asked: 40,
            asked_within_ms: TEN_MINUTES_MS,
            // A few seconds of work for the workers of one machine, and more than an agent can use at a time.
            most_waiting: 500,
            // Ten seconds for each, without a pause.
            most_decided: 60,
            decided_within_ms: TEN_MINUTES_MS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_bounds_within_no_time_or_for_ever_make_no_sense() {
        assert_eq!([Asking::default(), Asking::UNBOUNDED].map(|asking| asking.check()), [Ok(()); 2]);
        for found_ms in [0, SHORTEST_MS - 1, LONGEST_MS + 1, u64::MAX] {
            let asked = Asking { asked_within_ms: found_ms, ..Asking::default() };
            assert_eq!(asked.check(), Err(SenselessWindow { name: "asked_within_ms", found_ms }));
            let decided = Asking { decided_within_ms: found_ms, ..Asking::default() };
            assert_eq!(decided.check(), Err(SenselessWindow { name: "decided_within_ms", found_ms }));
        }
        let off =
            Asking { most_asked: 0, asked_within_ms: 0, most_decided: 0, decided_within_ms: 0, ..Asking::default() };
        assert_eq!(off.check(), Ok(()), "a bound that is switched off needs no time");
        let told = Asking { asked_within_ms: 0, ..Asking::default() }.check().unwrap_err().to_string();
        assert!(told.contains("`terms.asking.asked_within_ms = 0`") && told.contains("a minute"), "{told}");
    }
}
