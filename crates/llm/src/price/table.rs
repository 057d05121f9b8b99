//! The table that ships with the binary. It counts in floating-point dollars, so its results are turned into whole numbers here,
//! and nowhere else.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use genai_prices::{Calculator, PriceRequest, Usage, UsageKey};

use crate::record::{ModelTokens, NotText};

/// The table is a part of the crate, so its version is the crate's; a test compares it with what was built in.
pub(super) const VERSION: &str = "genai-prices-0.2.1";
/// Enough tokens that a difference in price is a difference in whole millionths.
const MILLION: u64 = 1_000_000;
/// The table is exact to a two-hundredth of a millionth of a dollar; what is below that is no price but an error of rounding.
const NOISE_USD_MICROS: f64 = 0.01;
/// Models that were looked up are remembered; there are not as many, but agents choose the names.
const MOST_KNOWN: usize = 1_000;

/// A model in the table.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    provider: String,
    model: String,
    pub(super) context_tokens: Option<u64>,
    /// Whether every token costs the same, whatever it stands for. So it is for most, and then nothing else has to be tried.
    pub(super) is_text_alone: bool,
}

/// Models that were found, by provider and name: to match names and to try kinds of tokens takes longer than to price a call.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<(String, String), Listed>>);

impl Known {
    pub(super) fn find(&self, provider: &str, model: &str) -> Option<Listed> {
        let key = (provider.to_owned(), model.to_owned());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = known().get(&key) {
            return Some(listed.clone());
        }
        let listed = Listed::find(provider, model)?;
        let mut all = known();
        if all.len() >= MOST_KNOWN {
            all.clear();
        }
        all.insert(key, listed.clone());
        Some(listed)
    }
}

/// Reads the table now rather than at the first call: it takes a while.
pub(super) fn prepare() {
    let _ = Calculator::bundled();
}

/// Whether the table has somebody of this name.
pub(crate) fn is_provider(name: &str) -> bool {
    matches!(Calculator::bundled().find_provider(Some(name), None), Ok(Some(_)))
}

/// Whose address this is.
pub(crate) fn provider_at(url: &str) -> Option<String> {
    let found = Calculator::bundled().find_provider(None, Some(url)).ok()??;
    Some(found.id().to_owned())
}

impl Listed {
    fn find(provider: &str, model: &str) -> Option<Self> {
        let nothing = Usage::new();
        let request = PriceRequest::new(model, &nothing).with_provider_id(provider);
        let found = Calculator::bundled().calculate(&request).ok()?;
        let context_tokens = context_tokens(&found.provider_id, &found.model_id);
        let (provider, model) = (provider.to_owned(), model.to_owned());
        let listed = Self { provider, model, context_tokens, is_text_alone: true };
        Some(Self { is_text_alone: listed.prices_alike(), ..listed })
    }

    fn prices_alike(&self) -> bool {
        let sides: [fn(NotText) -> ModelTokens; 2] = [
            |input_not_text| ModelTokens { input: MILLION, input_not_text, ..ModelTokens::default() },
            |output_not_text| ModelTokens { output: MILLION, output_not_text, ..ModelTokens::default() },
        ];
        let kinds = NotText::each(MILLION);
        sides
            .iter()
            .all(|side| kinds.iter().all(|kind| self.cost(&side(*kind)) == self.cost(&side(NotText::default()))))
    }

    /// What could be found before can be priced now; should it fail all the same, it costs more than anybody has.
    pub(super) fn cost(&self, tokens: &ModelTokens) -> u64 {
        let usage = usage(tokens);
        let request = PriceRequest::new(&self.model, &usage).with_provider_id(&self.provider);
        Calculator::bundled().calculate(&request).map_or(u64::MAX, |price| whole_micros(price.total_price))
    }
}

fn context_tokens(provider: &str, model: &str) -> Option<u64> {
    let provider = Calculator::bundled().find_provider(Some(provider), None).ok()??;
    provider.models().find(|listed| listed.id() == model)?.context_window()
}

#[expect(clippy::cast_precision_loss, reason = "the table takes floating-point numbers; no call has 2^53 tokens")]
fn usage(tokens: &ModelTokens) -> Usage {
    let short = tokens.cache_write.saturating_sub(tokens.cache_write_long);
    let parts = [
        (UsageKey::INPUT_TOKENS, tokens.taken_in()),
        (UsageKey::CACHE_READ_TOKENS, tokens.cache_read),
        (UsageKey::CACHE_WRITE_TOKENS, tokens.cache_write),
        (UsageKey::CACHE_WRITE_1H_TOKENS, tokens.cache_write - short),
        (UsageKey::OUTPUT_TOKENS, tokens.output),
    ];
    let not_text = not_text(tokens);
    let parts = parts.into_iter().filter(|(_, count)| *count > 0).chain(not_text.into_iter().flatten());
    parts.map(|(key, count)| (key, count as f64)).collect()
}

/// What is no text, where there is some. The table wants to know then what of it came from a cache, also if it is nothing.
fn not_text(tokens: &ModelTokens) -> Option<[(UsageKey, u64); 9]> {
    let (input, output) = (tokens.input_not_text.at_most(tokens.input), tokens.output_not_text.at_most(tokens.output));
    let cached = tokens.cache_read_not_text.at_most(tokens.cache_read);
    let is_text = input.is_none() && cached.is_none() && output.is_none();
    (!is_text).then(|| {
        [
            (UsageKey::INPUT_AUDIO_TOKENS, input.audio + cached.audio),
            (UsageKey::INPUT_IMAGE_TOKENS, input.image + cached.image),
            (UsageKey::INPUT_VIDEO_TOKENS, input.video + cached.video),
            (UsageKey::CACHE_AUDIO_READ_TOKENS, cached.audio),
            (UsageKey::CACHE_IMAGE_READ_TOKENS, cached.image),
            (UsageKey::CACHE_VIDEO_READ_TOKENS, cached.video),
            (UsageKey::OUTPUT_AUDIO_TOKENS, output.audio),
            (UsageKey::OUTPUT_IMAGE_TOKENS, output.image),
            (UsageKey::OUTPUT_VIDEO_TOKENS, output.video),
        ]
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast stops at the ends of the range, and prices are not negative"
)]
fn whole_micros(usd: f64) -> u64 {
    (usd * 1e6 - NOISE_USD_MICROS).ceil() as u64
}
