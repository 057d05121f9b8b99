//! What a call took, how that is known, and what it costs. An estimate is never above what the call was able to take.

use placet_domain::budget::Amounts;

use super::price::Tariff;
use super::record::ModelTokens;
use super::wire::Tally;

/// Where nothing was counted: about four bytes of JSON to a token. It is not the worst case, it is what is likely.
const LIKELY_BYTES_PER_TOKEN: u64 = 4;
/// The largest number that an entry holds.
const MOST_COUNTED: u64 = (1 << 53) - 1;

/// What a call took.
#[derive(Debug, Default)]
pub(crate) struct Took {
    pub(crate) tokens: ModelTokens,
    pub(crate) known: Known,
}

/// How that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Known {
    /// The upstream said so, or nothing can have been taken.
    #[default]
    Counted,
    /// By what came of it.
    Likely,
    /// What went in was counted, and what came out counts as the longest, as whatever the model charges most for.
    Longest,
    /// Not at all: it counts as everything that was drawn for it.
    Worst,
}

impl Took {
    /// What an answer that broke off has likely taken: what it said about its input, or a guess, and what came of it.
    pub(crate) fn likely(tally: &Tally, request_bytes: u64, received_bytes: u64) -> Self {
        let mut tokens = tally.tokens;
        if !tally.input_known {
            tokens.input = request_bytes.div_ceil(LIKELY_BYTES_PER_TOKEN);
        }
        tokens.output = tokens.output.max(received_bytes.div_ceil(LIKELY_BYTES_PER_TOKEN));
        Self { tokens, known: Known::Likely }
    }

    /// The tokens as they are recorded, and what they cost; nothing where there is no price.
    pub(crate) fn priced(&self, worst: Amounts, tariff: Option<&Tariff>) -> (ModelTokens, u64) {
        let cost = |tokens: &ModelTokens| tariff.map_or(0, |tariff| tariff.cost(tokens));
        let within = self.tokens.at_most(worst.tokens);
        match self.known {
            // Whatever it says, it is a number that can be recorded.
            Known::Counted => {
                let tokens = self.tokens.at_most(MOST_COUNTED);
                (tokens, cost(&tokens).min(MOST_COUNTED))
            }
            Known::Likely => (within, cost(&within).min(worst.usd_micros)),
            Known::Longest => {
                let cost = tariff.map_or(0, |tariff| tariff.cost_at_most(&within));
                (within, cost.min(worst.usd_micros))
            }
            // Also for what may have been written to a cache.
            Known::Worst => (within, worst.usd_micros),
        }
    }

    /// By whichever price is higher, where another model answered than was asked for and it has one.
    pub(crate) fn by_the_dearer(&self, tariff: Tariff, other: Option<&str>) -> Tariff {
        let of_other = other.and_then(|model| tariff.of_other(model));
        let cost = |tariff: &Tariff| tariff.cost(&self.tokens);
        of_other.into_iter().fold(tariff, |one, other| if cost(&other) > cost(&one) { other } else { one })
    }
}
