//! The verdict: tier, risk and reasons. Made by the judge in this module's parent and by nobody else.
//!
//! Risk is the sum of the weights of the listed reasons, capped at 1: whoever reads the verdict can recompute it by hand.
//! It is counted in hundredths, because a sum of floats depends on the order in which it is added.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::rationale::Rationale;
use crate::digest::Digest;

/// How many people must say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// Automatic.
    A,
    /// One reviewer.
    B,
    /// Two different reviewers.
    C,
    /// Refused.
    D,
}

impl Tier {
    pub const ALL: &[Self] = &[Self::A, Self::B, Self::C, Self::D];

    /// Approvals needed before it may be executed; none suffice for tier D.
    pub const fn approvals_needed(self) -> Option<usize> {
        match self {
            Self::A => Some(0),
            Self::B => Some(1),
            Self::C => Some(2),
            Self::D => None,
        }
    }

    pub const fn meaning(self) -> &'static str {
        match self {
            Self::A => "automatic",
            Self::B => "one reviewer",
            Self::C => "two reviewers",
            Self::D => "refused",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A number from 0 to 1 in steps of a hundredth.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Risk {
    hundredths: u8,
}

/// A weight that is not a risk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a risk; write a number from 0.00 to 1.00 with two decimals")]
pub struct BadRisk(String);

impl Risk {
    pub const NONE: Self = Self { hundredths: 0 };
    pub const CERTAIN: Self = Self { hundredths: 100 };

    pub const fn hundredths(self) -> u8 {
        self.hundredths
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { hundredths: (self.hundredths + other.hundredths).min(100) }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.hundredths / 100, self.hundredths % 100)
    }
}

impl fmt::Debug for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Risk {
    type Err = BadRisk;

    fn from_str(text: &str) -> Result<Self, BadRisk> {
        let bad = || BadRisk(text.chars().take(40).collect());
        let (whole, decimals) = text.split_once('.').ok_or_else(bad)?;
        if decimals.len() != 2 || !decimals.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        match (whole, decimals.parse::<u8>().map_err(|_| bad())?) {
            ("0", hundredths) => Ok(Self { hundredths }),
            ("1", 0) => Ok(Self::CERTAIN),
            _ => Err(bad()),
        }
    }
}

impl Serialize for Risk {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.hundredths) / 100.0)
    }
}

impl<'de> Deserialize<'de> for Risk {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        // Through text: `0.35` is exactly `0.35` there, whatever the double behind it is.
        format!("{value:.2}").parse().map_err(serde::de::Error::custom)
    }
}

/// One rule that spoke, and what it adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The rule's id, unique within the policy.
    pub rule: String,
    /// The least tier this rule demands.
    pub demands: Tier,
    /// What it adds to the risk.
    pub weight: Risk,
    pub because: Rationale,
}

/// What a verdict means for the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    Allow,
    Ask { approvals: usize },
    Deny,
}

/// What the policy says of one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    action: Digest,
    policy: Digest,
    tier: Tier,
    risk: Risk,
    reasons: Vec<Reason>,
}

impl Verdict {
    /// Adds the reasons up. The order of reasons is the order of rule ids, so that equal verdicts are equal bytes.
    pub(super) fn of(action: Digest, policy: Digest, tier: Tier, mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by(|a, b| a.rule.cmp(&b.rule));
        let risk = reasons.iter().fold(Risk::NONE, |sum, reason| sum.plus(reason.weight));
        Self { action, policy, tier, risk, reasons }
    }

    /// What holds of an action that has not been judged: nothing is permitted.
    pub(crate) fn unheard(action: Digest) -> Self {
        Self { action, policy: Digest::of(b""), tier: Tier::D, risk: Risk::CERTAIN, reasons: Vec::new() }
    }

    /// The digest of the action that was judged.
    pub const fn action(&self) -> Digest {
        self.action
    }

    /// The version of the policy that judged it.
    pub const fn policy(&self) -> Digest {
        self.policy
    }

    pub const fn tier(&self) -> Tier {
        self.tier
    }

    pub const fn risk(&self) -> Risk {
        self.risk
    }

    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    pub const fn ruling(&self) -> Ruling {
        match self.tier.approvals_needed() {
            Some(0) => Ruling::Allow,
            Some(approvals) => Ruling::Ask { approvals },
            None => Ruling::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reason(rule: &str, hundredths: u8) -> Reason {
        Reason {
            rule: rule.to_owned(),
            demands: Tier::A,
            weight: Risk { hundredths },
            because: Rationale::NoRulePermits,
        }
    }

    fn verdict(reasons: Vec<Reason>) -> Verdict {
        Verdict::of(Digest::of(b"a"), Digest::of(b"p"), Tier::B, reasons)
    }

    #[test]
    fn risk_is_the_sum_of_the_listed_weights() {
        let verdict = verdict(vec![reason("b", 20), reason("a", 10), reason("c", 5)]);
        assert_eq!(verdict.risk().to_string(), "0.35");
        assert_eq!(verdict.reasons()[0].rule, "a");
    }

    #[test]
    fn risk_never_exceeds_one() {
        assert_eq!(verdict(vec![reason("a", 90), reason("b", 90)]).risk(), Risk::CERTAIN);
    }

    #[test]
    fn weights_have_one_spelling() {
        for text in ["1", "0.5", "1.01", "-0.10", "0.355", ".50", "0,50", "", "1e0"] {
            assert!(text.parse::<Risk>().is_err(), "{text}");
        }
        assert_eq!("1.00".parse(), Ok(Risk::CERTAIN));
    }

    proptest! {
        #[test]
        fn every_risk_survives_text_and_json(hundredths in 0u8..=100) {
            let risk = Risk { hundredths };
            prop_assert_eq!(risk.to_string().parse(), Ok(risk));
            let json = serde_json::to_string(&risk).unwrap();
            prop_assert_eq!(serde_json::from_str::<Risk>(&json).unwrap(), risk);
        }

        #[test]
        fn the_order_in_which_rules_spoke_does_not_matter(mut weights in prop::collection::vec((0u8..=40, "[a-z]{4}"), 0..6)) {
            weights.sort_by(|a, b| a.1.cmp(&b.1));
            weights.dedup_by(|a, b| a.1 == b.1);
            let forwards = weights.iter().map(|(weight, rule)| reason(rule, *weight)).collect();
            let backwards = weights.iter().rev().map(|(weight, rule)| reason(rule, *weight)).collect();
            prop_assert_eq!(verdict(forwards), verdict(backwards));
        }
    }
}
