//! Entries: one spelling, and no other.

use placet_ledger::{Entry, EntryError, MAX_ENTRY_BYTES};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{bytes, entry};

#[test]
fn an_entry_is_written_in_canonical_form_without_the_fields_it_lacks() {
    let text = String::from_utf8(bytes(&entry(3))).expect("UTF-8");
    assert_eq!(
        text,
        r#"{"actor":"agent","at":"2026-01-31T09:00:00.003Z","body":{"n":21},"kind":"note","run":"r1","seq":3,"v":1}"#
    );
}

#[test]
fn an_entry_is_read_back_as_it_was() {
    let mut entry = entry(12);
    entry.project = Some("atlas \"quoted\" \u{1f600}\n".into());
    entry.action = Some("a1".into());
    entry.body = json!({ "b": [1, 2.5, null, true], "a": { "é": "\u{7}" }, "": {} });
    assert_eq!(Entry::parse(&bytes(&entry)).expect("an entry"), entry);
}

#[test]
fn every_other_spelling_of_an_entry_is_refused() {
    let canonical = String::from_utf8(bytes(&entry(3))).expect("UTF-8");
    for (what, text) in [
        ("a space", canonical.replace(":3,", ": 3,")),
        ("a line break at the end", format!("{canonical}\n")),
        ("another order", canonical.replace(r#""seq":3,"v":1"#, r#""v":1,"seq":3"#)),
        ("a field twice", canonical.replace(r#""seq":3,"#, r#""seq":3,"seq":3,"#)),
        ("another spelling of a number", canonical.replace(r#""n":21"#, r#""n":2.1e1"#)),
        ("a needless escape", canonical.replace("agent", "\\u0061gent")),
    ] {
        let refused = Entry::parse(text.as_bytes());
        assert!(matches!(refused, Err(EntryError::NotCanonical)), "{what}: {refused:?}");
    }
}

#[test]
fn canonical_json_that_is_not_an_entry_is_refused() {
    let canonical = String::from_utf8(bytes(&entry(3))).expect("UTF-8");
    for (what, text) in [
        ("no body", canonical.replace(r#""body":{"n":21},"#, "")),
        ("an unknown field", canonical.replace(r#""v":1"#, r#""v":1,"x":1"#)),
        ("null for a field that can be left out", canonical.replace(r#""run":"r1""#, r#""run":null"#)),
        ("a number for a text", canonical.replace(r#""agent""#, "7")),
        ("another version", canonical.replace(r#""v":1"#, r#""v":2"#)),
        ("no actor", canonical.replace(r#""agent""#, r#""""#)),
        ("another form of time", canonical.replace(".003Z", "Z")),
        ("a day that does not exist", canonical.replace("01-31", "02-31")),
        ("a negative number", canonical.replace(r#""seq":3"#, r#""seq":-3"#)),
        ("a list", "[]".into()),
    ] {
        assert!(Entry::parse(text.as_bytes()).is_err(), "{what}");
    }
}

#[test]
fn an_entry_that_would_not_fit_into_a_bundle_is_refused_with_a_hint() {
    let mut entry = entry(0);
    let room = MAX_ENTRY_BYTES - bytes(&entry).len() + r#"{"n":0}"#.len() - r#""""#.len();
    entry.body = Value::from("x".repeat(room));
    assert_eq!(bytes(&entry).len(), MAX_ENTRY_BYTES);
    assert!(Entry::parse(&bytes(&entry)).is_ok());
    entry.body = Value::from("x".repeat(room + 1));
    let error = entry.to_bytes().expect_err("one byte too many");
    assert!(error.to_string().contains("record a digest"), "{error}");
}

#[test]
fn numbers_that_readers_would_round_are_refused() {
    let mut entry = entry(0);
    for number in [json!(9_007_199_254_740_993_u64), json!(-9_007_199_254_740_993_i64), json!(1e16), json!(u64::MAX)] {
        entry.body = json!({ "deep": [number.clone()] });
        assert!(matches!(entry.to_bytes(), Err(EntryError::UnsafeNumber { .. })), "{number}");
    }
    for number in [json!(9_007_199_254_740_991_u64), json!(1e21), json!(-1e300), json!(0.1), json!(5e-324)] {
        entry.body = number.clone();
        assert!(Entry::parse(&bytes(&entry)).is_ok(), "{number}");
    }
    entry.body = Value::Null;
    entry.seq = u64::MAX;
    assert!(entry.to_bytes().is_err());
}

#[test]
fn what_is_written_can_be_read_however_deep_it_nests() {
    let mut entry = entry(0);
    let mut written = 0;
    for depth in 0..100 {
        match entry.to_bytes() {
            Ok(bytes) => {
                assert!(Entry::parse(&bytes).is_ok(), "depth {depth}");
                written = depth;
            }
            Err(error) => assert!(matches!(error, EntryError::TooDeep), "{error}"),
        }
        entry.body = json!([entry.body]);
    }
    assert_eq!(written, 62, "the envelope and the object inside are levels too");
}

proptest! {
    #[test]
    fn whatever_texts_an_entry_carries_it_is_read_back_as_it_was(
        project in any::<Option<String>>(), actor in ".+", kind in ".+",
        text in any::<String>(), key in any::<String>(),
        number in any::<i32>(), fraction in -1e15..1e15_f64,
    ) {
        let mut entry = entry(5);
        (entry.project, entry.actor, entry.kind) = (project, actor, kind);
        entry.body = json!({ key: [text, number, fraction] });
        let read = Entry::parse(&bytes(&entry)).expect("an entry");
        prop_assert_eq!(bytes(&read), bytes(&entry));
        // A fraction that is whole is read back as a whole number, which is the same value in another type.
        prop_assert_eq!(Entry { body: entry.body.clone(), ..read }, entry);
    }

    #[test]
    fn arbitrary_bytes_never_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Entry::parse(&bytes).is_err());
    }
}
