//! What each keyword accepts and refuses, and that the published schemas keep to what is understood.

use super::*;
use crate::team::json;
use crate::team::sheet::SCHEMAS;

/// What a schema says of a document: `line pointer: message`.
fn said(schema: &str, document: &str) -> Vec<String> {
    let schema = Schema::of(serde_json::from_str(schema).unwrap());
    let document = json::parse(document.as_bytes()).unwrap();
    let found = schema.check(&document);
    found.iter().map(|found| format!("{} {}: {}", found.line, found.pointer, found.message)).collect()
}

fn accepts(schema: &str, document: &str) -> bool {
    said(schema, document).is_empty()
}

/// Each keyword with documents it accepts and refuses, as the specification has it.
#[test]
fn each_keyword_means_what_json_schema_says() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (r#"{"type":"integer"}"#, &["1", "1.0", "-3", "1e3"], &["1.5", "\"1\"", "null", "true"]),
        (r#"{"type":"string"}"#, &["\"\""], &["1", "[]"]),
        (r#"{"type":"boolean"}"#, &["true", "false"], &["0", "null"]),
        (r#"{"const":1}"#, &["1", "1.0"], &["2", "\"1\"", "true"]),
        (r#"{"enum":["a",2]}"#, &["\"a\"", "2"], &["\"b\"", "3"]),
        (r#"{"minLength":2}"#, &["\"éé\"", "7"], &["\"é\"", "\"\""]),
        (r#"{"maxLength":2}"#, &["\"éé\"", "[1,2,3]"], &["\"ééé\""]),
        (r#"{"pattern":"^[a-z]+$"}"#, &["\"abc\"", "5"], &["\"\"", "\"a1\"", "\"abc\\n\""]),
        (r#"{"minimum":2,"maximum":3}"#, &["2", "3", "\"9\""], &["1", "4", "1.9"]),
        (r#"{"minItems":1,"maxItems":2}"#, &["[1]", "[1,2]", "{}"], &["[]", "[1,2,3]"]),
        (
            r#"{"uniqueItems":true}"#,
            &["[1,2]", "[{\"a\":1},{\"a\":2}]"],
            &["[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"],
        ),
        (r#"{"items":{"type":"string"}}"#, &["[]", "[\"a\"]", "5"], &["[1]", "[\"a\",null]"]),
        (r#"{"required":["a"]}"#, &["{\"a\":null}", "[]"], &["{}", "{\"b\":1}"]),
        (r#"{"properties":{"a":{"type":"string"}}}"#, &["{}", "{\"a\":\"x\",\"b\":1}"], &["{\"a\":1}"]),
        (r#"{"properties":{"a":{}},"additionalProperties":false}"#, &["{\"a\":1}"], &["{\"b\":1}"]),
        (r#"{"additionalProperties":{"type":"string"}}"#, &["{\"b\":\"x\"}"], &["{\"b\":1}"]),
        (r#"{"propertyNames":{"pattern":"^a"}}"#, &["{\"ab\":1}"], &["{\"b\":1}"]),
        (r#"{"maxProperties":1}"#, &["{\"a\":1}"], &["{\"a\":1,\"b\":2}"]),
        (r##"{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}"##, &["\"a\""], &["1"]),
    ];
    for (schema, good, bad) in cases {
        for document in *good {
            assert!(accepts(schema, document), "{schema} should accept {document}: {:?}", said(schema, document));
        }
        for document in *bad {
            assert!(!accepts(schema, document), "{schema} should refuse {document}");
        }
    }
}

#[test]
fn what_is_not_understood_refuses_instead_of_being_skipped() {
    assert!(!accepts(r#"{"if":{"type":"string"}}"#, "1"));
    assert!(!accepts(r##"{"$ref":"#/$defs/none"}"##, "1"));
    assert!(!accepts(r#"{"pattern":"("}"#, "\"a\""));
    assert!(!accepts(r#"{"format":"date"}"#, "\"a\""));
}

#[test]
fn messages_carry_line_place_and_the_words_of_the_schema() {
    let schema = r#"{"properties":{"a/b":{"items":{"pattern":"^x","description":"Begins with x."}}},
        "additionalProperties":false,"required":["c"]}"#;
    let mut found = said(schema, "{\n\"a/b\": [\n\"x\",\n\"y\\u001b\"],\n\"a-b\": 1}");
    found.sort();
    assert_eq!(
        found,
        [
            "1 : `c` is missing",
            "4 /a~1b/1: `y⟦U+001B⟧` is not accepted: Begins with x.",
            "5 /a-b: unknown key `a-b`; did you mean `a/b`?",
        ]
    );
}

fn each_schema(value: &Value, visit: &mut impl FnMut(&Map<String, Value>)) {
    let Some(schema) = value.as_object() else { return };
    visit(schema);
    for keyword in ["items", "additionalProperties", "propertyNames"] {
        schema.get(keyword).into_iter().for_each(|inner| each_schema(inner, visit));
    }
    for keyword in ["properties", "$defs"] {
        let inner = schema.get(keyword).and_then(Value::as_object);
        inner.into_iter().flatten().for_each(|(_, inner)| each_schema(inner, visit));
    }
}

#[test]
fn a3_published_schemas_use_only_what_is_understood_and_describe_everything() {
    for (name, text) in SCHEMAS {
        let schema = Schema::published(text);
        assert_eq!(schema.root["$id"].as_str(), Some(*name));
        assert_eq!(schema.root["$schema"], "https://json-schema.org/draft/2020-12/schema");
        each_schema(&schema.root, &mut |part| {
            let probe = Node { line: 1, value: Content::Null };
            let mut check = Check { schema: &schema, found: Vec::new() };
            for (keyword, rule) in
                part.iter().filter(|(keyword, _)| !["enum", "const", "$ref"].contains(&keyword.as_str()))
            {
                check.keyword(keyword, rule, Here { schema: part, node: &probe, pointer: "" });
            }
            assert_eq!(check.found, [], "{name}: {part:?}");
            if let Some(reference) = part.get("$ref") {
                assert!(check.resolved(&Value::Object(part.clone())).is_some(), "{name}: {reference}");
            }
            let pattern = part.get("pattern").and_then(Value::as_str);
            assert!(pattern.is_none_or(|pattern| Regex::new(pattern).is_ok()), "{name}: {pattern:?}");
            let is_described = part.contains_key("description") || part.contains_key("$ref");
            let is_plain_object = part.get("type") == Some(&Value::from("object"));
            assert!(is_described || is_plain_object, "{name}: {part:?}");
        });
    }
}

#[test]
fn a3_every_format_that_a_schema_names_is_known() {
    for (name, text) in SCHEMAS {
        each_schema(&Schema::published(text).root, &mut |part| {
            let format = part.get("format").and_then(Value::as_str);
            let answer = format.map(|format| format::check(format, "x"));
            let is_known =
                answer.is_none_or(|answer| answer.err().is_none_or(|message| !message.contains("not known")));
            assert!(is_known, "{name}: {format:?}");
        });
    }
}
