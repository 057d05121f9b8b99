//! What an editor marks by the schemas is what placet refuses, and the other way round: both read the same files, good and bad.

use placet_domain::catalogue::{CageCapability, Capability, Catalogue, shipped};
use placet_domain::planning::{Templates, shipped_templates};
use placet_domain::proposal::ActionKind;
use placet_sandbox::{LimitName, Profile, Profiles};
use regex::Regex;
use serde_json::{Map, Value};

use super::{ENTRY, PROFILE, TEMPLATE};

/// Whether a document fits, by the keywords that the schemas use. One that is not known here fails the test.
fn fits(schema: &Value, value: &Value) -> bool {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().all(|(keyword, rule)| keyword_holds(keyword, rule, rules, value))
}

fn keyword_holds(keyword: &str, rule: &Value, rules: &Map<String, Value>, value: &Value) -> bool {
    let text = value.as_str();
    let number = |rule: &Value| rule.as_u64().expect("a bound is a number");
    match keyword {
        "$schema" | "$id" | "title" | "description" | "default" => true,
        "type" => is_of_type(rule.as_str().expect("one type"), value),
        "enum" => rule.as_array().expect("a list").contains(value),
        "oneOf" => rule.as_array().expect("a list").iter().filter(|one| fits(one, value)).count() == 1,
        "minLength" => text.is_none_or(|text| text.chars().count() as u64 >= number(rule)),
        "maxLength" => text.is_none_or(|text| text.chars().count() as u64 <= number(rule)),
        "pattern" => text.is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
        "minimum" => value.as_i64().is_none_or(|is| is >= rule.as_i64().unwrap()),
        "maximum" => value.as_i64().is_none_or(|is| is <= rule.as_i64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= number(rule)),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= number(rule)),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(rule, item))),
        "required" => {
            let has = |key: &Value| value.as_object().is_none_or(|members| members.contains_key(key.as_str().unwrap()));
            rule.as_array().expect("a list").iter().all(has)
        }
        "properties" => value.as_object().is_none_or(|members| {
            members.iter().all(|(key, inner)| rule.get(key).is_none_or(|schema| fits(schema, inner)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let known = |key: &String| rules.get("properties").is_some_and(|known| known.get(key).is_some());
            let may = |inner: &Value| rule.as_bool().unwrap_or_else(|| fits(rule, inner));
            members.iter().filter(|(key, _)| !known(key)).all(|(_, inner)| may(inner))
        }),
        "propertyNames" => {
            value.as_object().is_none_or(|members| members.keys().all(|key| fits(rule, &Value::String(key.clone()))))
        }
        unknown => panic!("no schema uses `{unknown}` so far"),
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no schema uses the type `{other}` so far"),
    }
}

fn schema_takes(schema: &str, text: &str) -> bool {
    let schema: Value = serde_json::from_str(schema).unwrap();
    // What is no TOML at all is no document for either of them.
    toml::from_str::<Value>(text).is_ok_and(|document| fits(&schema, &document))
}

/// One line of a file, changed.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[track_caller]
fn agree(schema: &str, text: &str, placet_takes: bool) {
    assert_eq!(schema_takes(schema, text), placet_takes, "the schema and placet see it differently:\n{text}");
}

fn entry_is_taken(text: &str) -> bool {
    Catalogue::with([("ours.toml", text)]).is_ok()
}

fn our_entry() -> String {
    let (_, text) = shipped().iter().find(|(file, _)| *file == "browser_agent.toml").unwrap();
    changed(text, "id = \"browser_agent\"", "id = \"ours\"")
}

#[test]
fn c4_every_entry_and_template_and_profile_that_ships_fits_its_schema() {
    for (file, text) in shipped() {
        assert!(schema_takes(ENTRY, text), "{file}");
    }
    for (file, text) in shipped_templates() {
        assert!(schema_takes(TEMPLATE, text), "{file}");
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../sandbox/profiles");
    for name in Profile::NAMES.iter().filter(|name| **name != "default") {
        let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
        assert!(schema_takes(PROFILE, &text), "{name}");
    }
}

#[test]
fn c4_an_editor_marks_in_an_entry_what_placet_refuses() {
    let ours = our_entry();
    assert!(entry_is_taken(&ours) && schema_takes(ENTRY, &ours));
    for (from, to) in [
        ("id = \"ours\"", "id = \"Ours\""),
        ("id = \"ours\"", "id = 7"),
        ("name = \"Browser agent\"", "name = \"\""),
        ("name = \"Browser agent\"\n", ""),
        ("level = \"L3\"", "level = \"L9\""),
        ("capabilities = [\"browse\"", "capabilities = [\"fly\""),
        ("checkpoint = { pages = 10 }", "checkpoint = { pages = 0 }"),
        ("checkpoint = { pages = 10 }", "checkpoint = { hours = 1 }"),
        ("checkpoint = { pages = 10 }", "checkpoint = { pages = 10, steps = 1 }"),
        ("tokens = 5000000\n", ""),
        ("tokens = 5000000", "tokens = -1"),
        ("tokens = 5000000", "tokens = \"many\""),
        ("wall_ms = 7200000", "wall_ms = 0"),
        ("network = \"filtered\"", "network = \"all\""),
        ("network = \"filtered\"", "network = { allow = \"example.org\" }"),
        ("profile = \"browser_automation\"", "profile = \"../up\""),
        ("capabilities = [\"execute_code\", \"screenshots\"]", "capabilities = [\"clipboard\"]"),
        ("block_payments = true", "block_payments = \"yes\""),
        ("block_payments = true", "block_everything = true"),
        ("speaks = \"placet-api\"", "speaks = \"smoke\""),
        ("environment = [\"LANG\"]", "environment = [\"A=b\"]"),
        ("tools = [\"cat\"", "tools = [\"Cat\""),
        ("worst_case_percent = 200", "worst_case_percent = 99"),
        ("safe = ", "sound = "),
        ("[laws]", "[lores]"),
    ] {
        let bad = changed(&ours, from, to);
        assert!(!entry_is_taken(&bad), "{to}");
        agree(ENTRY, &bad, false);
    }
    for (from, to) in [
        ("network = \"filtered\"", "network = { allow = [\"example.org\"] }"),
        ("network = \"filtered\"", "network = \"none\""),
        ("checkpoint = { pages = 10 }", "checkpoint = { minutes = 5 }"),
        ("block_payments = true", "block_payments = false"),
        ("block_payments = true\n", ""),
        ("speaks = \"placet-api\"", "speaks = \"placet-api\"\nprogram = \"/opt/agents/main\"\narguments = [\"-v\"]"),
    ] {
        let good = changed(&ours, from, to);
        assert!(entry_is_taken(&good), "{to}");
        agree(ENTRY, &good, true);
    }
}

#[test]
fn c7_an_editor_marks_in_a_template_what_placet_refuses() {
    let taken = |text: &str| Templates::with([("ours.toml", text)]).is_ok();
    let (_, text) = shipped_templates().iter().find(|(file, _)| file.ends_with("price_scrape.toml")).unwrap();
    let ours = changed(text, "id = \"price_scrape\"", "id = \"ours\"");
    assert!(taken(&ours) && schema_takes(TEMPLATE, &ours));
    for (from, to) in [
        ("capability = \"research\"", "capability = \"guess\""),
        ("checkpoint = true", "checkpoint = \"always\""),
        ("checkpoint = true\n", ""),
        ("turns = 3", "turns = 0"),
        ("turns = 3", "turns = 10001"),
        ("pages = 10", "pages = 100001"),
        ("repeat = 5", "repeat = 0"),
        ("repeat = 5", "repeat = 201"),
        ("title = \"List the pages to visit\"", "title = \"\""),
        ("title = \"List the pages to visit\"", "titel = \"List\""),
        ("turns = 3", "turns = 3\nkinds = [\"teleport\"]"),
    ] {
        let bad = changed(&ours, from, to);
        assert!(!taken(&bad), "{to}");
        agree(TEMPLATE, &bad, false);
    }
    let good = changed(&ours, "turns = 3", "turns = 3\nkinds = [\"read_file\"]");
    assert!(taken(&good));
    agree(TEMPLATE, &good, true);
}

#[test]
fn c5_an_editor_marks_in_a_profile_what_placet_refuses() {
    let taken = |text: &str| Profiles::with([("ours", text)]).is_ok();
    let ours = |more: &str| format!("about = \"ours\"\nextends = \"default\"\n{more}");
    for (more, good) in [
        ("", true),
        ("demands = \"full\"", true),
        ("demands = \"some\"", false),
        ("programs = { is = \"refused\", reason = \"r\" }", true),
        ("programs = { is = \"refused\" }", false),
        ("programs = { is = \"maybe\", reason = \"r\" }", false),
        ("programs = { is = \"refused\", reason = \" \" }", false),
        ("capabilities = { is = [\"screenshots\"], reason = \"r\" }", true),
        ("capabilities = { is = [\"fly\"], reason = \"r\" }", false),
        ("doors = { is = [3128], reason = \"r\" }", true),
        ("doors = { is = [0], reason = \"r\" }", false),
        ("doors = { is = [70000], reason = \"r\" }", false),
        ("[limits]\nwall = { is = \"2h\", reason = \"r\" }", true),
        ("[limits]\nwall = { is = \"2 days\", reason = \"r\" }", false),
        ("[limits]\nmemory = { is = \"1GiB\", reason = \"r\" }", true),
        ("[limits]\nmemory = { is = \"1GB\", reason = \"r\" }", false),
        ("[limits]\nprocesses = { is = 64, reason = \"r\" }", true),
        ("[limits]\nshare = { is = \"150%\", reason = \"r\" }", true),
        ("[limits]\nsleep = { is = \"8h\", reason = \"r\" }", false),
        ("[scratch]\n\"/tmp\" = { is = \"1GiB\", reason = \"r\" }", true),
        ("[scratch]\n\"/var\" = { is = \"1GiB\", reason = \"r\" }", false),
        ("[variables]\nA = { is = \"b\", reason = \"r\" }", true),
        ("[variables]\nA = \"b\"", false),
        ("[read_only]\n\"/opt/x\" = { is = \"/srv/x\", reason = \"r\" }", true),
        ("[read_only]\n\"opt/x\" = { is = \"/srv/x\", reason = \"r\" }", false),
        ("[refused]\nsplice = { reason = \"r\" }", true),
        ("[refused]\nsplice = {}", false),
        ("surprise = 1", false),
    ] {
        let text = ours(more);
        assert_eq!(taken(&text), good, "{more}");
        agree(PROFILE, &text, good);
    }
    agree(PROFILE, "extends = \"default\"", taken("extends = \"default\""));
}

/// The words at a place of a schema.
fn words_at(schema: &str, pointer: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let at = schema.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"));
    if let Some(members) = at.as_object() {
        return members.keys().cloned().collect();
    }
    let words = at.as_array().unwrap_or_else(|| panic!("{at}"));
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn c4_the_schemas_know_every_word_that_placet_knows() {
    let sorted = |mut words: Vec<String>| {
        words.sort();
        words
    };
    let capabilities: Vec<String> = Capability::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(words_at(ENTRY, "/properties/capabilities/items/enum"), capabilities);
    assert_eq!(words_at(TEMPLATE, "/properties/step/items/properties/capability/enum"), capabilities);
    let kinds: Vec<String> = ActionKind::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(sorted(words_at(TEMPLATE, "/properties/step/items/properties/kinds/items/enum")), sorted(kinds));
    let cages: Vec<String> = CageCapability::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(words_at(ENTRY, "/properties/cage/properties/capabilities/items/enum"), cages);
    let limits: Vec<String> = LimitName::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(sorted(words_at(PROFILE, "/properties/limits/properties")), sorted(limits));
}
