//! A sealed action as the question that Cedar is asked: who, which kind of act, upon what, with which particulars.
//!
//! The particulars are those of `policy/placet.cedarschema`, and a test holds the two together. Questions are not checked
//! against the schema again when they are asked: they are made here and nowhere else.

use std::sync::LazyLock;

use cedar_policy::{Context, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression, Schema};

use crate::proposal::{Action, ActionKind, ActionSpec};

pub(super) const SCHEMA_TEXT: &str = include_str!("../../policy/placet.cedarschema");

pub(super) static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::from_cedarschema_str(SCHEMA_TEXT).expect("the shipped schema is tested").0);

/// Names that never change, read once: reading them costs more than a whole judgement.
static WORDS: LazyLock<Words> = LazyLock::new(Words::new);

struct Words {
    agent: EntityTypeName,
    workspace: EntityTypeName,
    target: EntityTypeName,
    /// In the order of `ActionKind::ALL`.
    kinds: Vec<EntityUid>,
}

impl Words {
    fn new() -> Self {
        let name = |text: &str| text.parse::<EntityTypeName>().expect("a plain name");
        let kind = |kind: &ActionKind| EntityUid::from_type_name_and_id(name("Action"), EntityId::new(kind.as_str()));
        let kinds = ActionKind::ALL.iter().map(kind).collect();
        Self { agent: name("Agent"), workspace: name("Workspace"), target: name("Target"), kinds }
    }
}

/// How Cedar names a kind of act.
pub(super) fn kind_uid(kind: ActionKind) -> &'static EntityUid {
    &WORDS.kinds[kind as usize]
}

/// What Cedar is asked about one action, at any number of approvals.
pub(super) struct Question {
    principal: EntityUid,
    action: &'static EntityUid,
    resource: EntityUid,
    facts: Vec<(&'static str, RestrictedExpression)>,
}

impl Question {
    pub(super) fn about(action: &Action) -> Self {
        let spec = action.spec();
        let target = spec.target.as_ref().map(ToString::to_string);
        let (kind_of_resource, resource) = match &target {
            Some(target) => (&WORDS.target, EntityId::new(target)),
            None => (&WORDS.workspace, EntityId::new(spec.run.to_string())),
        };
        Self {
            principal: EntityUid::from_type_name_and_id(WORDS.agent.clone(), EntityId::new(spec.agent.to_string())),
            action: kind_uid(spec.kind),
            resource: EntityUid::from_type_name_and_id(kind_of_resource.clone(), resource),
            facts: facts(spec, target.unwrap_or_default()),
        }
    }

    pub(super) fn at(&self, approvals: i64) -> Request {
        let facts = self.facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let approvals = ("approvals".to_owned(), RestrictedExpression::new_long(approvals));
        let context =
            Context::from_pairs(facts.chain([approvals])).expect("no name appears twice and no value is computed");
        let (principal, resource) = (self.principal.clone(), self.resource.clone());
        Request::new(principal, self.action.clone(), resource, context, None)
            .expect("nothing is checked without a schema")
    }
}

fn facts(spec: &ActionSpec, target: String) -> Vec<(&'static str, RestrictedExpression)> {
    let (program, arguments) = spec.argv.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    vec![
        ("tool", text(spec.tool.as_str())),
        ("program", text(program)),
        ("arguments", texts(arguments.iter())),
        ("command", RestrictedExpression::new_string(arguments.join(" "))),
        ("has_target", RestrictedExpression::new_bool(spec.target.is_some())),
        ("target", RestrictedExpression::new_string(target)),
        ("files", texts(spec.files.iter().map(|file| &file.path))),
        ("outputs", texts(spec.outputs.iter())),
        ("writes", RestrictedExpression::new_string(padded(&spec.outputs))),
        ("environment", texts(spec.environment.keys())),
        ("profile", text(&spec.profile)),
        ("timeout_ms", RestrictedExpression::new_long(i64::try_from(spec.limits.timeout_ms).unwrap_or(i64::MAX))),
    ]
}

fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}

fn texts<'a>(values: impl Iterator<Item = &'a String>) -> RestrictedExpression {
    RestrictedExpression::new_set(values.map(|value| text(value)))
}

/// Every path with a space before and after it, so that a pattern can tell where a path begins and ends.
fn padded(paths: &[String]) -> String {
    paths.iter().fold(" ".to_owned(), |text, path| text + path + " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::example;
    use crate::proposal::Tools;

    fn question(line: &str) -> Question {
        let tools = Tools::parse("[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\nprefix = [\"-c\"]").unwrap();
        Question::about(&example::action(line, &tools).expect("an example"))
    }

    #[test]
    fn every_question_is_one_that_the_schema_knows() {
        let lines = ["sh 'a b'", "A=1 sh x >o/a >p <i", "kind:network_scan -x @10.0.0.0/24"];
        let kinds: Vec<String> =
            ActionKind::ALL.iter().map(|kind| format!("kind:{kind} @https://example.org/")).collect();
        for line in lines.into_iter().chain(kinds.iter().map(String::as_str)) {
            let Question { principal, action, resource, .. } = question(line);
            let context = question(line).at(2).context().expect("a known context").clone();
            let request = Request::new(principal, action.clone(), resource, context, Some(&SCHEMA));
            assert!(request.is_ok(), "{line}: {:?}", request.err());
        }
    }

    #[test]
    fn the_schema_lists_the_kinds_and_no_others() {
        let mut known: Vec<String> = SCHEMA.actions().map(ToString::to_string).collect();
        let mut ours: Vec<String> = ActionKind::ALL.iter().map(|kind| kind_uid(*kind).to_string()).collect();
        known.sort();
        ours.sort();
        assert_eq!(known, ours);
    }

    #[test]
    fn the_particulars_are_what_the_schema_says() {
        let context = question("A=1 sh 'a b' @10.0.0.5 >o/a >p <i").at(1).context().unwrap().to_json_value().unwrap();
        let expected = serde_json::json!({
            "approvals": 1, "tool": "sh", "program": "/bin/sh", "arguments": ["-c", "10.0.0.5", "a b"],
            "command": "-c a b 10.0.0.5", "target": "10.0.0.5", "has_target": true, "files": ["i"], "outputs": ["o/a", "p"],
            "writes": " o/a p ", "environment": ["A"], "profile": "default", "timeout_ms": 120_000,
        });
        assert_eq!(context, expected);
    }

    #[test]
    fn an_act_without_a_target_is_upon_the_workspace() {
        assert!(question("sh x").resource.to_string().starts_with("Workspace::\"run_"));
        assert_eq!(question("sh x @10.0.0.5").resource.to_string(), "Target::\"10.0.0.5\"");
    }
}
