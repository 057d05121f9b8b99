//! What holds for every policy: order does not matter, more rules never mean less care.

use placet_domain::policy::{Reason, Tier};
use proptest::prelude::*;

use super::{Project, file, load, script_rule};

/// Words that conditions look for; the judged script has some of them.
const WORDS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// Ways to write that so many approvals silence a rule; only the first is the usual one.
#[derive(Debug, Clone, Copy)]
enum Consent {
    Usual,
    Reversed,
    Below,
    First,
}

impl Consent {
    const ALL: [Self; 4] = [Self::Usual, Self::Reversed, Self::Below, Self::First];

    fn written(self, approvals: u8) -> String {
        match self {
            Self::Usual => format!("unless {{ context.approvals >= {approvals} }}"),
            Self::Reversed => format!("unless {{ {approvals} <= context[\"approvals\"] }}"),
            Self::Below => format!("when {{ context.approvals < {approvals} }}"),
            Self::First => format!("unless {{ context.approvals > {approvals} - 1 }} when {{ context has approvals }}"),
        }
    }
}

#[derive(Debug, Clone)]
struct Sketch {
    forbids: bool,
    approvals: u8,
    consent: Consent,
    word: &'static str,
    hundredths: u8,
}

impl Sketch {
    fn rule(&self, at: usize) -> String {
        let head = "(principal, action == Action::\"execute_code\", resource)";
        let when = format!("when {{ context.command like \"*{}*\" }}", self.word);
        let statement = match (self.forbids, self.approvals) {
            (false, _) => format!("permit {head} {when};"),
            (true, 3) => format!("forbid {head} {when};"),
            (true, approvals) => format!("forbid {head} {when} {};", self.consent.written(approvals)),
        };
        script_rule(&format!("rule.n{at}"), &format!("0.{:02}", self.hundredths), &statement)
            .replace("sh yes", &format!("sh {}", self.word))
    }
}

fn sketch(forbids: impl Strategy<Value = bool>) -> impl Strategy<Value = Sketch> {
    let (word, consent) = (prop::sample::select(&WORDS[..]), prop::sample::select(&Consent::ALL[..]));
    (forbids, 1u8..=3, consent, word, 0u8..=40).prop_map(|(forbids, approvals, consent, word, hundredths)| Sketch {
        forbids,
        approvals,
        consent,
        word,
        hundredths,
    })
}

fn policy_text(sketches: &[Sketch]) -> String {
    sketches.iter().enumerate().map(|(at, sketch)| sketch.rule(at)).collect()
}

fn script() -> impl Strategy<Value = String> {
    prop::sample::subsequence(&WORDS[..], 0..=WORDS.len()).prop_map(|words| words.join(" "))
}

/// The tier by its definition, computed from the sketches alone.
fn expected_tier(sketches: &[Sketch], script: &str) -> Tier {
    let speaking: Vec<_> = sketches.iter().filter(|sketch| script.contains(sketch.word)).collect();
    let permitted = speaking.iter().any(|sketch| !sketch.forbids);
    let needed = speaking.iter().filter(|sketch| sketch.forbids).map(|sketch| sketch.approvals).max().unwrap_or(0);
    match (permitted, needed) {
        (false, _) | (true, 3..) => Tier::D,
        (true, 0) => Tier::A,
        (true, 1) => Tier::B,
        (true, 2) => Tier::C,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_tier_is_the_one_of_the_definition(sketches in prop::collection::vec(sketch(any::<bool>()), 0..6), script in script()) {
        let verdict = Project::with(&policy_text(&sketches)).judge_script(&script);
        prop_assert_eq!(verdict.tier(), expected_tier(&sketches, &script));
        let worst = verdict.reasons().iter().map(|reason| reason.demands).max();
        prop_assert_eq!(worst, Some(verdict.tier()), "the reasons explain the tier");
    }

    #[test]
    fn neither_the_order_of_rules_nor_of_files_changes_a_verdict(
        (rules, shuffled) in prop::collection::vec(sketch(any::<bool>()), 1..6).prop_flat_map(|sketches| {
            let rules: Vec<String> = sketches.iter().enumerate().map(|(at, sketch)| sketch.rule(at)).collect();
            (Just(rules.clone()), Just(rules).prop_shuffle())
        }),
        script in script(),
    ) {
        let one = Project::with(&rules.concat()).judge_script(&script);
        let files: Vec<_> = shuffled.iter().enumerate().map(|(at, rule)| file(&format!("{at}.cedar"), rule)).collect();
        let other = Project::new(load(&files).expect("a good policy")).judge_script(&script);
        prop_assert_eq!((one.tier(), one.risk(), one.reasons()), (other.tier(), other.risk(), other.reasons()));
    }

    #[test]
    fn another_forbid_never_lowers_the_tier_and_another_rule_never_lowers_the_risk(
        sketches in prop::collection::vec(sketch(any::<bool>()), 0..5),
        forbid in sketch(Just(true)),
        permit in sketch(Just(false)),
        script in script(),
    ) {
        let judged = |more: &[Sketch]| Project::with(&policy_text(&[&sketches, more].concat())).judge_script(&script);
        let (before, stricter, wider) = (judged(&[]), judged(&[forbid]), judged(&[permit]));
        prop_assert!(stricter.tier() >= before.tier());
        prop_assert!(stricter.risk() >= before.risk());
        prop_assert!(wider.risk() >= before.risk());
    }

    #[test]
    fn the_risk_is_the_capped_sum_of_the_listed_weights(sketches in prop::collection::vec(sketch(any::<bool>()), 0..6), script in script()) {
        let verdict = Project::with(&policy_text(&sketches)).judge_script(&script);
        let sum: u32 = verdict.reasons().iter().map(|reason: &Reason| u32::from(reason.weight.hundredths())).sum();
        prop_assert_eq!(u32::from(verdict.risk().hundredths()), sum.min(100));
    }

    #[test]
    fn the_shipped_policy_has_a_verdict_for_every_script(script in "[^\0]{0,60}") {
        let tier = Project::shipped().judge_script(&script).tier();
        prop_assert!(tier > Tier::A, "no script runs without somebody having read it");
    }
}
