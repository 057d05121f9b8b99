//! Step 6: what it will use, and what is reserved for it. Whole numbers only, from the averages of the agent's entry; an
//! estimate says what it rests on.

use serde::{Deserialize, Serialize};

use super::subtask::Subtask;
use crate::budget::Amounts;
use crate::canonical::LARGEST_SAFE_INTEGER;
use crate::catalogue::{Averages, Entry, Rate};

/// What a plan will use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// On average.
    pub likely: Amounts,
    /// What is reserved.
    pub worst: Amounts,
    /// What the numbers rest on.
    pub basis: String,
}

/// Adds up. Grows with every sub-task, turn and page, and with every average; sums end at the largest number that can be
/// recorded, which is over every limit.
pub fn estimate(entry: &Entry, subtasks: &[Subtask]) -> Estimate {
    let work = Work::of(subtasks);
    Estimate {
        likely: used(&entry.averages, &work, 100),
        worst: worst_case(entry, subtasks),
        basis: basis(entry, &work),
    }
}

/// What is reserved, for whoever compares agents.
pub(super) fn worst_case(entry: &Entry, subtasks: &[Subtask]) -> Amounts {
    used(&entry.averages, &Work::of(subtasks), entry.averages.worst_case_percent)
}

/// What there is to do, counted.
struct Work {
    turns: u128,
    pages: u128,
}

impl Work {
    fn of(subtasks: &[Subtask]) -> Self {
        let sum = |of: fn(&Subtask) -> u64| subtasks.iter().map(|subtask| u128::from(of(subtask))).sum();
        Self { turns: sum(|subtask| subtask.turns), pages: sum(|subtask| subtask.pages) }
    }
}

/// What work uses, at so many percent of the average. Parts of a whole count as a whole one.
fn used(averages: &Averages, work: &Work, percent: u64) -> Amounts {
    let scaled = |of: fn(&Rate) -> u64| {
        let average = work
            .turns
            .saturating_mul(of(&averages.turn).into())
            .saturating_add(work.pages.saturating_mul(of(&averages.page).into()));
        average.saturating_mul(percent.into()).div_ceil(100)
    };
    let (tokens_in, tokens_out) = (scaled(|rate| rate.tokens_in), scaled(|rate| rate.tokens_out));
    let price = tokens_in
        .saturating_mul(averages.usd_micros_per_1k_tokens_in.into())
        .saturating_add(tokens_out.saturating_mul(averages.usd_micros_per_1k_tokens_out.into()));
    Amounts {
        tokens: capped(tokens_in.saturating_add(tokens_out)),
        usd_micros: capped(price.div_ceil(1000)),
        wall_ms: capped(scaled(|rate| rate.wall_ms)),
        actions: capped(scaled(|rate| rate.actions)),
        // A plan says how many pages: there is no average and no worst case of that.
        pages: capped(work.pages),
        disk_bytes: capped(scaled(|rate| rate.disk_bytes)),
    }
}

fn capped(amount: u128) -> u64 {
    u64::try_from(amount).unwrap_or(u64::MAX).min(LARGEST_SAFE_INTEGER)
}

fn basis(entry: &Entry, work: &Work) -> String {
    let (averages, Work { turns, pages }) = (&entry.averages, work);
    format!(
        "{turns} turns and {pages} pages by the averages of `{}` ({}), {} and {} usd_micros per 1000 tokens in and out; \
         {} % of that is reserved; averages: {}",
        entry.id,
        entry.version(),
        averages.usd_micros_per_1k_tokens_in,
        averages.usd_micros_per_1k_tokens_out,
        averages.worst_case_percent,
        averages.basis
    )
}
