//! How hasty people are together, for those who oversee: told so that it cannot be told apart to one of them.
//!
//! A figure that moves with every decision tells of whoever has just decided. So there is one for each week that is over, the same for good
//! and for whoever asks: of all projects, in tens of a hundred, and only where several people decided a lot and none of them most of it.
//! Who decided when is on the record; with the figure fixed, looking again adds nothing to it.

use std::collections::BTreeMap;

use super::WINDOW_MS;
use super::decision::Decision;
use super::figures::{DAY_MS, WEEK_MS, starts};
use super::habits::{FEWEST, Share, approvals, is_hasty};
use crate::id::IdentityId;
use crate::time::Timestamp;

/// Among fewer each knows the others.
const FEWEST_PEOPLE: usize = 3;
/// What was decided in the last moment of a week is written by then.
const SETTLES_MS: i64 = 60_000;

/// Seven days that are over, from a Monday on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedWeek {
    pub from: Timestamp,
    /// The first moment after it.
    pub until: Timestamp,
}

/// How hasty the approvals of a week were, all people together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HastyWeek {
    pub from: Timestamp,
    /// So many of a hundred, in tens.
    pub percent: u8,
}

/// The weeks that are over and of which no look is forgotten yet, the oldest first. A day is left before the first of them is forgotten:
/// a week is told whole, or not.
pub fn closed_weeks(now: Timestamp) -> Vec<ClosedWeek> {
    let window_ms = i64::try_from(WINDOW_MS).unwrap_or(i64::MAX);
    let known_from = now.unix_ms().saturating_sub(window_ms).saturating_add(DAY_MS);
    let end = starts(Timestamp::from_unix_ms(now.unix_ms().saturating_sub(SETTLES_MS)), WEEK_MS).unix_ms();
    let begins = (1..).map(|weeks: i64| end - weeks * WEEK_MS).take_while(|from| *from >= known_from);
    let mut begins: Vec<i64> = begins.collect();
    begins.reverse();
    let week =
        |from| ClosedWeek { from: Timestamp::from_unix_ms(from), until: Timestamp::from_unix_ms(from + WEEK_MS) };
    begins.into_iter().map(week).collect()
}

/// From the decisions of everybody in that week. Nothing where it would tell of one of them: fewer than three people with ten or more
/// approvals of which the look is known, or one of them with more than half of all.
pub fn hasty_week(week: ClosedWeek, decisions: &[Decision]) -> Option<HastyWeek> {
    let within = |decision: &&Decision| week.from <= decision.at && decision.at < week.until;
    let within: Vec<&Decision> = decisions.iter().filter(within).collect();
    let mut people: BTreeMap<IdentityId, Vec<&Decision>> = BTreeMap::new();
    for decision in approvals(&within) {
        people.entry(decision.reviewer?).or_default().push(decision);
    }
    people.retain(|_, made| made.len() as u64 >= FEWEST);
    let most = people.values().map(Vec::len).max()? as u64;
    let share = Share::of(people.values().flatten().copied(), is_hasty);
    let tells_of_nobody = people.len() >= FEWEST_PEOPLE && most * 2 <= share.of;
    tells_of_nobody.then(|| HastyWeek { from: week.from, percent: tens(share) })
}

fn tens(Share { part, of }: Share) -> u8 {
    let tenths = (part * 10 + of / 2).checked_div(of).unwrap_or(0);
    u8::try_from(tenths * 10).unwrap_or(100)
}
