//! RESERVE: the worst case of a call is drawn from the run's purse before anything is sent.
//!
//! How many tokens go in is known to the upstream alone. What is sure: a token stands for at least one byte of text, so a request
//! never has more tokens of text than bytes (its names and brackets pay for what a format adds around messages). Three bytes a token
//! would be closer to the truth for prose, but signs and rare scripts come close to one, and an agent may choose what it sends.
//! So one byte counts as one token unless a team decides otherwise ([`Limits::input_bytes_per_token`]); what is not used goes back
//! within seconds. Pictures, files and answers that an upstream kept have no bytes to count: there the model's whole context is
//! drawn, and where that is unknown the call is refused.

use placet_domain::budget::{Amounts, Resource, dollars};
use placet_domain::id::RunId;

use super::config::Limits;
use super::price::Tariff;
use super::purse::{Draw, NotDrawn, Purse};
use super::wire::{Asked, Complaint, Kind};

/// What an upstream may add unseen, such as its own explanation of how to call tools: Anthropic publishes up to 530 for it.
const UNSEEN_TOKENS: u64 = 1_000;
/// What it adds for each tool that the request only names and the upstream explains. Anthropic publishes 245 for its shell, 700 for its editor, and
/// 735 beside a preface of 499 for its computer; newer models cut the same words into a third more tokens. Others publish nothing.
const TYPED_TOOL_TOKENS: u64 = 2_000;
/// The context that some models have only if a header asks for it; tables may list the usual, smaller one.
const WIDE_CONTEXT_TOKENS: u64 = 1_000_000;
/// A shorter answer is money thrown away: agents ask again.
const LEAST_OUTPUT: u64 = 256;
/// How often an amount is tried again that other calls took in the meantime.
const TRIES: usize = 4;

/// What a call may cost at most, by how long its answer may be.
#[derive(Debug)]
pub(crate) struct Worst<'a> {
    input: u64,
    asked: &'a Asked,
    /// Of every upstream that might answer.
    tariffs: &'a [Tariff],
}

/// What was set aside, and how long the answer may be for it.
#[derive(Debug)]
pub(crate) struct Reserved {
    pub(crate) draw: Draw,
    pub(crate) most_output: u64,
}

impl<'a> Worst<'a> {
    pub(crate) fn of(
        asked: &'a Asked,
        body_bytes: usize,
        tariffs: &'a [Tariff],
        limits: &Limits,
    ) -> Result<Self, Complaint> {
        let unseen = UNSEEN_TOKENS + asked.typed_tools.saturating_mul(TYPED_TOOL_TOKENS);
        let text = (body_bytes as u64).div_ceil(limits.input_bytes_per_token.get()).saturating_add(unseen);
        let input = if asked.refers { text.max(context(asked, tariffs)?) } else { text };
        Ok(Self { input, asked, tariffs })
    }

    fn amounts(&self, output: u64) -> Amounts {
        let output = output.saturating_mul(self.asked.choices.max(1));
        let cost = self.tariffs.iter().map(|tariff| tariff.worst(self.input, output, self.asked.cache_writes)).max();
        Amounts { tokens: self.input.saturating_add(output), usd_micros: cost.unwrap_or(u64::MAX), ..Amounts::NONE }
    }

    /// The longest answer that is covered by what is left.
    fn covered(&self, left: Amounts, least: u64, most: u64) -> Option<u64> {
        let fits = |output| {
            let worst = self.amounts(output);
            worst.tokens <= left.tokens && worst.usd_micros <= left.usd_micros
        };
        if !fits(least) {
            return None;
        }
        let (mut fitting, mut above) = (least, most.saturating_add(1));
        while above - fitting > 1 {
            let middle = fitting + (above - fitting) / 2;
            if fits(middle) { fitting = middle } else { above = middle }
        }
        Some(fitting)
    }

    /// Draws for as long an answer as was asked for, or for a shorter one if that is all that is left.
    pub(crate) async fn draw<P: Purse>(&self, purse: &P, run: RunId, limits: &Limits) -> Result<Reserved, Complaint> {
        let usual = limits.output_tokens.get().max(self.asked.least_output);
        let wanted = self.asked.most_output.unwrap_or(usual).min(usual);
        let least = LEAST_OUTPUT.max(self.asked.least_output).min(wanted);
        let mut most_output = wanted;
        for _ in 0..TRIES {
            match purse.draw(run, self.amounts(most_output)).await {
                Ok(draw) => return Ok(Reserved { draw, most_output }),
                Err(NotDrawn::Exhausted { left }) => {
                    let Some(covered) = self.covered(left, least, most_output) else {
                        purse.ran_dry(run, self.short_of(left, least));
                        return Err(self.exhausted(left, least));
                    };
                    most_output = covered;
                }
                Err(other) => return Err(not_drawn(other)),
            }
        }
        Err(Complaint::new(Kind::Unavailable, "other calls of this run hold its budget; try again when they are done"))
    }

    /// What there is too little of.
    fn short_of(&self, left: Amounts, least: u64) -> Resource {
        if self.amounts(least).usd_micros > left.usd_micros { Resource::UsdMicros } else { Resource::Tokens }
    }

    fn exhausted(&self, left: Amounts, least: u64) -> Complaint {
        let need = self.amounts(least);
        let unlimited = |amount: u64, text: String| if amount == u64::MAX { "no limit".to_owned() } else { text };
        let money = unlimited(left.usd_micros, dollars(left.usd_micros));
        let tokens = unlimited(left.tokens, left.tokens.to_string());
        Complaint::new(
            Kind::Budget,
            format!(
                "the budget of this run does not cover this call: it may take {} and {} tokens, and left are {money} and {tokens} \
                 tokens; finish with what you have, or ask for a larger budget",
                dollars(need.usd_micros),
                need.tokens,
            ),
        )
    }
}

fn context(asked: &Asked, tariffs: &[Tariff]) -> Result<u64, Complaint> {
    let least = if asked.wide_context { WIDE_CONTEXT_TOKENS } else { 0 };
    let windows: Option<Vec<u64>> = tariffs.iter().map(Tariff::context_tokens).collect();
    windows.and_then(|all| all.into_iter().max()).map(|window| window.max(least)).ok_or_else(|| {
        let message = format!(
            "this request holds pictures, files or earlier answers, and it is not known how many tokens `{}` takes in; add \
             `context_tokens` to its `[[price]]` in gateway.toml",
            asked.model
        );
        Complaint::new(Kind::Forbidden, message)
    })
}

fn not_drawn(why: NotDrawn) -> Complaint {
    match why {
        NotDrawn::Exhausted { .. } => Complaint::new(Kind::Budget, "the budget of this run is used up"),
        NotDrawn::Closed(why) => Complaint::new(Kind::Forbidden, format!("this run makes no calls now: {why}")),
        NotDrawn::Fault(fault) => {
            tracing::error!(%fault, "nothing can be drawn");
            Complaint::new(Kind::Unavailable, "the budget cannot be checked at the moment; try again later")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;

    use super::*;
    use crate::price::{OwnPrice, Prices};
    use crate::wire::CacheWrites;

    fn tariff() -> Tariff {
        let price: OwnPrice =
            toml::from_str("model = 'm'\ninput = 1_000_000\noutput = 2_000_000\ncontext_tokens = 50_000").unwrap();
        Prices::new(vec![price]).tariff(None, "m").unwrap()
    }

    fn asked() -> Asked {
        Asked {
            model: "m".to_owned(),
            streams: true,
            most_output: Some(1_000),
            least_output: 0,
            choices: 1,
            cache_writes: CacheWrites::None,
            refers: false,
            wide_context: false,
            hides_usage: false,
            needs: Vec::new(),
            typed_tools: 0,
        }
    }

    fn left(tokens: u64, usd_micros: u64) -> Amounts {
        Amounts { tokens, usd_micros, ..Amounts::NONE }
    }

    #[test]
    fn a_byte_is_a_token_at_most_and_every_choice_costs() {
        let tariffs = [tariff()];
        let asked = Asked { choices: 3, ..asked() };
        let worst = Worst::of(&asked, 4_000, &tariffs, &Limits::default()).unwrap();
        assert_eq!(worst.amounts(1_000), left(4_000 + 1_000 + 3_000, 5_000 + 6_000));
    }

    #[test]
    fn c12_what_an_upstream_says_about_its_own_tools_is_drawn_as_well() {
        let tariffs = [tariff()];
        let asked = Asked { typed_tools: 3, ..asked() };
        let worst = Worst::of(&asked, 4_000, &tariffs, &Limits::default()).unwrap();
        assert_eq!(worst.amounts(0).tokens, 4_000 + 1_000 + 3 * 2_000);
    }

    #[test]
    fn what_cannot_be_counted_takes_the_whole_context() {
        let tariffs = [tariff()];
        let asked = Asked { refers: true, ..asked() };
        let worst = Worst::of(&asked, 10, &tariffs, &Limits::default()).unwrap();
        assert_eq!(worst.amounts(0).tokens, 50_000);
        let wide = Asked { wide_context: true, ..asked };
        assert_eq!(Worst::of(&wide, 10, &tariffs, &Limits::default()).unwrap().amounts(0).tokens, 1_000_000);
    }

    #[test]
    fn a_team_may_count_more_bytes_for_a_token() {
        let tariffs = [tariff()];
        let limits = Limits { input_bytes_per_token: NonZeroU64::new(3).unwrap(), ..Limits::default() };
        let asked = asked();
        assert_eq!(Worst::of(&asked, 3_001, &tariffs, &limits).unwrap().amounts(0).tokens, 1_001 + 1_000);
    }

    proptest! {
        #[test]
        fn the_longest_covered_answer_is_covered_and_the_next_is_not(tokens in 0u64..20_000, usd_micros in 0u64..20_000) {
            let tariffs = [tariff()];
            let asked = asked();
            let worst = Worst::of(&asked, 1_000, &tariffs, &Limits::default()).unwrap();
            let fits = |output: u64| worst.amounts(output).tokens <= tokens && worst.amounts(output).usd_micros <= usd_micros;
            match worst.covered(left(tokens, usd_micros), 256, 4_000) {
                Some(output) => prop_assert!(fits(output) && (output == 4_000 || !fits(output + 1))),
                None => prop_assert!(!fits(256)),
            }
        }
    }
}
