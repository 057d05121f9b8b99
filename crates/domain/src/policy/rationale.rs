//! Rationale of a verdict: why a rule or a law demands what it demands. Laws and failures are codes with parameters; a rule has the words
//! of the team that wrote it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalogue::{CageCapability, Capability};
use crate::proposal::{ActionKind, ToolName};

/// Why a rule or a law demands what it demands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rationale {
    /// A rule of the team, in its own words.
    Rule {
        text: String,
    },
    /// A rule that ships with Placet and was loaded unchanged. The id of the rule names the sentence.
    ShippedRule {
        text: String,
    },
    /// A rule that failed. Its action is refused.
    RuleFailed {
        error: String,
    },
    NoRulePermits,
    /// Each number of approvals is refused by some rule.
    NoTierPermits,
    RunObserves {
        kind: ActionKind,
    },
    RunSupervised,
    AlwaysAsks {
        kind: ActionKind,
    },
    AsksBeforeNetwork,
    CageUnsuitable {
        needed: CageCapability,
    },
    SwitchOn {
        switch: String,
        kind: ActionKind,
    },
    ToolNotInEntry {
        tool: ToolName,
    },
    CageChanged {
        profile: String,
        tool: ToolName,
    },
    CageNotPlanned {
        tool: ToolName,
        profile: String,
        planned: Vec<String>,
    },
    CapabilityMissing {
        kind: ActionKind,
        any_of: Vec<Capability>,
    },
    TargetBeyondPlan {
        target: String,
        network: String,
    },
    OpeningBeyondPlan {
        opening: String,
        network: String,
    },
    ToolNotInScope {
        tool: ToolName,
    },
    TargetNotInScope {
        target: String,
    },
    OpeningNotInScope {
        opening: String,
    },
    ScopeChanged,
    ToolChanged {
        tool: ToolName,
    },
    PathDenied {
        path: String,
        by: String,
    },
    PathOutside {
        path: String,
    },
    /// The path of an output is none that a scope could judge.
    PathInvalid {
        error: String,
    },
}

impl fmt::Display for Rationale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { text } | Self::ShippedRule { text } => f.write_str(text),
            Self::RuleFailed { error } => {
                write!(f, "this rule could not be evaluated, so the action is refused: {error}")
            }
            Self::NoRulePermits => f.write_str("no rule permits this"),
            Self::NoTierPermits => f.write_str("no number of approvals satisfies every rule at once"),
            Self::RunObserves { kind } => write!(f, "this run only observes, and `{kind}` may change something"),
            Self::RunSupervised => f.write_str("every action of this run asks a person"),
            Self::AlwaysAsks { kind } => {
                write!(f, "before `{kind}` a person is always asked, whatever the policy says")
            }
            Self::AsksBeforeNetwork => {
                f.write_str("this run asks before it turns to others, and the cage of this action has a network")
            }
            Self::CageUnsuitable { needed } => write!(f, "the cage of this agent's entry is not good for `{needed}`"),
            Self::SwitchOn { switch, kind } => write!(f, "`{switch}` is on for this agent, and this is `{kind}`"),
            Self::ToolNotInEntry { tool } => write!(f, "the tool `{tool}` is not in this agent's entry"),
            Self::CageChanged { profile, tool } => write!(
                f,
                "the kind of cage `{profile}`, which `{tool}` runs in, was changed since the plan was approved"
            ),
            Self::CageNotPlanned { tool, profile, planned } => {
                let planned = planned.join(", ");
                write!(f, "`{tool}` runs in a cage of kind `{profile}`; with the plan these were approved: {planned}")
            }
            Self::CapabilityMissing { kind, any_of } => {
                let listed = any_of.iter().map(|capability| capability.as_str()).collect::<Vec<_>>().join(" or ");
                write!(f, "`{kind}` takes {listed}, which this agent's entry does not have")
            }
            Self::TargetBeyondPlan { target, network } => {
                write!(f, "the target `{target}` is beyond the network that this run was planned with: {network}")
            }
            Self::OpeningBeyondPlan { opening, network } => {
                write!(f, "`{opening}` is beyond the network that this run was planned with: {network}")
            }
            Self::ToolNotInScope { tool } => write!(f, "the tool `{tool}` is not in the scope of this run"),
            Self::TargetNotInScope { target } => write!(f, "the target `{target}` is not in the scope of this run"),
            Self::OpeningNotInScope { opening } => write!(f, "`{opening}` is not in the scope of this run"),
            Self::ScopeChanged => {
                f.write_str("the action was sealed under another scope than the run's; propose it again")
            }
            Self::ToolChanged { tool } => write!(f, "the tool `{tool}` was changed since; propose it again"),
            Self::PathDenied { path, by } => write!(f, "the path `{path}` is denied by `{by}`"),
            Self::PathOutside { path } => write!(f, "the path `{path}` is outside of what the scope allows"),
            Self::PathInvalid { error } => f.write_str(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rationales_survive_json_and_show_their_code() {
        let all = [
            Rationale::Rule { text: "spends money".to_owned() },
            Rationale::NoRulePermits,
            Rationale::RunObserves { kind: ActionKind::SendEmail },
            Rationale::CapabilityMissing { kind: ActionKind::SendEmail, any_of: Vec::new() },
        ];
        for rationale in all {
            let json = serde_json::to_value(&rationale).unwrap();
            assert!(json["code"].is_string(), "{json}");
            assert_eq!(serde_json::from_value::<Rationale>(json).unwrap(), rationale);
        }
    }
}
