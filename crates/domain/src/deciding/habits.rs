//! How one person decides, for that person: whether there was time to read what they said yes to. A signal, no verdict: a card that was
//! read elsewhere, or together with somebody, looks the same from here.

use super::decision::{Decision, Look, Outcome};
use super::figures::{Counts, Spread};
use crate::policy::Tier;

/// Faster than anybody reads anything.
pub const QUICK_MS: u64 = 2_000;
/// Far faster than it can be read: a quarter of the estimate.
const HASTY_PART: u64 = 4;
/// So many yes in a row, and most of them hasty, are a habit.
const LONG_STREAK: u64 = 20;
/// So many of which not one was a no.
const MANY: u64 = 50;
/// A share of fewer than these says nothing.
pub(super) const FEWEST: u64 = 10;

/// Some of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub part: u64,
    pub of: u64,
}

impl Share {
    pub(super) fn of<'d>(among: impl Iterator<Item = &'d Decision>, has: impl Fn(&Decision) -> bool) -> Self {
        among.fold(Self::default(), |share, one| Self { part: share.part + u64::from(has(one)), of: share.of + 1 })
    }

    /// Whether it is at least half, of enough to say so.
    const fn is_most(self) -> bool {
        self.of >= FEWEST && self.part * 2 >= self.of
    }
}

/// What somebody might want to know of themself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Most yes where two people are asked came within two seconds.
    Quick,
    /// A long row of yes, most of them far faster than the cards can be read.
    Hasty,
    /// Not one no among many.
    NeverNo,
}

impl Signal {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Hasty => "hasty",
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
    /// How long the cards had been open, where that is known.
    pub looked: Option<Spread>,
    /// Of the yes where two people are asked and the look is known: within two seconds.
    pub quick: Share,
    /// Of the yes of which the look is known: far faster than the card can be read.
    pub hasty: Share,
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
        looked: Spread::of(ordered.iter().filter_map(|decision| Some(decision.look?.looked_ms)).collect()),
        quick: Share::of(approvals(&ordered).filter(|decision| decision.tier >= Tier::C), is_quick),
        hasty: Share::of(approvals(&ordered), is_hasty),
        streak: longest_streak(&ordered),
        signals: Vec::new(),
    };
    Habits { signals: signals(&habits), ..habits }
}

/// Every yes of which the look is known.
pub(super) fn approvals<'d>(decisions: &'d [&'d Decision]) -> impl Iterator<Item = &'d Decision> {
    let known = |decision: &&&Decision| decision.outcome == Outcome::Approved && decision.look.is_some();
    decisions.iter().filter(known).copied()
}

fn is_quick(decision: &Decision) -> bool {
    decision.look.is_some_and(|look| look.looked_ms < QUICK_MS)
}

pub(super) fn is_hasty(decision: &Decision) -> bool {
    decision.look.is_some_and(|Look { looked_ms, needed_ms }| looked_ms < needed_ms / HASTY_PART)
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
    [
        (habits.quick.is_most(), Signal::Quick),
        (habits.streak >= LONG_STREAK && habits.hasty.is_most(), Signal::Hasty),
        (approved >= MANY && rejected + amended == 0, Signal::NeverNo),
    ]
    .into_iter()
    .filter_map(|(given, signal)| given.then_some(signal))
    .collect()
}
