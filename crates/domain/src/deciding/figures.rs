//! Figures of many decisions: medians, shares, weeks. Of what was decided, never of who decided it.

use std::collections::BTreeMap;

use super::decision::{Decision, Outcome};
use crate::policy::Tier;
use crate::time::Timestamp;

pub(super) const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
pub(super) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The middle, and what nine of ten stay below.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    pub median_ms: u64,
    pub p90_ms: u64,
    /// Of how many.
    pub count: u64,
}

impl Spread {
    /// By nearest rank; nothing of nothing.
    pub(super) fn of(mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        let rank = |percent: usize| values.get((values.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { median_ms: rank(50)?, p90_ms: rank(90)?, count: values.len() as u64 })
    }
}

/// How many questions ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub approved: u64,
    pub rejected: u64,
    pub amended: u64,
    pub expired: u64,
    pub withdrawn: u64,
    /// Of those that were approved: by the person behind the agent.
    pub single_operator: u64,
}

impl Counts {
    pub(super) fn of<'d>(decisions: impl IntoIterator<Item = &'d Decision>) -> Self {
        decisions.into_iter().fold(Self::default(), Self::and)
    }

    fn and(mut self, decision: &Decision) -> Self {
        let counted = match decision.outcome {
            Outcome::Approved => &mut self.approved,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Amended => &mut self.amended,
            Outcome::Expired => &mut self.expired,
            Outcome::Withdrawn => &mut self.withdrawn,
        };
        *counted += 1;
        self.single_operator += u64::from(decision.single_operator);
        self
    }

    /// How many a person decided.
    pub const fn decided(&self) -> u64 {
        self.approved + self.rejected + self.amended
    }
}

/// The same for one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierFigures {
    pub tier: Tier,
    pub counts: Counts,
    pub waited: Option<Spread>,
}

/// The same for seven days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Week {
    pub from: Timestamp,
    pub counts: Counts,
}

/// How questions to people ended and how long they waited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    pub counts: Counts,
    /// How long what was decided had waited.
    pub waited: Option<Spread>,
    pub tiers: Vec<TierFigures>,
    /// The oldest first; a week in which nothing ended is left out.
    pub weeks: Vec<Week>,
    /// Day by day, the oldest first.
    pub days: Vec<(Timestamp, Spread)>,
    /// How many different people decided.
    pub people: u64,
}

pub fn figures(decisions: &[Decision]) -> Figures {
    let people: std::collections::BTreeSet<_> = decisions.iter().filter_map(|decision| decision.reviewer).collect();
    let tiers = grouped(decisions, |decision| decision.tier).into_iter();
    let tiers =
        tiers.map(|(tier, of_it)| TierFigures { tier, counts: counts(&of_it), waited: waited(of_it) }).collect();
    let weeks = grouped(decisions, |decision| starts(decision.at, WEEK_MS)).into_iter();
    let days = grouped(decisions, |decision| starts(decision.at, DAY_MS)).into_iter();
    Figures {
        counts: Counts::of(decisions),
        waited: waited(decisions.iter().collect()),
        tiers,
        weeks: weeks.map(|(from, of_it)| Week { from, counts: counts(&of_it) }).collect(),
        days: days.filter_map(|(from, of_it)| Some((from, waited(of_it)?))).collect(),
        people: people.len() as u64,
    }
}

fn grouped<K: Ord>(decisions: &[Decision], by: impl Fn(&Decision) -> K) -> BTreeMap<K, Vec<&Decision>> {
    decisions.iter().fold(BTreeMap::new(), |mut groups, decision| {
        groups.entry(by(decision)).or_insert_with(Vec::new).push(decision);
        groups
    })
}

fn counts(decisions: &[&Decision]) -> Counts {
    Counts::of(decisions.iter().copied())
}

fn waited(decisions: Vec<&Decision>) -> Option<Spread> {
    let decided = decisions.into_iter().filter(|decision| decision.outcome.is_decided());
    Spread::of(decided.map(Decision::waited_ms).collect())
}

/// The beginning of the day, or of the week: the fifth day of 1970 was a Monday.
pub(super) const fn starts(at: Timestamp, every_ms: i64) -> Timestamp {
    let monday_ms = 4 * DAY_MS;
    Timestamp::from_unix_ms((at.unix_ms() - monday_ms).div_euclid(every_ms) * every_ms + monday_ms)
}
