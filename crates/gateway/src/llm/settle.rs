//! SETTLE: what a call really took, counted or estimated, goes to the purse with its record.

use std::sync::Arc;
use std::time::Duration;

use placet_domain::budget::Amounts;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;

use super::price::Tariff;
use super::purse::{Draw, Purse};
use super::record::{CallRecord, Tokens};
use super::stream::Ending;
use super::wire::{Tally, Wire};

/// Where nothing was counted: about four bytes of JSON to a token. It is not the worst case, it is what is likely.
const LIKELY_BYTES_PER_TOKEN: u64 = 4;

/// Everything about a call that is known when it is sent.
pub(crate) struct Open<P> {
    pub(crate) purse: Arc<P>,
    pub(crate) draw: Draw,
    pub(crate) id: String,
    pub(crate) run: RunId,
    pub(crate) wire: Wire,
    pub(crate) upstream: String,
    pub(crate) model: String,
    pub(crate) request: Digest,
    pub(crate) request_bytes: u64,
    /// None for a call that costs nothing.
    pub(crate) tariff: Option<Tariff>,
}

/// What became of it.
pub(crate) struct Outcome {
    pub(crate) status: u16,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) latency: Duration,
    pub(crate) response: Digest,
    pub(crate) model_answered: Option<String>,
    pub(crate) tokens: Tokens,
    pub(crate) estimated: bool,
}

impl<P: Purse> Open<P> {
    /// An answer that was passed on, as far as it got.
    pub(crate) fn passed(self, status: u16, first_byte: Duration, ending: Ending) {
        let (tokens, estimated) = self.used(status, &ending);
        self.settle(Outcome {
            status,
            first_byte: Some(first_byte),
            latency: ending.latency,
            response: ending.digest,
            model_answered: ending.tally.model,
            tokens,
            estimated,
        });
    }

    /// No answer: we answered in its place with this body.
    pub(crate) fn unanswered(self, status: u16, body: &[u8], latency: Duration, may_cost: bool) {
        let likely = Tokens { input: self.request_bytes.div_ceil(LIKELY_BYTES_PER_TOKEN), ..Tokens::default() };
        let tokens = if may_cost && self.tariff.is_some() { likely } else { Tokens::default() };
        self.settle(Outcome {
            status,
            first_byte: None,
            latency,
            response: Digest::of(body),
            model_answered: None,
            tokens,
            estimated: may_cost,
        });
    }

    /// Tokens, and whether they are estimated. An upstream that refused a request has not worked for it.
    fn used(&self, status: u16, ending: &Ending) -> (Tokens, bool) {
        if self.tariff.is_none() || status >= 400 {
            return (Tokens::default(), false);
        }
        if ending.tally.is_exact(ending.whole) {
            return (ending.tally.tokens, false);
        }
        (likely(&ending.tally, self.request_bytes, ending.received_bytes), true)
    }

    fn settle(self, outcome: Outcome) {
        let cost = self.tariff.as_ref().map_or(0, |tariff| tariff.cost(&outcome.tokens));
        let worst = self.draw.worst();
        // An estimate is never above what the call was able to take.
        let usd_micros = if outcome.estimated { cost.min(worst.usd_micros) } else { cost };
        let record = CallRecord {
            id: self.id,
            run: self.run,
            wire: self.wire,
            upstream: self.upstream,
            model_asked: self.model,
            model_answered: outcome.model_answered,
            request: self.request,
            response: outcome.response,
            tokens: outcome.tokens,
            usd_micros,
            prices: self.tariff.map_or_else(|| "free".to_owned(), |tariff| tariff.version),
            estimated: outcome.estimated,
            status: outcome.status,
            latency_ms: whole_ms(outcome.latency),
            first_byte_ms: outcome.first_byte.map(whole_ms),
        };
        let spent = record.spent();
        let tokens = if record.estimated { spent.tokens.min(worst.tokens) } else { spent.tokens };
        self.purse.settle(self.draw, Amounts { tokens, ..spent }, record);
    }
}

/// What an answer that broke off has likely taken: what it said about its input, or a guess, and what came of it.
fn likely(tally: &Tally, request_bytes: u64, received_bytes: u64) -> Tokens {
    let mut tokens = tally.tokens;
    if !tally.input_known {
        tokens.input = request_bytes.div_ceil(LIKELY_BYTES_PER_TOKEN);
    }
    tokens.output = tokens.output.max(received_bytes.div_ceil(LIKELY_BYTES_PER_TOKEN));
    tokens
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
