//! A rule as it is asked, with the particulars it mentions.

use cedar_policy::Policy as CedarPolicy;
use serde_json::json;

use super::mention::Mentions;
use super::question::{APPROVALS, Fact};
use super::silence::Silence;

#[derive(Debug, Clone)]
pub(super) struct Seat {
    policy: CedarPolicy,
    mentioned: Vec<Fact>,
}

impl Seat {
    /// The rule exactly as it is written, to be tried on its examples.
    pub(super) fn as_written(policy: &CedarPolicy) -> Self {
        let mentions = policy.to_json().map_or(Mentions::Everything, |form| Mentions::of(&form));
        let mentioned = Fact::ALL.iter().copied().filter(|fact| mentions.includes(fact.as_str())).collect();
        Self { policy: policy.clone(), mentioned }
    }

    /// The rule without what its panel knows already, which would be half the work of a judgement: its place in the file, its
    /// annotations, the kinds of act it is limited to, and from how many approvals on it is silent, as it is asked at none.
    pub(super) fn in_panel(policy: &CedarPolicy, silence: Silence) -> Self {
        let lighter = policy.to_json().ok().and_then(|mut form| {
            form["action"] = json!({"op": "All"});
            form["annotations"] = json!({});
            if let Silence::From(_) = silence {
                let conditions = form["conditions"].as_array_mut()?;
                conditions.retain(|condition| !Mentions::of(condition).includes(APPROVALS));
            }
            CedarPolicy::from_json(Some(policy.id().clone()), form).ok()
        });
        Self::as_written(lighter.as_ref().unwrap_or(policy))
    }

    pub(super) const fn policy(&self) -> &CedarPolicy {
        &self.policy
    }

    pub(super) fn mentioned(&self) -> &[Fact] {
        &self.mentioned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(conditions: &str) -> Seat {
        let text = format!("@id(\"a\") forbid (principal, action == Action::\"read_file\", resource) {conditions};");
        let policy = CedarPolicy::parse(None, text).expect("a policy");
        Seat::in_panel(&policy, Silence::of(&policy))
    }

    #[test]
    fn a_seated_rule_carries_only_what_has_to_be_asked() {
        let usual = seat("when { context.tool == \"sh\" } unless { context.approvals >= 1 }");
        let bare = "forbid(principal, action, resource) when { context.tool == \"sh\" };";
        assert_eq!((usual.policy().to_string().as_str(), usual.mentioned()), (bare, &[Fact::Tool][..]));
    }

    #[test]
    fn a_rule_of_an_unusual_form_keeps_all_its_conditions() {
        let unusual = seat("when { context.tool == \"sh\" } when { context.approvals < 1 }");
        assert!(unusual.policy().to_string().contains("approvals"));
    }
}
