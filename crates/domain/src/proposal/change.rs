//! Back from a sealed action to the wish behind it, so that a reviewer can change the wish and have it sealed anew.
//!
//! Changes name fields of a proposal. A field that is named is replaced as a whole, and `null` takes it away; the others
//! stay as they are. The agent's own words are not among them: nobody else writes those.

use serde_json::{Map, Value};

use super::action::{ActionSpec, Proposal, Unsealable};
use super::tool::{ToolNetwork, Tools};

/// Changes that do not lead to a proposal.
#[derive(Debug, thiserror::Error)]
pub enum BadChange {
    #[error("nothing is changed; name at least one field of the proposal")]
    Nothing,
    #[error("`justification` is the agent's own; say why you change something with `reason`")]
    AgentsWords,
    #[error("the changed proposal cannot be read: {0}")]
    Unreadable(serde_json::Error),
}

impl Proposal {
    /// The wish behind a sealed action, without the agent's words. Sealed again, it is the same action.
    pub fn behind(spec: &ActionSpec, tools: &Tools) -> Result<Self, Unsealable> {
        let tool = tools.get(&spec.tool).ok_or_else(|| Unsealable::UnknownTool(spec.tool.clone()))?;
        let changed = || Unsealable::ChangedTool(spec.tool.clone());
        if tool.version() != spec.tool_version {
            return Err(changed());
        }
        let end = spec.argv.len().saturating_sub(usize::from(spec.target.is_some()));
        let arguments = spec.argv.get(1 + tool.prefix.len()..end).ok_or_else(changed)?;
        let timeout_ms = spec.limits.timeout_ms;
        Ok(Self {
            tool: spec.tool.clone(),
            arguments: arguments.to_vec(),
            target: spec.target.clone(),
            environment: spec.environment.clone(),
            files: spec.files.clone(),
            outputs: spec.outputs.clone(),
            // Where a tool reaches its target alone, that goes without saying.
            network: if tool.network == ToolNetwork::Named { spec.network.clone() } else { Vec::new() },
            credentials: spec.credentials.iter().map(|used| used.name.clone()).collect(),
            timeout_ms: (timeout_ms != tool.limits.timeout_ms).then_some(timeout_ms),
            justification: String::new(),
        })
    }

    /// The same wish with some of its fields replaced.
    ///
    /// # Panics
    /// Never: a proposal is plain JSON.
    pub fn with(&self, changes: &Map<String, Value>) -> Result<Self, BadChange> {
        if changes.is_empty() {
            return Err(BadChange::Nothing);
        }
        if changes.contains_key("justification") {
            return Err(BadChange::AgentsWords);
        }
        let mut wish = serde_json::to_value(self).expect("a proposal is plain JSON");
        for (field, value) in changes {
            wish[field] = value.clone();
        }
        let taken_away = |_: &String, value: &mut Value| !value.is_null();
        wish.as_object_mut().expect("a proposal is an object").retain(taken_away);
        serde_json::from_value(wish).map_err(BadChange::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::digest::Digest;
    use crate::id::{IdentityId, RunId};
    use crate::proposal::Action;
    use crate::scope::{Scope, ScopeDraft};

    const TOOLS: &str = r#"
        [sh]
        program = "/bin/sh"
        kind = "execute_code"
        prefix = ["-c"]
        [nmap]
        program = "/usr/bin/nmap"
        kind = "network_scan"
    "#;

    fn tools() -> Tools {
        Tools::parse(TOOLS).unwrap()
    }

    fn wish(json: Value) -> Proposal {
        serde_json::from_value(json).unwrap()
    }

    fn seal(proposal: &Proposal) -> Action {
        let (run, agent) = (RunId::from_uuid(Uuid::from_u128(1)), IdentityId::from_uuid(Uuid::from_u128(2)));
        Action::seal(proposal, &tools(), &Scope::lock(ScopeDraft::default()), run, agent).unwrap()
    }

    fn changes(json: Value) -> Map<String, Value> {
        json.as_object().unwrap().clone()
    }

    #[test]
    fn b4_a_named_field_is_replaced_null_takes_it_away_and_the_rest_stays() {
        let scan = wish(
            json!({"tool": "nmap", "arguments": ["-sV"], "target": "10.0.0.5", "outputs": ["o"], "timeout_ms": 9}),
        );
        let narrower = scan.with(&changes(json!({"arguments": ["-sn"], "timeout_ms": null}))).unwrap();
        assert_eq!(narrower, Proposal { arguments: vec!["-sn".to_owned()], timeout_ms: None, ..scan.clone() });
        let nowhere = scan.with(&changes(json!({"target": null, "outputs": []}))).unwrap();
        assert_eq!(nowhere, Proposal { target: None, outputs: vec![], ..scan });
    }

    #[test]
    fn b4_what_is_no_field_of_a_proposal_or_not_the_reviewers_to_write_is_refused() {
        let scan = wish(json!({"tool": "nmap", "target": "10.0.0.5"}));
        let refused = |change: Value| scan.with(&changes(change)).unwrap_err().to_string();
        assert!(refused(json!({})).contains("nothing is changed"));
        assert!(refused(json!({"justification": "safe"})).contains("the agent's own"));
        assert!(refused(json!({"argv": ["/bin/true"]})).contains("unknown field `argv`"));
        assert!(refused(json!({"limits": {"timeout_ms": 1}})).contains("unknown field `limits`"));
        assert!(refused(json!({"tool": null})).contains("missing field `tool`"));
    }

    #[test]
    fn b4_a_wish_is_found_again_only_with_the_tools_it_was_sealed_with() {
        let action = seal(&wish(json!({"tool": "sh", "arguments": ["true"]})));
        let other = Tools::parse(&TOOLS.replace("\"-c\"", "\"-ec\"")).unwrap();
        assert!(matches!(Proposal::behind(action.spec(), &other), Err(Unsealable::ChangedTool(_))));
        let none = Tools::parse("").unwrap();
        assert!(matches!(Proposal::behind(action.spec(), &none), Err(Unsealable::UnknownTool(_))));
    }

    proptest! {
        #[test]
        fn b4_the_wish_behind_an_action_seals_to_the_same_action(
            tool in prop::sample::select(vec!["sh", "nmap"]),
            words in prop::collection::vec("[^\0]{0,8}", 0..6),
            target in prop::option::of(Just("10.0.0.5")),
            timeout_ms in prop::option::of(1u64..=120_000),
            values in prop::collection::btree_map("[B-D]{1,3}", "[^\0]{0,8}", 0..3),
        ) {
            let file = json!({"path": "in.txt", "digest": Digest::of(b"x"), "size_bytes": 1});
            let proposal = wish(json!({
                "tool": tool, "arguments": words, "target": target, "timeout_ms": timeout_ms, "environment": values,
                "files": [file], "outputs": ["b", "a"], "justification": "please",
            }));
            let action = seal(&proposal);
            let again = Proposal::behind(action.spec(), &tools()).unwrap();
            prop_assert_eq!(seal(&again).digest(), action.digest());
        }
    }
}
