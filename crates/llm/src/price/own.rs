//! Prices that a team wrote down itself: for its own machines, for contracts, for models that are newer than the table.

use serde::Deserialize;

use crate::models::Pattern;
use crate::record::ModelTokens;

/// Prices are per million tokens, so a sum of products is in millionths of this.
const PER: u128 = 1_000_000;

/// What one model, or many that begin alike, cost: millionths of a dollar for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPrice {
    pub model: Pattern,
    pub input: u64,
    pub output: u64,
    /// As `input`, if it is left out.
    pub cache_read: Option<u64>,
    /// As `input`, if it is left out.
    pub cache_write: Option<u64>,
    /// The most tokens that the model takes in; needed for requests with pictures or files.
    pub context_tokens: Option<u64>,
}

impl OwnPrice {
    pub(super) fn cost(&self, tokens: &ModelTokens) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.cache_read, self.cache_read.unwrap_or(self.input)),
            (tokens.cache_write, self.cache_write.unwrap_or(self.input)),
            (tokens.output, self.output),
        ];
        let sum: u128 = parts.iter().map(|(count, price)| u128::from(*count) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(PER)).unwrap_or(u64::MAX)
    }
}
