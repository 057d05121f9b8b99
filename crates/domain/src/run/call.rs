//! Calls of language models, as they are recorded: digests, numbers and names, and never a word of what was said. Where a project keeps
//! the words, the entry names them by their digest.

use serde::{Deserialize, Serialize};

use crate::budget::Amounts;
use crate::digest::Digest;
use crate::refusal::Refusal;

/// They are written by the gateway, but they name what agents and servers sent.
const LONGEST_NAME: usize = 256;
const LONGEST_MODEL: usize = 128;
const MOST_MODELS: usize = 64;

/// Tokens by what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelTokens {
    /// Without what was read from or written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The part of `cache_write` that is kept longer and costs more.
    pub cache_write_long: u64,
    /// The part of `output` that the agent does not see.
    pub reasoning: u64,
}

impl ModelTokens {
    /// Everything that went in.
    pub const fn taken_in(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    pub const fn total(&self) -> u64 {
        self.taken_in().saturating_add(self.output)
    }

    /// The same, with no more than so many in all; what is too much is taken off the output first.
    #[must_use]
    pub fn at_most(mut self, total: u64) -> Self {
        self.cache_read = self.cache_read.min(total);
        self.cache_write = self.cache_write.min(total - self.cache_read);
        self.cache_write_long = self.cache_write_long.min(self.cache_write);
        self.input = self.input.min(total - self.cache_read - self.cache_write);
        self.output = self.output.min(total - self.taken_in());
        self.reasoning = self.reasoning.min(self.output);
        self
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// `call_` and 32 hex digits; the agent gets it too, as `x-placet-call`.
    pub id: String,
    /// The wire format: `messages`, `chat`, `responses`, `gemini`.
    pub wire: String,
    pub upstream: String,
    pub model_asked: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_answered: Option<String>,
    /// Of the body as the agent sent it.
    pub request: Digest,
    /// Of the body as the agent got it, as far as it got.
    pub response: Digest,
    pub tokens: ModelTokens,
    pub usd_micros: u64,
    /// By which table of prices.
    pub prices: String,
    /// Whether the tokens were counted by the gateway, because the answer broke off or did not say.
    pub estimated: bool,
    pub status: u16,
    pub latency_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// What was said, where the project keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<KeptWords>,
}

/// Where the words of a call are, without their secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptWords {
    pub digest: Digest,
    pub size_bytes: u64,
    /// Whether there was more than is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl ModelCall {
    pub const fn spent(&self) -> Amounts {
        Amounts { tokens: self.tokens.total(), usd_micros: self.usd_micros, ..Amounts::NONE }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let answered = self.model_answered.as_deref().unwrap_or_default();
        let names = [&self.id, &self.wire, &self.upstream, &self.model_asked, &self.prices];
        let longest = names.map(String::len).into_iter().chain([answered.len()]).max().unwrap_or(0);
        if longest > LONGEST_NAME {
            Err(Refusal::invalid("a name in the record of a call is too long"))
        } else {
            Ok(())
        }
    }
}

/// Names of models, or the beginnings of many (`claude-*`).
pub(super) fn check_models<'a>(models: impl ExactSizeIterator<Item = &'a String>) -> Result<(), Refusal> {
    if models.len() > MOST_MODELS {
        return Err(Refusal::invalid(format!("at most {MOST_MODELS} models can be named")));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".-_:/@".contains(&b);
    let named = |model: &str| {
        let start = model.strip_suffix('*').unwrap_or(model);
        (1..=LONGEST_MODEL).contains(&model.len()) && start.bytes().all(plain) && !start.contains("..")
    };
    for model in models {
        if !named(model) {
            let shown: String = model.chars().take(80).flat_map(char::escape_default).collect();
            let why = "write letters, digits and `.-_:/@`, with at most one `*` at the end";
            return Err(Refusal::invalid(format!("`{shown}` names no model; {why}")));
        }
    }
    Ok(())
}
