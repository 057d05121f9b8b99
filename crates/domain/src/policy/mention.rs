//! Which particulars a rule mentions, read off its form, so that a question need not tell what nobody asks about.
//!
//! Cedar's JSON form spells every attribute in one way, where the text could write `context["tool"]` or use escapes. A rule
//! that takes the context as a whole mentions everything. Should this reading ever miss one, the rule fails for want of it,
//! and a rule that fails refuses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mentions {
    Some(BTreeSet<String>),
    Everything,
}

impl Mentions {
    /// What a part of a rule's JSON form mentions.
    pub(super) fn of(form: &Value) -> Self {
        let mut names = BTreeSet::new();
        match collect(form, &mut names) {
            Ok(()) => Self::Some(names),
            Err(WholeContext) => Self::Everything,
        }
    }

    pub(super) fn includes(&self, name: &str) -> bool {
        match self {
            Self::Some(names) => names.contains(name),
            Self::Everything => true,
        }
    }
}

struct WholeContext;

fn collect(form: &Value, names: &mut BTreeSet<String>) -> Result<(), WholeContext> {
    if let Some(name) = attribute(form) {
        names.insert(name.to_owned());
        return Ok(());
    }
    match form {
        Value::Object(_) if *form == context() => Err(WholeContext),
        Value::Object(members) => members.values().try_for_each(|member| collect(member, names)),
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The name in `context.name` or `context has name`.
fn attribute(form: &Value) -> Option<&str> {
    let access = form.get(".").or_else(|| form.get("has"))?;
    access["attr"].as_str().filter(|_| access["left"] == context())
}

fn context() -> Value {
    json!({"Var": "context"})
}

#[cfg(test)]
mod tests {
    use cedar_policy::Policy as CedarPolicy;

    use super::*;

    fn mentions(condition: &str) -> Mentions {
        let text = format!("permit (principal, action, resource) when {{ {condition} }};");
        Mentions::of(&CedarPolicy::parse(None, text).expect("a policy").to_json().expect("a form"))
    }

    fn names(names: &[&str]) -> Mentions {
        Mentions::Some(names.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_way_to_reach_a_particular_is_a_mention() {
        assert_eq!(mentions("true"), names(&[]));
        assert_eq!(mentions("context.tool == \"tool\" && !context.has_target"), names(&["has_target", "tool"]));
        assert_eq!(mentions("context[\"to\\u{6f}l\"] like \"a*\""), names(&["tool"]));
        assert_eq!(
            mentions("if context has tool then [context.files].contains(context.outputs) else false"),
            names(&["files", "outputs", "tool"])
        );
    }

    #[test]
    fn the_context_as_a_whole_is_everything() {
        for condition in
            ["context == context", "[context].isEmpty()", "{ a: context }.a.tool == \"x\"", "context has tool.more"]
        {
            assert!(mentions(condition).includes("timeout_ms"), "{condition}");
        }
    }
}
