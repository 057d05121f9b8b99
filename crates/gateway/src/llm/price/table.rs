//! The table that ships with the binary. It counts in floating-point dollars, so its results are turned into whole numbers here,
//! and nowhere else.

use genai_prices::{Calculator, PriceRequest, Usage, UsageKey};

use crate::llm::record::ModelTokens;

/// The table is a part of the crate, so its version is the crate's; a test compares it with what was built in.
pub(super) const VERSION: &str = "genai-prices-0.2.1";
/// The table is exact to a two-hundredth of a millionth of a dollar; what is below that is no price but an error of rounding.
const NOISE_USD_MICROS: f64 = 0.01;

/// A model in the table.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    provider: String,
    model: String,
    pub(super) context_tokens: Option<u64>,
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
    pub(super) fn find(provider: &str, model: &str) -> Option<Self> {
        let nothing = Usage::new();
        let request = PriceRequest::new(model, &nothing).with_provider_id(provider);
        let found = Calculator::bundled().calculate(&request).ok()?;
        let context_tokens = context_tokens(&found.provider_id, &found.model_id);
        Some(Self { provider: provider.to_owned(), model: model.to_owned(), context_tokens })
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
    parts.into_iter().filter(|(_, count)| *count > 0).map(|(key, count)| (key, count as f64)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast stops at the ends of the range, and prices are not negative"
)]
fn whole_micros(usd: f64) -> u64 {
    (usd * 1e6 - NOISE_USD_MICROS).ceil() as u64
}
