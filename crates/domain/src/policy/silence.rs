//! How approvals silence a rule, read off its form once, so that judging need not ask the same rule three times.
//!
//! Almost every rule either ignores approvals or ends with `unless { context.approvals >= 1 }`. What such a rule says at any
//! number of approvals follows from what it says at none. A rule of any other form is asked again at every number: the form
//! only saves work and never decides.

use cedar_policy::{Effect, Policy as CedarPolicy};
use serde_json::{Value, json};

use super::mention::Mentions;
use super::question::APPROVALS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// Approvals do not matter to it.
    Never,
    /// It falls silent from this number on, whatever else holds.
    From(i64),
    /// It has to be asked.
    Unknown,
}

impl Silence {
    pub(super) fn of(policy: &CedarPolicy) -> Self {
        let Ok(form) = policy.to_json() else { return Self::Unknown };
        let Some(conditions) = form["conditions"].as_array() else { return Self::Unknown };
        let mentions: Vec<&Value> =
            conditions.iter().filter(|condition| Mentions::of(condition).includes(APPROVALS)).collect();
        match (mentions.as_slice(), policy.effect()) {
            ([], _) => Self::Never,
            ([only], Effect::Forbid) => consent(only).map_or(Self::Unknown, Self::From),
            ([_], Effect::Permit) | ([_, _, ..], _) => Self::Unknown,
        }
    }

    /// Whether a rule that spoke at no approvals still speaks at this many; `None` if it has to be asked.
    pub(super) const fn still_speaks(self, approvals: i64) -> Option<bool> {
        match self {
            Self::Never => Some(true),
            Self::From(number) => Some(approvals < number),
            Self::Unknown => None,
        }
    }
}

/// The number in `unless { context.approvals >= number }`, at least 1: from 0 on, the rule would never speak at all.
fn consent(condition: &Value) -> Option<i64> {
    let comparison = &condition["body"][">="];
    let plain = condition["kind"] == "unless"
        && comparison["left"] == json!({".": {"left": {"Var": "context"}, "attr": APPROVALS}})
        && condition["body"].as_object().is_some_and(|body| body.len() == 1);
    comparison["right"]["Value"].as_i64().filter(|number| plain && *number >= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silence(statement: &str) -> Silence {
        Silence::of(&CedarPolicy::parse(None, statement).expect("a policy"))
    }

    fn forbid(conditions: &str) -> Silence {
        silence(&format!("forbid (principal, action, resource) {conditions};"))
    }

    #[test]
    fn the_usual_form_is_recognised() {
        assert_eq!(forbid(""), Silence::Never);
        assert_eq!(forbid("when { context.tool == \"sh\" }"), Silence::Never);
        assert_eq!(forbid("unless { context.approvals >= 1 }"), Silence::From(1));
        assert_eq!(forbid("unless { context[\"approvals\"] >= 2 } when { context.has_target }"), Silence::From(2));
    }

    #[test]
    fn every_other_form_has_to_be_asked() {
        let others = [
            "unless { context.approvals > 0 }",
            "unless { context.approvals >= 0 }",
            "unless { 1 <= context.approvals }",
            "when { context.approvals < 1 }",
            "when { context.approvals >= 1 }",
            "unless { context.approvals >= 1 || context.has_target }",
            "unless { context.approvals >= 1 } unless { context.approvals >= 2 }",
            "unless { context.approvals >= 0 + 1 }",
            "when { context[\"appr\\u{6f}vals\"] < 1 }",
            "unless { context has approvals }",
            "when { context == context }",
        ];
        for conditions in others {
            assert_eq!(forbid(conditions), Silence::Unknown, "{conditions}");
        }
        let permit = "permit (principal, action, resource) unless { context.approvals >= 1 };";
        assert_eq!(silence(permit), Silence::Unknown, "what silences a permit closes");
    }

    #[test]
    fn annotations_do_not_count() {
        assert_eq!(silence("@reason(\"two approvals\") forbid (principal, action, resource);"), Silence::Never);
    }
}
