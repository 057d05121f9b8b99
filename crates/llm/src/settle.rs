//! SETTLE: what a call really took, counted or estimated, goes to the purse with its record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use placet_domain::digest::Digest;

use super::models::is_form_of;
use super::portion::Portion;
use super::price::Tariff;
use super::purse::{Draw, Purse};
use super::record::ModelCall;
use super::stream::{Ending, Reached};
use super::took::{Known, Took};
use super::upstream::{Upstream, is_request_id};
use super::wire::{Tally, Wire};
use super::words::{Heard, Text, Words};

/// What is recorded as the status of a call whose agent left: nobody was told one.
const LEFT: u16 = 499;
/// What servers in front of a model say when they wait for it no longer (408 is Azure's, 524 Cloudflare's). The model may work on, and bills.
const GAVE_UP: [u16; 3] = [408, 504, 524];

/// Whether an upstream says by this status that it has waited long enough.
pub(crate) fn gave_up(status: u16) -> bool {
    GAVE_UP.contains(&status)
}

/// Everything about a call that is known when it is sent.
pub(crate) struct Open<P> {
    pub(crate) purse: Arc<P>,
    pub(crate) draw: Draw,
    pub(crate) id: String,
    pub(crate) wire: Wire,
    pub(crate) upstream: String,
    pub(crate) model: String,
    /// What the upstream calls it.
    pub(crate) called: String,
    pub(crate) streams: bool,
    pub(crate) request: Digest,
    pub(crate) request_bytes: u64,
    /// How many tokens all its answers together may have.
    pub(crate) most_output: u64,
    /// None for a call that costs nothing.
    pub(crate) tariff: Option<Tariff>,
    pub(crate) started: Instant,
    /// What the agent asked, where words are kept.
    pub(crate) words: Option<Heard>,
}

/// How an answer began.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) first_byte: Duration,
    /// What the upstream calls the call.
    pub(crate) request_id: Option<String>,
}

/// What became of a call.
struct Outcome {
    status: u16,
    first_byte: Option<Duration>,
    latency: Duration,
    response: Digest,
    model_answered: Option<String>,
    upstream_request: Option<String>,
    failed: bool,
    took: Took,
    /// What the agent got, where words are kept.
    heard: Answered,
}

/// The other side of a call.
enum Answered {
    /// By an upstream, as far as words are kept.
    Heard(Option<Heard>),
    /// By us.
    Said(Text),
}

impl Answered {
    /// Its text, and what holds it until somebody else has it.
    fn into_text(self) -> (Text, Option<Portion>) {
        match self {
            Self::Heard(None) => (Text::default(), None),
            Self::Heard(Some(heard)) => (heard.text, Some(heard.room)),
            Self::Said(text) => (text, None),
        }
    }
}

/// What an upstream may have worked for an answer that never came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayCost {
    Nothing,
    /// It broke: what it had begun.
    Begun,
    /// It was not waited for any longer. Models think for minutes before they show a word, so it may be almost finished.
    Longest,
}

impl<P: Purse> Open<P> {
    /// This upstream answered, or was the last that did not.
    pub(crate) fn answered_by(self, upstream: &Upstream, tariff: Option<Tariff>) -> Self {
        let called = upstream.calls(&self.model).to_owned();
        Self { upstream: upstream.settings.name.clone(), called, tariff, ..self }
    }

    /// Nothing came, and it is waited for no longer: because its agent left, or because everything stops. What was left may have been
    /// almost finished, so it is the longest either way.
    pub(crate) fn given_up(self) {
        let took = self.longest(&Tally::default());
        self.unheard(LEFT, &[], took);
    }

    /// An answer that was passed on, as far as it got.
    pub(crate) fn passed(self, head: Head, ending: Ending) {
        let took = self.used(head.status, &ending);
        self.settle(Outcome {
            status: head.status,
            first_byte: Some(head.first_byte),
            latency: ending.latency,
            response: ending.digest,
            model_answered: ending.tally.model,
            upstream_request: head.request_id.or(ending.tally.name.filter(|name| is_request_id(name))),
            failed: ending.tally.failed && head.status < 400,
            took,
            heard: Answered::Heard(ending.heard),
        });
    }

    /// No answer: we said this in its place.
    pub(crate) fn unanswered(self, status: u16, body: &[u8], may_cost: MayCost) {
        let took = match may_cost {
            MayCost::Nothing => Took::default(),
            MayCost::Begun => self.begun(),
            MayCost::Longest => self.longest(&Tally::default()),
        };
        self.unheard(status, body, took);
    }

    fn unheard(self, status: u16, body: &[u8], took: Took) {
        let took = if self.tariff.is_some() { took } else { Took::default() };
        let (latency, response) = (self.started.elapsed(), Digest::of(body));
        let heard = Answered::Said(Text::of(body));
        let (first_byte, model_answered, upstream_request, failed) = (None, None, None, false);
        self.settle(Outcome {
            status,
            first_byte,
            latency,
            response,
            model_answered,
            upstream_request,
            failed,
            took,
            heard,
        });
    }

    /// What an upstream has likely used that sent nothing until it broke. A stream shows what it makes, so
    /// there was only the input; an answer that is sent in one piece may have been finished, so it is the longest.
    fn begun(&self) -> Took {
        if self.streams {
            Took::likely(&Tally::default(), self.request_bytes, 0)
        } else {
            self.longest(&Tally::default())
        }
    }

    /// An answer as long as it could be, beside what it said about its input. Where it said nothing, as much went in as was drawn for:
    /// what an upstream kept, or a picture, has no bytes to guess from, and who hangs up must not choose a guess that is too low.
    fn longest(&self, tally: &Tally) -> Took {
        let mut tokens = tally.tokens;
        tokens.output = tokens.output.max(self.most_output);
        if tally.input_known {
            return Took { tokens, known: Known::Longest };
        }
        tokens.input = self.draw.worst().tokens.saturating_sub(self.most_output);
        Took { tokens, known: Known::Worst }
    }

    /// An upstream that refused a request has not worked for it; one that waited for its model no longer may have.
    fn used(&self, status: u16, ending: &Ending) -> Took {
        if self.tariff.is_some() && gave_up(status) {
            return self.longest(&Tally::default());
        }
        if self.tariff.is_none() || status >= 400 {
            return Took::default();
        }
        if ending.tally.is_exact(ending.reached == Reached::End) {
            return Took { tokens: ending.tally.tokens, known: Known::Counted };
        }
        match ending.reached {
            Reached::Left => self.longest(&ending.tally),
            // An answer in one piece was finished before its first byte came.
            Reached::Break if !self.streams => self.longest(&ending.tally),
            Reached::End | Reached::Break => Took::likely(&ending.tally, self.request_bytes, ending.received_bytes),
        }
    }

    fn settle(self, outcome: Outcome) {
        let took = outcome.took;
        let other = outcome.model_answered.as_deref().filter(|answered| !is_form_of(answered, &self.called));
        let tariff = self.tariff.map(|tariff| took.by_the_dearer(tariff, other));
        let (tokens, usd_micros) = took.priced(self.draw.worst(), tariff.as_ref());
        let record = ModelCall {
            id: self.id,
            wire: self.wire.to_string(),
            upstream: self.upstream,
            model_asked: self.model,
            other_model: other.is_some(),
            model_answered: outcome.model_answered,
            upstream_request: outcome.upstream_request,
            request: self.request,
            response: outcome.response,
            tokens,
            usd_micros,
            prices: tariff.map_or_else(|| "free".to_owned(), |tariff| tariff.version),
            estimated: took.known != Known::Counted,
            status: outcome.status,
            failed: outcome.failed,
            latency_ms: whole_ms(outcome.latency),
            first_byte_ms: outcome.first_byte.map(whole_ms),
            words: None,
        };
        if let Some(request) = self.words {
            // Both rooms are given back below, when the purse has the words: it counts them from then on.
            let (mut request, (mut response, _room)) = (request, outcome.heard.into_text());
            request.text.bytes.shrink_to_fit();
            response.bytes.shrink_to_fit();
            self.purse.keep_words(&record.id, Words { request: request.text, response });
        }
        self.purse.settle(self.draw, record.spent(), record);
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
