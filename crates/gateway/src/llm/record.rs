//! What is kept of one call: digests, numbers and names. Never a word of what was said.

use placet_domain::budget::Amounts;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::wire::Wire;

/// Tokens by what they cost. `input` leaves out what was read from or written to a cache, whatever the wire format counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for an hour and costs more.
    pub cache_write_long: u64,
    /// The part of `output` that the agent does not see.
    pub reasoning: u64,
}

impl Tokens {
    /// Everything that went in.
    pub const fn taken_in(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    pub const fn total(&self) -> u64 {
        self.taken_in().saturating_add(self.output)
    }

    /// The same, with no more than so many in all; what is too much is taken off the output first.
    #[must_use]
    pub(crate) fn at_most(mut self, total: u64) -> Self {
        self.output = self.output.min(total.saturating_sub(self.taken_in()));
        self.reasoning = self.reasoning.min(self.output);
        self.input = self.input.min(total.saturating_sub(self.cache_read).saturating_sub(self.cache_write));
        self
    }
}

/// One call, as it goes into the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// `call_` and 32 hex digits; the agent gets it too, as `x-placet-call`.
    pub id: String,
    pub run: RunId,
    pub wire: Wire,
    pub upstream: String,
    pub model_asked: String,
    /// What the upstream says it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_answered: Option<String>,
    /// Of the body as the agent sent it.
    pub request: Digest,
    /// Of the body as the agent got it, as far as it got.
    pub response: Digest,
    pub tokens: Tokens,
    pub usd_micros: u64,
    /// By which table this was priced.
    pub prices: String,
    /// Whether tokens were counted by us because the answer broke off or did not say.
    pub estimated: bool,
    pub status: u16,
    pub latency_ms: u64,
    /// From the request to the first byte of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
}

impl CallRecord {
    pub const fn spent(&self) -> Amounts {
        Amounts { tokens: self.tokens.total(), usd_micros: self.usd_micros, ..Amounts::NONE }
    }
}

/// A new name for a call. It begins with the time, so that records sort.
pub(crate) fn new_id() -> String {
    format!("call_{}", Uuid::now_v7().simple())
}
