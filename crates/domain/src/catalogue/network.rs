//! Whom an agent's work may reach, as its entry says. A scope must permit it too; neither replaces the other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::scope::{Target, TargetRule};

/// What of the network an agent's work may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NetworkUse {
    /// Nothing at all.
    None,
    /// These and nobody else.
    Allow(Vec<TargetRule>),
    /// Whatever the scope of a run permits, one request at a time.
    Filtered,
}

impl NetworkUse {
    /// Whether an action may name this target.
    pub fn permits(&self, target: &Target) -> bool {
        match self {
            Self::None => false,
            Self::Allow(rules) => rules.iter().any(|rule| rule.covers(target)),
            Self::Filtered => true,
        }
    }

    /// Whether everything the rule permits is permitted here.
    pub fn reaches(&self, wanted: &TargetRule) -> bool {
        let within = |rule: &TargetRule| match wanted {
            TargetRule::Within(target) => rule == wanted || rule.covers(target),
            TargetRule::Below(_) => rule == wanted,
        };
        match self {
            Self::None => false,
            Self::Allow(rules) => rules.iter().any(within),
            Self::Filtered => true,
        }
    }
}

impl fmt::Display for NetworkUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Filtered => f.write_str("filtered"),
            Self::Allow(rules) => {
                let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
                f.write_str(&rules.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> TargetRule {
        text.parse().unwrap()
    }

    #[test]
    fn an_allowlist_reaches_what_it_covers_and_nothing_wider() {
        let allowed = NetworkUse::Allow(vec![rule("example.org"), rule("*.shop.test"), rule("10.0.0.0/8")]);
        for inside in ["example.org", "https://example.org/prices", "a.shop.test", "*.shop.test", "10.1.0.0/16"] {
            assert!(allowed.reaches(&rule(inside)), "{inside}");
        }
        for outside in ["*.example.org", "shop.test", "evil.test", "10.0.0.0/7", "*.b.shop.test"] {
            assert!(!allowed.reaches(&rule(outside)), "{outside}");
        }
    }

    #[test]
    fn none_reaches_nobody_and_filtered_whoever_the_scope_permits() {
        assert!(!NetworkUse::None.reaches(&rule("example.org")));
        assert!(NetworkUse::Filtered.reaches(&rule("*.example.org")));
    }

    #[test]
    fn one_spelling_in_files_and_records() {
        let allowed = NetworkUse::Allow(vec![rule("example.org")]);
        assert_eq!(serde_json::to_string(&allowed).unwrap(), r#"{"allow":["example.org"]}"#);
        assert_eq!(serde_json::to_string(&NetworkUse::None).unwrap(), r#""none""#);
    }
}
