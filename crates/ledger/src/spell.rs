//! Writing values in canonical form (RFC 8785), straight from the value.
//!
//! A general canonicaliser buffers every object to sort what a serialiser throws at it; a writer of a ledger does this
//! several times for everything that happens. Here the values are at hand, so that they are written once and in order.
//! Numbers that are not whole are left to the canonicaliser: how ECMAScript prints a double is nothing to write twice.

use std::io::Write as _;

use serde_json::{Number, Value};

/// Appends the canonical form of a value.
pub(crate) fn value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => self::number(out, number),
        Value::String(text) => string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                self::value(out, item);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            let mut members: Vec<(&String, &Value)> = object.iter().collect();
            // By UTF-16 code units, as the RFC wants it: that is not the order of the bytes beyond the basic plane.
            members.sort_unstable_by(|one, other| one.0.encode_utf16().cmp(other.0.encode_utf16()));
            out.push(b'{');
            for (index, (key, item)) in members.into_iter().enumerate() {
                separate(out, index);
                string(out, key);
                out.push(b':');
                self::value(out, item);
            }
            out.push(b'}');
        }
    }
}

fn separate(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

/// Appends a text with exactly the escapes of RFC 8785, which are the ones that `serde_json` writes.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing a text to memory cannot fail");
}

pub(crate) fn whole(out: &mut Vec<u8>, number: u64) {
    write!(out, "{number}").expect("writing to memory cannot fail");
}

fn number(out: &mut Vec<u8>, number: &Number) {
    match (number.as_u64(), number.as_i64()) {
        (Some(unsigned), _) => whole(out, unsigned),
        (None, Some(negative)) => write!(out, "{negative}").expect("writing to memory cannot fail"),
        (None, None) => {
            let double = serde_json_canonicalizer::to_vec(number).expect("numbers of JSON are finite");
            out.extend_from_slice(&double);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn spelled(given: &Value) -> String {
        let mut out = Vec::new();
        value(&mut out, given);
        String::from_utf8(out).expect("UTF-8")
    }

    fn by_the_book(given: &Value) -> String {
        serde_json_canonicalizer::to_string(given).expect("JSON")
    }

    #[test]
    fn the_awkward_cases_of_the_rfc_are_spelled_by_the_book() {
        let cases = [
            json!({"\u{20ac}": 1, "\r": 2, "\u{1f600}": 3, "1": 4.5, "\u{fb33}": 5, "\u{80}": 6, "ö": 7}),
            json!(["\u{0}\u{1f}\"\\/\u{7f}\u{2028}\u{8}\u{c}\n\r\t", 1e21, 1e-7, 0.1, -0.0, 333_333_333.333_333_3]),
            json!([0, -1, 9_007_199_254_740_991_i64, -9_007_199_254_740_991_i64, 4.0, {}, [], null, true, false, ""]),
        ];
        for case in cases {
            assert_eq!(spelled(&case), by_the_book(&case));
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            any::<f64>().prop_filter("finite", |double| double.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_spelled_by_the_book(given in any_json()) {
            prop_assert_eq!(spelled(&given), by_the_book(&given));
        }
    }
}
