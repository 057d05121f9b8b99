//! One file of a team, read and checked: its document with the lines, and what is wrong with it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::files::Root;
use super::json::{self, Node};
use super::problem::{Problem, ProblemKind};
use super::schema::{Finding, Schema};

/// The published schemas, by the name under which editors find them.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("agents_registry.schema.json", include_str!("../../schemas/agents_registry.schema.json")),
    ("agent_profile.schema.json", include_str!("../../schemas/agent_profile.schema.json")),
    ("policy.schema.json", include_str!("../../schemas/policy.schema.json")),
    ("protected_paths.schema.json", include_str!("../../schemas/protected_paths.schema.json")),
    ("raci.schema.json", include_str!("../../schemas/raci.schema.json")),
];

/// A published schema, read once.
fn schema(name: &str) -> &'static Schema {
    static READ: LazyLock<BTreeMap<&str, Schema>> =
        LazyLock::new(|| SCHEMAS.iter().map(|(name, text)| (*name, Schema::published(text))).collect());
    READ.get(name).expect("each kind of file has a published schema")
}

/// A file with its document.
#[derive(Debug)]
pub(crate) struct Sheet {
    file: String,
    document: Node,
}

/// The bytes of a file, if it is there and can be read. Why it cannot is a problem; that it is not there is not.
pub(crate) fn read(root: &Root, file: &str, problems: &mut Vec<Problem>) -> Option<Vec<u8>> {
    match root.read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            problems.push(Problem::with_file(file, error.to_string()));
            None
        }
    }
}

impl Sheet {
    /// Reads strict JSON and checks it against the schema.
    pub(crate) fn check(file: &str, bytes: &[u8], schema_name: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let sheet = Self::parse(file, bytes, problems)?;
        sheet.keeps(schema_name, problems).then_some(sheet)
    }

    /// Reads strict JSON, whatever it says.
    pub(crate) fn parse(file: &str, bytes: &[u8], problems: &mut Vec<Problem>) -> Option<Self> {
        match json::parse(bytes) {
            Ok(document) => Some(Self { file: file.to_owned(), document }),
            Err(flaws) => {
                let at = |flaw: json::Flaw| Problem::at(file, flaw.line, "", ProblemKind::Syntax, flaw.message);
                problems.extend(flaws.into_iter().map(at));
                None
            }
        }
    }

    /// Whether the document keeps a schema; where it does not, the problems say.
    pub(crate) fn keeps(&self, schema_name: &str, problems: &mut Vec<Problem>) -> bool {
        let findings = schema(schema_name).check(&self.document);
        let is_sound = findings.is_empty();
        let at = |found: Finding| Problem::at(&self.file, found.line, found.pointer, found.kind, found.message);
        problems.extend(findings.into_iter().map(at));
        is_sound
    }

    pub(crate) fn document(&self) -> &Node {
        &self.document
    }

    /// The document as a type of ours. The schema was kept, so this only fails if schema and type disagree.
    pub(crate) fn typed<T: DeserializeOwned>(&self, problems: &mut Vec<Problem>) -> Option<T> {
        let mut value = self.document.to_value();
        if let Value::Object(members) = &mut value {
            // Notes for editors and readers of the format, not content.
            members.remove("$schema");
            members.remove("version");
        }
        serde_json::from_value(whole_numbers(value))
            .map_err(|error| problems.push(self.problem("", format!("the published schema is too wide: {error}"))))
            .ok()
    }

    /// A problem that no schema finds.
    pub(crate) fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.document.line_of(pointer), pointer, ProblemKind::Meaning, message)
    }
}

/// Writes `600.0` and `6e2` as `600`: to JSON Schema they are whole numbers, and so they are to us.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "strict JSON holds no number beyond 2^53")]
            Some(float) if number.as_i64().is_none() && float.fract() == 0.0 => Value::from(float as i64),
            Some(_) | None => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}
