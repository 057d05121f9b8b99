//! A sealed action as the question that Cedar is asked: who, which kind of act, upon what, with which particulars.
//!
//! The particulars are those of `policy/placet.cedarschema`, and a test holds the two together. Questions are not checked
//! against the schema again when they are asked: they are made here and nowhere else.

use std::sync::LazyLock;

use cedar_policy::{Context, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression, Schema, Validator};

use crate::proposal::{Action, ActionKind, ActionSpec, Opening};

pub(super) const SCHEMA_TEXT: &str = include_str!("../../policy/placet.cedarschema");

/// Checks rules against the schema.
pub(super) static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| Validator::new(schema()));

fn schema() -> Schema {
    Schema::from_cedarschema_str(SCHEMA_TEXT).expect("the shipped schema is tested").0
}

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
pub(super) struct Question<'action> {
    spec: &'action ActionSpec,
    principal: EntityUid,
    resource: EntityUid,
    /// The target as text, or nothing.
    target: String,
}

impl<'action> Question<'action> {
    pub(super) fn about(action: &'action Action) -> Self {
        let spec = action.spec();
        let target = spec.target.as_ref().map(ToString::to_string);
        let (kind_of_resource, resource) = match &target {
            Some(target) => (&WORDS.target, EntityId::new(target)),
            None => (&WORDS.workspace, EntityId::new(spec.run.to_string())),
        };
        Self {
            spec,
            principal: EntityUid::from_type_name_and_id(WORDS.agent.clone(), EntityId::new(spec.agent.to_string())),
            resource: EntityUid::from_type_name_and_id(kind_of_resource.clone(), resource),
            target: target.unwrap_or_default(),
        }
    }

    /// The question at a number of approvals, with those particulars that the rules to be asked mention.
    pub(super) fn at(&self, approvals: i64, mentioned: &[Fact]) -> Request {
        let facts = mentioned.iter().map(|fact| (fact.as_str().to_owned(), fact.of(self)));
        let approvals = (APPROVALS.to_owned(), RestrictedExpression::new_long(approvals));
        let context =
            Context::from_pairs(facts.chain([approvals])).expect("no name appears twice and no value is computed");
        let (principal, resource) = (self.principal.clone(), self.resource.clone());
        let action = kind_uid(self.spec.kind).clone();
        Request::new(principal, action, resource, context, None).expect("nothing is checked without a schema")
    }
}

pub(super) const APPROVALS: &str = "approvals";

macro_rules! facts {
    ($($variant:ident = $name:literal: |$question:ident| $value:expr;)*) => {
        /// A particular of an action that rules can mention, besides the approvals.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Fact { $($variant,)* }

        impl Fact {
            pub(super) const ALL: &[Self] = &[$(Self::$variant),*];

            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            fn of(self, question: &Question<'_>) -> RestrictedExpression {
                match self { $(Self::$variant => { let $question = question; $value })* }
            }
        }
    };
}

facts! {
    Tool = "tool": |q| text(q.spec.tool.as_str());
    Program = "program": |q| text(q.spec.argv.first().map_or("", String::as_str));
    Arguments = "arguments": |q| texts(arguments(q.spec).iter());
    Command = "command": |q| RestrictedExpression::new_string(arguments(q.spec).join(" "));
    Target = "target": |q| text(&q.target);
    HasTarget = "has_target": |q| RestrictedExpression::new_bool(q.spec.target.is_some());
    Network = "network": |q| openings(q.spec);
    UnseenNetwork = "unseen_network": |q| RestrictedExpression::new_bool(q.spec.network.iter().any(Opening::is_unseen));
    PlainNetwork = "plain_network": |q| RestrictedExpression::new_bool(q.spec.network.iter().any(Opening::is_plain));
    Credentials = "credentials": |q| credentials(q.spec);
    UsesCredential = "uses_credential": |q| RestrictedExpression::new_bool(!q.spec.credentials.is_empty());
    Files = "files": |q| texts(q.spec.files.iter().map(|file| &file.path));
    Outputs = "outputs": |q| texts(q.spec.outputs.iter());
    Writes = "writes": |q| RestrictedExpression::new_string(padded(&q.spec.outputs));
    Environment = "environment": |q| texts(q.spec.environment.keys());
    Profile = "profile": |q| text(&q.spec.profile);
    TimeoutMs = "timeout_ms": |q| RestrictedExpression::new_long(i64::try_from(q.spec.limits.timeout_ms).unwrap_or(i64::MAX));
}

fn arguments(spec: &ActionSpec) -> &[String] {
    spec.argv.get(1..).unwrap_or_default()
}

fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}

fn texts<'a>(values: impl Iterator<Item = &'a String>) -> RestrictedExpression {
    RestrictedExpression::new_set(values.map(|value| text(value)))
}

fn openings(spec: &ActionSpec) -> RestrictedExpression {
    RestrictedExpression::new_set(spec.network.iter().map(|opening| text(&opening.to_string())))
}

fn credentials(spec: &ActionSpec) -> RestrictedExpression {
    RestrictedExpression::new_set(spec.credentials.iter().map(|used| text(used.name.as_str())))
}

/// Every path with a space before and after it, so that a pattern can tell where a path begins and ends.
fn padded(paths: &[String]) -> String {
    paths.iter().fold(" ".to_owned(), |text, path| text + path + " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::example;
    use crate::proposal::Tools;

    fn action(line: &str) -> Action {
        let tools =
            Tools::parse("[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\nprefix = [\"-c\"]").expect("tools");
        example::action(line, &tools).expect("an example")
    }

    #[test]
    fn every_question_is_one_that_the_schema_knows() {
        let lines = [
            "sh 'a b'",
            "A=1 sh x >o/a >p <i",
            "kind:network_scan -x @10.0.0.0/24",
            "kind:http_request @https://example.org/ !team",
        ];
        let kinds: Vec<String> =
            ActionKind::ALL.iter().map(|kind| format!("kind:{kind} @https://example.org/")).collect();
        for line in lines.into_iter().chain(kinds.iter().map(String::as_str)) {
            let request = Question::about(&action(line)).at(2, Fact::ALL);
            let part = |uid: Option<&EntityUid>| uid.expect("a known part").clone();
            let (principal, act, resource) =
                (part(request.principal()), part(request.action()), part(request.resource()));
            let checked =
                Request::new(principal, act, resource, request.context().expect("a context").clone(), Some(&schema()));
            assert!(checked.is_ok(), "{line}: {:?}", checked.err());
        }
    }

    #[test]
    fn the_schema_lists_the_kinds_and_no_others() {
        let schema = schema();
        let mut known: Vec<String> = schema.actions().map(ToString::to_string).collect();
        let mut ours: Vec<String> = ActionKind::ALL.iter().map(|kind| kind_uid(*kind).to_string()).collect();
        known.sort();
        ours.sort();
        assert_eq!(known, ours);
    }

    #[test]
    fn the_particulars_are_what_the_schema_says() {
        let action = action("A=1 sh 'a b' @10.0.0.5 >o/a >p <i");
        let request = Question::about(&action).at(1, Fact::ALL);
        let expected = json!({
            "approvals": 1, "tool": "sh", "program": "/bin/sh", "arguments": ["-c", "10.0.0.5", "a b"],
            "command": "-c a b 10.0.0.5", "target": "10.0.0.5", "has_target": true, "network": [], "unseen_network": false, "plain_network": false, "credentials": [], "uses_credential": false, "files": ["i"], "outputs": ["o/a", "p"],
            "writes": " o/a p ", "environment": ["A"], "profile": "default", "timeout_ms": 120_000,
        });
        assert_eq!(request.context().expect("a context").to_json_value().expect("plain values"), expected);
    }

    #[test]
    fn only_what_is_mentioned_is_told() {
        let action = action("sh x");
        let request = Question::about(&action).at(0, &[Fact::Tool]);
        assert_eq!(
            request.context().expect("a context").to_json_value().expect("plain values"),
            json!({"approvals": 0, "tool": "sh"})
        );
    }

    #[test]
    fn an_act_without_a_target_is_upon_the_workspace() {
        assert!(Question::about(&action("sh x")).resource.to_string().starts_with("Workspace::\"run_"));
        assert_eq!(Question::about(&action("sh x @10.0.0.5")).resource.to_string(), "Target::\"10.0.0.5\"");
    }
}
