//! PRICE: what tokens cost, in whole millionths of a dollar, always rounded up.
//!
//! The team's own prices come first, then a table that ships with the binary. A model without a price is not called: what nobody can
//! price, nobody can hold a budget for.

mod own;
mod table;

use placet_domain::digest::Digest;

pub use own::OwnPrice;

use super::record::ModelTokens;
use super::wire::CacheWrites;

pub(crate) use table::{is_provider, provider_at};

/// All prices that are known here.
#[derive(Debug)]
pub struct Prices {
    own: Vec<OwnPrice>,
    /// Names the team's own prices by their content, so that a record tells by which of them it was made.
    own_version: String,
}

/// A model that nobody priced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{model}` has no price, so no budget can be held for it; add a `[[price]]` for it to gateway.toml")]
pub struct NoPrice {
    model: String,
}

impl Prices {
    pub fn new(own: Vec<OwnPrice>) -> Self {
        table::prepare();
        let own_version = format!("own-{}", &Digest::of(format!("{own:?}").as_bytes()).to_hex()[..12]);
        Self { own, own_version }
    }

    /// How calls of a model are priced. `provider` is who sells it, as the table calls them.
    pub(crate) fn tariff(&self, provider: Option<&str>, model: &str) -> Result<Tariff, NoPrice> {
        if let Some(price) = self.own.iter().find(|price| price.model.matches(model)) {
            return Ok(Tariff { version: self.own_version.clone(), by: By::Own(price.clone()) });
        }
        let found = provider.and_then(|provider| table::Listed::find(provider, model));
        let listed = found.ok_or_else(|| NoPrice { model: model.to_owned() })?;
        Ok(Tariff { version: table::VERSION.to_owned(), by: By::Table(listed) })
    }
}

/// The price of one model.
#[derive(Debug, Clone)]
pub(crate) struct Tariff {
    /// By which table.
    pub(crate) version: String,
    by: By,
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

    /// The most that so many tokens can cost: what goes in may be read plainly or be written to a cache, and it is not known
    /// beforehand which; all of it together at the dearest of these prices is never too little.
    pub(crate) fn worst(&self, input: u64, output: u64, cache_writes: CacheWrites) -> u64 {
        let plain = ModelTokens { input, output, ..ModelTokens::default() };
        let short = ModelTokens { cache_write: input, output, ..ModelTokens::default() };
        let long = ModelTokens { cache_write: input, cache_write_long: input, output, ..ModelTokens::default() };
        let ways: &[ModelTokens] = match cache_writes {
            CacheWrites::None => &[plain],
            CacheWrites::Short => &[plain, short],
            CacheWrites::Long => &[plain, short, long],
        };
        ways.iter().map(|tokens| self.cost(tokens)).max().unwrap_or(u64::MAX)
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
        let lock = include_str!("../../../../../Cargo.lock");
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

    proptest! {
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
            let tokens = ModelTokens { input, cache_read: read, cache_write: write, cache_write_long: write * long / 100, output, reasoning: 0 };
            prop_assert!(tariff.cost(&tokens) <= tariff.worst(tokens.taken_in(), output, CacheWrites::Long));
        }
    }
}
