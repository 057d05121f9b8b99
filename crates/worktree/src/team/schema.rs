//! Checks documents against the schemas that are published in `schemas/`: the very files, not a copy in code.
//!
//! Only the part of JSON Schema (draft 2020-12) is understood that those files use; a keyword beyond it refuses every
//! document, so that none is ever skipped. What it gives and general validators do not: the line of each problem, and
//! messages made from the descriptions in the schema. `format` names rules of ours ([`super::format`]); for general
//! validators it is a note.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde_json::{Map, Value};

use super::format;
use super::json::{Content, Node, below};
use super::nearest::nearest;
use super::problem::ProblemKind;
use placet_domain::text::spelled_out;

/// One published schema.
#[derive(Debug)]
pub(crate) struct Schema {
    root: Value,
    patterns: BTreeMap<String, Regex>,
}

/// What a check found: where, which sort, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) line: usize,
    pub(crate) pointer: String,
    pub(crate) kind: ProblemKind,
    pub(crate) message: String,
}

impl Schema {
    /// # Panics
    /// If the text is no JSON object; the tests read each published schema.
    pub(crate) fn published(text: &'static str) -> Self {
        let root: Value = serde_json::from_str(text).expect("published schemas are JSON");
        assert!(root.is_object(), "published schemas are objects");
        Self::of(root)
    }

    fn of(root: Value) -> Self {
        let mut patterns = BTreeMap::new();
        compile(&root, &mut patterns);
        Self { root, patterns }
    }

    /// Everything in the document that breaks the schema.
    pub(crate) fn check(&self, document: &Node) -> Vec<Finding> {
        let mut check = Check { schema: self, found: Vec::new() };
        check.node(&self.root, document, "");
        check.found
    }
}

/// All patterns in a schema, each once. One that cannot be read is left out, and then matches nothing.
fn compile(schema: &Value, patterns: &mut BTreeMap<String, Regex>) {
    match schema {
        Value::Object(members) => {
            let pattern = members.get("pattern").and_then(Value::as_str);
            patterns.extend(pattern.and_then(|text| Some((text.to_owned(), Regex::new(text).ok()?))));
            members.values().for_each(|inner| compile(inner, patterns));
        }
        Value::Array(items) => items.iter().for_each(|inner| compile(inner, patterns)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

struct Check<'s> {
    schema: &'s Schema,
    found: Vec<Finding>,
}

/// A value at its place, with the schema it is checked against.
#[derive(Clone, Copy)]
struct Here<'s, 'd> {
    schema: &'s Map<String, Value>,
    node: &'d Node,
    pointer: &'d str,
}

impl<'s> Check<'s> {
    fn node(&mut self, schema: &'s Value, node: &Node, pointer: &str) {
        let Some(schema) = self.resolved(schema) else {
            return self.report(
                node.line,
                pointer,
                ProblemKind::Shape,
                "the published schema has a broken reference".into(),
            );
        };
        let here = Here { schema, node, pointer };
        if let Some(expected) = schema.get("type").and_then(Value::as_str)
            && !is_of_type(node, expected)
        {
            let message = format!("expected {}, found {}", named(expected), described(node));
            return self.shape(here, message);
        }
        for (keyword, rule) in schema {
            self.keyword(keyword, rule, here);
        }
    }

    /// Follows one reference within the document, the only kind that is used.
    fn resolved(&self, schema: &'s Value) -> Option<&'s Map<String, Value>> {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.schema.root.pointer(reference.strip_prefix('#')?)?.as_object(),
            None => schema.as_object(),
        }
    }

    fn keyword(&mut self, keyword: &str, rule: &'s Value, here: Here<'s, '_>) {
        match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "type" => {}
            "required" | "properties" | "additionalProperties" | "propertyNames" | "maxProperties" => {
                self.of_object(keyword, rule, here);
            }
            "items" | "minItems" | "maxItems" | "uniqueItems" => self.of_list(keyword, rule, here),
            "minLength" | "maxLength" | "pattern" | "format" => self.of_text(keyword, rule, here),
            "minimum" | "maximum" => self.of_number(keyword, rule, here),
            "enum" | "const" => self.of_any(rule, here),
            unknown => self.shape(here, format!("the published schema uses `{unknown}`, which is not understood")),
        }
    }

    fn of_object(&mut self, keyword: &str, rule: &'s Value, here: Here<'s, '_>) {
        let Content::Object(members) = &here.node.value else { return };
        match keyword {
            "required" => {
                for key in texts(rule).filter(|key| here.node.get(key).is_none()) {
                    let about = self.about(here.schema.get("properties").and_then(|known| known.get(key)));
                    self.shape(here, format!("`{key}` is missing{about}"));
                }
            }
            "properties" => {
                for member in members {
                    if let Some(schema) = rule.get(&member.key) {
                        self.node(schema, &member.value, &below(here.pointer, &member.key));
                    }
                }
            }
            "additionalProperties" => self.additional(rule, here),
            "propertyNames" => {
                for member in members {
                    let key = Node { line: member.line, value: Content::Text(member.key.clone()) };
                    self.node(rule, &key, &below(here.pointer, &member.key));
                }
            }
            _ => {
                let (count, most) = (members.len() as u64, rule.as_u64().unwrap_or_default());
                if count > most {
                    self.shape(here, format!("it has {count} entries and may have {most}"));
                }
            }
        }
    }

    fn additional(&mut self, rule: &'s Value, here: Here<'s, '_>) {
        let Content::Object(members) = &here.node.value else { return };
        let known = here.schema.get("properties").and_then(Value::as_object);
        for member in members.iter().filter(|member| !known.is_some_and(|known| known.contains_key(&member.key))) {
            let pointer = below(here.pointer, &member.key);
            if *rule == Value::Bool(false) {
                let known: Vec<&str> = known.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
                self.report(member.line, &pointer, ProblemKind::Shape, unknown_key(&member.key, &known));
            } else {
                self.node(rule, &member.value, &pointer);
            }
        }
    }

    fn of_list(&mut self, keyword: &str, rule: &'s Value, here: Here<'s, '_>) {
        let Content::List(items) = &here.node.value else { return };
        let (count, bound) = (items.len() as u64, rule.as_u64().unwrap_or_default());
        match keyword {
            "items" => {
                for (index, item) in items.iter().enumerate() {
                    self.node(rule, item, &below(here.pointer, &index.to_string()));
                }
            }
            "minItems" if count < bound => {
                let about = description(here.schema);
                self.shape(here, format!("it has {count} entries and needs {bound}: {about}"));
            }
            "maxItems" if count > bound => self.shape(here, format!("it has {count} entries and may have {bound}")),
            "uniqueItems" => self.unique(items, here.pointer),
            _ => {}
        }
    }

    fn unique(&mut self, items: &[Node], pointer: &str) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let value = item.to_value();
            if !seen.insert(placet_domain::canonical::to_bytes(&value)) {
                let pointer = below(pointer, &index.to_string());
                self.report(item.line, &pointer, ProblemKind::Shape, format!("{} is listed twice", shown(&value)));
            }
        }
    }

    fn of_text(&mut self, keyword: &str, rule: &'s Value, here: Here<'s, '_>) {
        let Content::Text(text) = &here.node.value else { return };
        let (count, bound) = (text.chars().count() as u64, rule.as_u64().unwrap_or_default());
        match (keyword, rule.as_str()) {
            ("minLength", _) if count < bound => {
                self.shape(here, format!("it must not be empty: {}", description(here.schema)));
            }
            ("maxLength", _) if count > bound => {
                self.shape(here, format!("it has {count} characters and may have {bound}"));
            }
            ("pattern", Some(pattern))
                if !self.schema.patterns.get(pattern).is_some_and(|regex| regex.is_match(text)) =>
            {
                self.shape(here, format!("{} is not accepted: {}", shown_text(text), description(here.schema)));
            }
            ("format", Some(name)) if !text.is_empty() => {
                if let Err(message) = format::check(name, text) {
                    self.report(here.node.line, here.pointer, ProblemKind::Meaning, message);
                }
            }
            _ => {}
        }
    }

    fn of_number(&mut self, keyword: &str, rule: &'s Value, here: Here<'s, '_>) {
        let (Content::Number(number), Some(bound)) = (&here.node.value, rule.as_f64()) else { return };
        let Some(value) = number.as_f64() else { return };
        let about = description(here.schema);
        match keyword {
            "minimum" if value < bound => self.shape(here, format!("{number} is less than {rule}: {about}")),
            "maximum" if value > bound => self.shape(here, format!("{number} is more than {rule}: {about}")),
            _ => {}
        }
    }

    fn of_any(&mut self, rule: &'s Value, here: Here<'s, '_>) {
        let value = here.node.to_value();
        let accepted = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
        if !accepted.iter().any(|one| same(one, &value)) {
            let accepted: Vec<String> = accepted.iter().map(shown).collect();
            self.shape(here, format!("expected {}, found {}", accepted.join(" or "), shown(&value)));
        }
    }

    /// The description of a property, to go with a message.
    fn about(&self, schema: Option<&'s Value>) -> String {
        let text = schema.and_then(|schema| self.resolved(schema)).map(description).unwrap_or_default();
        if text.is_empty() { String::new() } else { format!(": {text}") }
    }

    fn shape(&mut self, here: Here<'s, '_>, message: String) {
        self.report(here.node.line, here.pointer, ProblemKind::Shape, message);
    }

    fn report(&mut self, line: usize, pointer: &str, kind: ProblemKind, message: String) {
        self.found.push(Finding { line, pointer: pointer.to_owned(), kind, message });
    }
}

fn description(schema: &Map<String, Value>) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn texts(rule: &Value) -> impl Iterator<Item = &str> {
    rule.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Numbers are equal by value, as JSON Schema has it: `1.0` is `1`.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => one == other,
    }
}

fn is_of_type(node: &Node, expected: &str) -> bool {
    match &node.value {
        Content::Null => expected == "null",
        Content::Bool(_) => expected == "boolean",
        Content::Number(number) => {
            expected == "number" || expected == "integer" && number.as_f64().is_some_and(|value| value.fract() == 0.0)
        }
        Content::Text(_) => expected == "string",
        Content::List(_) => expected == "array",
        Content::Object(_) => expected == "object",
    }
}

fn named(kind: &str) -> &str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "string" => "a text in quotes",
        "array" => "a list in [ ]",
        "object" => "an object in { }",
        other => other,
    }
}

fn described(node: &Node) -> String {
    match &node.value {
        Content::List(_) => "a list".into(),
        Content::Object(_) => "an object".into(),
        Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => shown(&node.to_value()),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shown_text(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::Array(_) | Value::Object(_) => "a nested value".into(),
    }
}

fn shown_text(text: &str) -> String {
    let shown: String = spelled_out(text).chars().take(80).collect();
    format!("`{shown}`")
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    let advice = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys are {}", known.join(", ")),
    };
    format!("unknown key {}; {advice}", shown_text(key))
}

#[cfg(test)]
mod tests;
