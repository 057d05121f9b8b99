//! Habits of one person who decides, shown to that person alone. A signal is a hint, not a verdict.

use super::decision::{Decision, Outcome};
use super::figures::{Counts, Spread};

/// So many of which not one was a no.
const MANY: u64 = 50;

/// What somebody might want to know of themself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Not one no among many.
    NeverNo,
}

impl Signal {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeverNo => "never_no",
        }
    }
}

/// How one person decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Habits {
    pub counts: Counts,
    /// How long the questions had waited when this person decided.
    pub waited: Option<Spread>,
    /// The longest row of yes without anything else in between.
    pub streak: u64,
    pub signals: Vec<Signal>,
}

/// From the decisions of one person, in any order.
pub fn habits(decisions: &[Decision]) -> Habits {
    let mut ordered: Vec<&Decision> = decisions.iter().filter(|decision| decision.outcome.is_decided()).collect();
    ordered.sort_by_key(|decision| decision.at);
    let habits = Habits {
        counts: Counts::of(ordered.iter().copied()),
        waited: Spread::of(ordered.iter().map(|decision| decision.waited_ms()).collect()),
        streak: longest_streak(&ordered),
        signals: Vec::new(),
    };
    Habits { signals: signals(&habits), ..habits }
}

fn longest_streak(ordered: &[&Decision]) -> u64 {
    let step = |(longest, now): (u64, u64), decision: &&Decision| {
        let now = if decision.outcome == Outcome::Approved { now + 1 } else { 0 };
        (longest.max(now), now)
    };
    ordered.iter().fold((0, 0), step).0
}

fn signals(habits: &Habits) -> Vec<Signal> {
    let Counts { approved, rejected, amended, .. } = habits.counts;
    let never_no = approved >= MANY && rejected + amended == 0;
    if never_no { vec![Signal::NeverNo] } else { Vec::new() }
}
