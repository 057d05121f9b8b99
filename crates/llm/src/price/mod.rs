//! PRICE: what tokens cost, in whole millionths of a dollar, always rounded up.
//!
//! The team's own prices come first, then a table that ships with the binary. A model without a price is not called: what nobody can
//! price, nobody can hold a budget for.

mod own;
mod table;

use std::sync::Arc;

use placet_domain::digest::Digest;

pub(crate) use own::OwnPrice;

use super::record::{ModelTokens, NotText};
use super::wire::CacheWrites;

pub(crate) use table::{is_provider, provider_at};

/// All prices that are known here.
#[derive(Debug, Clone)]
pub(crate) struct Prices(Arc<All>);

#[derive(Debug)]
struct All {
    own: Vec<OwnPrice>,
    /// Names the team's own prices by their content, so that a record tells by which of them it was made.
    own_version: String,
    known: table::Known,
}

/// A model that nobody priced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{model}` has no price, so no budget can be held for it; add a `[[price]]` for it to gateway.toml")]
pub(crate) struct NoPrice {
    model: String,
}

impl Prices {
    pub(crate) fn new(own: Vec<OwnPrice>) -> Self {
        table::prepare();
        let own_version = format!("own-{}", &Digest::of(format!("{own:?}").as_bytes()).to_hex()[..12]);
        Self(Arc::new(All { own, own_version, known: table::Known::default() }))
    }

    /// How calls of a model are priced. `provider` is who sells it, as the table calls them.
    pub(crate) fn tariff(&self, provider: Option<&str>, model: &str) -> Result<Tariff, NoPrice> {
        let all = &self.0;
        let (version, by) = match all.own.iter().find(|price| price.model.matches(model)) {
            Some(price) => (all.own_version.clone(), By::Own(price.clone())),
            None => {
                let found = provider.and_then(|provider| all.known.find(provider, model));
                let listed = found.ok_or_else(|| NoPrice { model: model.to_owned() })?;
                (table::VERSION.to_owned(), By::Table(listed))
            }
        };
        Ok(Tariff { version, by, takes: Takes::Text, among: self.clone(), provider: provider.map(str::to_owned) })
    }
}

/// The price of one model.
#[derive(Debug, Clone)]
pub(crate) struct Tariff {
    /// By which table.
    pub(crate) version: String,
    by: By,
    takes: Takes,
    /// Where the prices of others are found, from the same seller.
    among: Prices,
    provider: Option<String>,
}

/// What may go in, as far as prices differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Text,
    /// The request names content that it does not spell out: it may be a picture, a film or sound.
    Anything,
}

#[derive(Debug, Clone)]
enum By {
    Own(OwnPrice),
    Table(table::Listed),
}

impl Tariff {
    /// What these tokens cost, in millionths of a dollar.
    pub(crate) fn cost(&self, tokens: &ModelTokens) -> u64 {
        match &self.by {
            By::Own(price) => price.cost(tokens),
            By::Table(listed) => listed.cost(tokens),
        }
    }

    /// The price of another model of the same seller, if it has one.
    pub(crate) fn of_other(&self, model: &str) -> Option<Self> {
        self.among.tariff(self.provider.as_deref(), model).ok()
    }

    /// The same for calls that may take in this.
    #[must_use]
    pub(crate) fn taking(self, takes: Takes) -> Self {
        Self { takes, ..self }
    }

    /// The most that so many tokens can cost: what goes in may be read plainly or be written to a cache, may be text or sound, and it
    /// is not known beforehand which; all of it together at the dearest of these prices is never too little. What comes out is not for
    /// the request to say: some models answer with pictures without being asked.
    pub(crate) fn worst(&self, input: u64, output: u64, cache_writes: CacheWrites) -> u64 {
        let plain = ModelTokens { input, output, ..ModelTokens::default() };
        let short = ModelTokens { cache_write: input, output, ..ModelTokens::default() };
        let long = ModelTokens { cache_write: input, cache_write_long: input, output, ..ModelTokens::default() };
        let ways: &[ModelTokens] = match cache_writes {
            CacheWrites::None => &[plain],
            CacheWrites::Short => &[plain, short],
            CacheWrites::Long => &[plain, short, long],
        };
        let dearest_input = match self.takes {
            Takes::Text => NotText::default(),
            Takes::Anything => {
                self.dearest(input, |input_not_text| ModelTokens { input, input_not_text, ..ModelTokens::default() })
            }
        };
        let plain = ModelTokens { input_not_text: dearest_input, ..plain };
        let ways = ways.iter().chain((!dearest_input.is_none()).then_some(&plain));
        ways.map(|tokens| self.cost_at_most(tokens)).max().unwrap_or(u64::MAX)
    }

    /// What these tokens cost at most, if it is not known what came out.
    pub(crate) fn cost_at_most(&self, tokens: &ModelTokens) -> u64 {
        let (output, none) = (tokens.output, ModelTokens::default());
        let output_not_text = self.dearest(output, |output_not_text| ModelTokens { output, output_not_text, ..none });
        self.cost(&ModelTokens { output_not_text, ..*tokens })
    }

    /// As what so many tokens cost most, all of them as the same.
    fn dearest(&self, count: u64, of: impl Fn(NotText) -> ModelTokens) -> NotText {
        if self.is_text_alone() {
            return NotText::default();
        }
        let kinds = NotText::each(count).into_iter().chain([NotText::default()]);
        kinds.max_by_key(|kind| self.cost(&of(*kind))).unwrap_or_default()
    }

    const fn is_text_alone(&self) -> bool {
        match &self.by {
            By::Own(_) => true,
            By::Table(listed) => listed.is_text_alone,
        }
    }

    /// The most tokens that the model can take in, if that is known.
    pub(crate) const fn context_tokens(&self) -> Option<u64> {
        match &self.by {
            By::Own(price) => price.context_tokens,
            By::Table(listed) => listed.context_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn own() -> OwnPrice {
        toml::from_str(
            "model = 'local-*'\ninput = 100_000\noutput = 400_000\ncache_read = 10_000\ncache_write = 125_000",
        )
        .unwrap()
    }

    #[test]
    fn c12_what_claude_code_counts_itself_comes_out_to_the_millionth() {
        let tariff = Prices::new(Vec::new()).tariff(Some("anthropic"), "claude-opus-5-5").unwrap();
        let cost = tariff.cost(&ModelTokens { input: 35_781, output: 81, ..ModelTokens::default() });
        assert_eq!(cost, 144_744);
        assert_eq!(tariff.version, "genai-prices-0.2.1");
    }

    #[test]
    fn a_price_of_the_team_comes_before_the_table() {
        let cheap: OwnPrice = toml::from_str("model = 'claude-*'\ninput = 1\noutput = 1").unwrap();
        let tariff = Prices::new(vec![cheap]).tariff(Some("anthropic"), "claude-opus-5-5").unwrap();
        assert_eq!(tariff.cost(&ModelTokens { input: 1_000_000, output: 1, ..ModelTokens::default() }), 2);
        assert!(tariff.version.starts_with("own-"));
    }

    #[test]
    fn r30_what_nobody_priced_is_refused_with_what_to_do() {
        let refused = Prices::new(vec![own()]).tariff(Some("anthropic"), "mystery-1").unwrap_err();
        assert!(refused.to_string().contains("`mystery-1` has no price") && refused.to_string().contains("[[price]]"));
        assert!(Prices::new(Vec::new()).tariff(None, "claude-opus-5-5").is_err());
    }

    #[test]
    fn the_version_of_the_table_is_the_one_that_was_built_in() {
        let lock = include_str!("../../../../Cargo.lock");
        let (_, after) = lock.split_once("name = \"genai-prices\"\nversion = \"").unwrap();
        assert_eq!(format!("genai-prices-{}", after.split_once('"').unwrap().0), table::VERSION);
    }

    #[test]
    fn a_cache_for_an_hour_costs_more_than_one_for_minutes() {
        let tariff = Prices::new(Vec::new()).tariff(Some("anthropic"), "claude-opus-5-5").unwrap();
        let worst =
            [CacheWrites::None, CacheWrites::Short, CacheWrites::Long].map(|writes| tariff.worst(1_000, 0, writes));
        assert_eq!(worst, [4_000, 5_000, 8_000]);
    }

    fn million(of: NotText) -> ModelTokens {
        ModelTokens { input: 1_000_000, input_not_text: of, ..ModelTokens::default() }
    }

    #[test]
    fn c12_sound_and_pictures_cost_what_the_table_says_of_them() {
        let prices = Prices::new(Vec::new());
        let listed = |provider, model| prices.tariff(Some(provider), model).unwrap();
        let (audio, none) = (NotText { audio: 1_000_000, ..NotText::default() }, NotText::default());
        let flash = listed("google", "gemini-2.5-flash");
        assert_eq!((flash.cost(&million(none)), flash.cost(&million(audio))), (300_000, 1_000_000));
        let cached =
            |cache_read_not_text| ModelTokens { cache_read: 1_000_000, cache_read_not_text, ..ModelTokens::default() };
        assert_eq!((flash.cost(&cached(none)), flash.cost(&cached(audio))), (30_000, 100_000));
        let spoken = listed("openai", "gpt-audio");
        let said = |output_not_text| ModelTokens { output: 1_000_000, output_not_text, ..ModelTokens::default() };
        assert_eq!((spoken.cost(&said(none)), spoken.cost(&said(audio))), (10_000_000, 64_000_000));
        assert_eq!(spoken.cost(&million(audio)), 32_000_000);
        let image = NotText { image: 1_000_000, ..none };
        assert_eq!(listed("google", "gemini-2.5-flash-image").cost(&said(image)), 30_000_000);
        assert_eq!(Prices::new(vec![own()]).tariff(None, "local-1").unwrap().cost(&million(audio)), 100_000);
    }

    #[test]
    fn r30_the_dearest_of_text_sound_and_pictures_is_held_where_it_may_go_in_or_come_out() {
        let prices = Prices::new(Vec::new());
        let worst = |provider, model, takes, input, output| {
            prices.tariff(Some(provider), model).unwrap().taking(takes).worst(input, output, CacheWrites::None)
        };
        assert_eq!(worst("google", "gemini-2.5-flash", Takes::Text, 1_000_000, 0), 300_000);
        assert_eq!(worst("google", "gemini-2.5-flash", Takes::Anything, 1_000_000, 0), 1_000_000);
        assert_eq!(worst("openai", "gpt-audio", Takes::Anything, 1_000_000, 0), 32_000_000);
        // It answers with pictures unless it is told not to.
        assert_eq!(worst("google", "gemini-2.5-flash-image", Takes::Text, 0, 1_000_000), 30_000_000);
        assert_eq!(worst("anthropic", "claude-opus-5-5", Takes::Anything, 1_000, 0), 4_000, "nothing else has a price");
    }

    proptest! {
        /// Whatever an upstream says of kinds of tokens, it has a price, and one that was held for.
        #[test]
        fn r30_the_worst_case_covers_every_kind_of_token(
            (input, read, output) in (0u64..300_000, 0u64..300_000, 0u64..50_000),
            kinds in prop::array::uniform9(0u64..400_000),
            model in prop::sample::select(vec![("google", "gemini-2.5-flash"), ("google", "gemini-2.5-flash-image"), ("openai", "gpt-audio"), ("openai", "gpt-realtime"), ("anthropic", "claude-sonnet-4-5")]),
        ) {
            let tariff = Prices::new(Vec::new()).tariff(Some(model.0), model.1).unwrap().taking(Takes::Anything);
            let of = |at: usize| NotText { audio: kinds[at], image: kinds[at + 1], video: kinds[at + 2] };
            let tokens = ModelTokens {
                input, cache_read: read, output, input_not_text: of(0), cache_read_not_text: of(3), output_not_text: of(6), ..ModelTokens::default()
            };
            let cost = tariff.cost(&tokens);
            prop_assert!(cost < u64::MAX);
            prop_assert!(cost <= tariff.worst(tokens.taken_in(), output, CacheWrites::None));
            prop_assert_eq!(cost, tariff.cost(&tokens.at_most(u64::MAX)));
        }

        /// However the same tokens are split between the cache and plain reading, the worst case covers them.
        #[test]
        fn r30_the_worst_case_covers_every_split(
            (input, read, write, output) in (0u64..300_000, 0u64..300_000, 0u64..300_000, 0u64..50_000),
            long in 0u64..=100,
            of_table in any::<bool>(),
        ) {
            let prices = Prices::new(vec![own()]);
            let model = if of_table { "claude-sonnet-4-5" } else { "local-1" };
            let tariff = prices.tariff(Some("anthropic"), model).unwrap();
            let tokens = ModelTokens { input, cache_read: read, cache_write: write, cache_write_long: write * long / 100, output, ..ModelTokens::default() };
            prop_assert!(tariff.cost(&tokens) <= tariff.worst(tokens.taken_in(), output, CacheWrites::Long));
        }
    }
}
