//! Calls of language models, as they are recorded: digests, numbers and names, and never a word of what was said. Where a project keeps
//! the words, the entry names them by their digest.

use serde::{Deserialize, Serialize};

use crate::budget::Amounts;
use crate::digest::Digest;
use crate::refusal::Refusal;

/// They are written by the gateway, but they name what agents and servers sent.
const LONGEST_NAME: usize = 256;
/// A sentence that an agent was told.
const LONGEST_SAID: usize = 1_024;
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
    /// The part of `input` that is no text, which some models charge otherwise.
    #[serde(skip_serializing_if = "NotText::is_none")]
    pub input_not_text: NotText,
    /// The part of `cache_read` that is no text.
    #[serde(skip_serializing_if = "NotText::is_none")]
    pub cache_read_not_text: NotText,
    /// The part of `output` that is no text.
    #[serde(skip_serializing_if = "NotText::is_none")]
    pub output_not_text: NotText,
}

/// Tokens that stand for something else than text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotText {
    pub audio: u64,
    pub image: u64,
    pub video: u64,
}

impl NotText {
    pub const fn is_none(&self) -> bool {
        self.total() == 0
    }

    pub const fn total(&self) -> u64 {
        self.audio.saturating_add(self.image).saturating_add(self.video)
    }

    /// So many of one kind, for each kind.
    pub const fn each(count: u64) -> [Self; 3] {
        let none = Self { audio: 0, image: 0, video: 0 };
        [Self { audio: count, ..none }, Self { image: count, ..none }, Self { video: count, ..none }]
    }

    /// The same, with no more than so many in all.
    #[must_use]
    pub fn at_most(mut self, total: u64) -> Self {
        self.audio = self.audio.min(total);
        self.image = self.image.min(total - self.audio);
        self.video = self.video.min(total - self.audio - self.image);
        self
    }
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
        self.input_not_text = self.input_not_text.at_most(self.input);
        self.cache_read_not_text = self.cache_read_not_text.at_most(self.cache_read);
        self.output_not_text = self.output_not_text.at_most(self.output);
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
    /// Whether the model that answered is neither the one that was asked for nor a dated form of it. It is priced by the dearer of both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_model: bool,
    /// What the upstream calls this call, so that its bill can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_request: Option<String>,
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
    /// Whether the upstream said in the middle of its answer that it failed, whatever the status.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
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
        let of_upstream = [&self.model_answered, &self.upstream_request];
        let names = [&self.id, &self.wire, &self.upstream, &self.model_asked, &self.prices];
        let longest = names.into_iter().chain(of_upstream.into_iter().flatten()).map(String::len).max().unwrap_or(0);
        if longest > LONGEST_NAME {
            Err(Refusal::invalid("a name in the record of a call is too long"))
        } else {
            Ok(())
        }
    }
}

/// Calls that are counted instead of being recorded one by one, so that no agent fills the ledger with what costs it nothing: those that
/// were refused before they were sent, and those beyond so many in a minute that took nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCount {
    pub outcome: CallOutcome,
    /// What kind of refusal, or why they took nothing: one of a few words.
    pub reason: String,
    pub calls: u64,
    /// How long it took from the first of them to the last.
    pub within_ms: u64,
    /// What the first of them was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Of the digests of all requests and answers, in order, where there were answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What became of calls that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// By the gateway, before anything was sent.
    Refused,
    /// By an upstream, and nothing is paid for it.
    Answered,
}

impl CallOutcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Answered => "answered",
        }
    }
}

impl CallCount {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let said = self.said.as_ref().map_or(0, String::len);
        if self.reason.len() > LONGEST_NAME || said > LONGEST_SAID || self.calls == 0 {
            return Err(Refusal::invalid("a count of calls has a short reason and at least one call"));
        }
        Ok(())
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
