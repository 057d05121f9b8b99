//! One meaning, one spelling: strict reading of I-JSON (RFC 7493) and writing of canonical JSON (RFC 8785).
//!
//! An approval binds a digest, so two different proposals must never share one. Ordinary parsers quietly merge them:
//! `{"a":1,"a":2}` becomes `{"a":2}` and `9007199254740993` becomes `…992`. Here both are refused *before* anything is
//! hashed. What is executed later is read from the canonical bytes, never from what the agent sent.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The largest integer that every JSON reader of the world reads alike (RFC 7493 §2.2).
pub const LARGEST_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Deeper nesting serves no action and costs every reader stack.
const DEEPEST_NESTING: usize = 32;

/// Text that is not the strict JSON asked for.
#[derive(Debug, thiserror::Error)]
#[error("not acceptable JSON: {0}")]
pub struct NotIJson(#[from] serde_json::Error);

/// Reads strict JSON: no duplicate key, no integer beyond ±(2^53 − 1), no nesting beyond 32 levels.
pub fn parse(bytes: &[u8]) -> Result<Value, NotIJson> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth_left: DEEPEST_NESTING }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Writes the one canonical form (RFC 8785) of a value.
///
/// # Panics
/// Only for types that cannot be JSON at all (maps with non-text keys, non-finite numbers); no type of ours is.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("our types have text keys and finite numbers")
}

struct Strict {
    depth_left: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        let depth_left = self.depth_left.checked_sub(1);
        let depth_left =
            depth_left.ok_or_else(|| E::custom(format_args!("nested deeper than {DEEPEST_NESTING} levels")))?;
        Ok(Self { depth_left })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        if value > LARGEST_SAFE_INTEGER { Err(unsafe_integer(value)) } else { Ok(value.into()) }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > LARGEST_SAFE_INTEGER { Err(unsafe_integer(value)) } else { Ok(value.into()) }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // Integers too long for 64 bits arrive here too, already rounded.
        #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in a double")]
        if value.abs() > LARGEST_SAFE_INTEGER as f64 {
            return Err(unsafe_integer(value));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.deeper()?)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` appears twice")));
            }
            let value = entries.next_value_seed(self.deeper()?)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

fn unsafe_integer<E: serde::de::Error>(value: impl fmt::Display) -> E {
    E::custom(format_args!("the number {value} is beyond ±(2^53 - 1), where readers disagree; send it as text"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).map(|value| value.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn duplicate_keys_are_refused_at_every_depth() {
        assert!(refusal(r#"{"a":1,"a":2}"#).contains("`a` appears twice"));
        assert!(refusal(r#"[{"x":{"a":1,"\u0061":2}}]"#).contains("`a` appears twice"));
    }

    #[test]
    fn integers_that_a_double_cannot_hold_are_refused_in_every_spelling() {
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "9007199254740992",
            "9007199254740993.0",
            "1e300",
            "123456789012345678901234567890",
        ] {
            assert!(refusal(text).contains("beyond"), "{text}");
        }
        assert_eq!(parse(b"9007199254740991").unwrap(), Value::from(9_007_199_254_740_991_u64));
    }

    #[test]
    fn deep_nesting_is_refused_before_it_costs_anything() {
        let deep = format!("{}1{}", "[".repeat(33), "]".repeat(33));
        assert!(refusal(&deep).contains("nested deeper"));
        assert!(refusal(&"[".repeat(1_000_000)).contains("nested deeper"));
    }

    #[test]
    fn trailing_text_and_broken_unicode_are_refused() {
        for text in ["1 2", "{} x", r#""\ud800""#, "", "nul", "[1,]", "{'a':1}", "\u{feff}{}"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn keys_are_sorted_by_utf16_and_numbers_written_as_in_ecmascript() {
        let value = parse(r#"{"\u20ac":1,"\r":2,"\ud83d\ude00":3,"1":4.50,"a":1e-7,"\ufb33":5}"#.as_bytes()).unwrap();
        let expected = "{\"\\r\":2,\"1\":4.5,\"a\":1e-7,\"€\":1,\"😀\":3,\"\u{fb33}\":5}";
        assert_eq!(String::from_utf8(to_bytes(&value)).unwrap(), expected);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (-1e15..1e15_f64).prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,8}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_bytes_are_a_fixed_point(value in json()) {
            let bytes = to_bytes(&value);
            let again = to_bytes(&parse(&bytes).unwrap());
            prop_assert_eq!(bytes, again);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
