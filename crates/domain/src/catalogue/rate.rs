//! What an agent uses on average, as a team measured or assumed it. Estimates are made of these numbers and of nothing else.

use serde::{Deserialize, Serialize};

use crate::prose::Prose;

/// What one turn, or one page, uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub wall_ms: u64,
    pub actions: u64,
    pub disk_bytes: u64,
}

/// Averages, what tokens cost, and how far beyond the average the worst case is taken to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Averages {
    /// Where the numbers come from.
    pub basis: Prose<500>,
    /// What is reserved, in percent of the average: at least 100.
    pub worst_case_percent: u64,
    pub usd_micros_per_1k_tokens_in: u64,
    pub usd_micros_per_1k_tokens_out: u64,
    /// One turn of the agent: it thinks once and proposes.
    pub turn: Rate,
    /// What a page adds.
    pub page: Rate,
}
