//! A JSON object of which the places are known, so that one value can be changed and every other byte stays.
//!
//! It is no JSON library: it finds the members of an object and where they lie. Values are read by serde.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::edits::Edits;

/// Why a body is not passed on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the body is no JSON object: {0}")]
    NoObject(String),
    #[error("`{0}` is there twice, or in two spellings; send it once, as the documentation writes it")]
    Twice(String),
    #[error("`{name}` is not what it should be: {why}")]
    Odd { name: String, why: String },
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("{0}")]
    NotCarried(String),
}

/// No format has a third of these, and the longest list of settings that any of them nests is shorter still. A member takes up to ten times
/// its bytes here, so whoever sends millions of them would have far more memory than is counted for their body.
const MOST_MEMBERS: usize = 256;
/// The longest value that is read as a whole: names, numbers and short lists. What is longer would come once more in what serde says.
const LONGEST_READ: usize = 64 << 10;
/// What is told of what serde says: it may quote the value, however long that is.
const MOST_TOLD: usize = 200;

/// The members of one object inside a text. It holds places and no copies, and can be handed from one thread to another.
#[derive(Debug)]
pub(crate) struct Object {
    source: Bytes,
    /// Where its opening brace is.
    start: usize,
    members: Vec<(String, Range<usize>)>,
}

/// The value of one member, and where it lies.
#[derive(Debug, Clone)]
pub(crate) struct Value<'a> {
    pub(crate) text: &'a [u8],
    place: Range<usize>,
}

impl Value<'_> {
    pub(crate) fn is_null(&self) -> bool {
        self.text == b"null"
    }
}

impl Object {
    pub(crate) fn parse(body: &Bytes) -> Result<Self, Unreadable> {
        let bad = |why: &dyn fmt::Display| Unreadable::NoObject(told(why));
        let source = std::str::from_utf8(body).map_err(|error| bad(&error))?;
        let start = source.find('{').ok_or_else(|| bad(&"it has no braces"))?;
        let members = members(source, 0).map_err(|error| bad(&error))?;
        Ok(Self { source: body.clone(), start, members })
    }

    /// The whole text, of which this object may be a part.
    pub(crate) fn source(&self) -> &[u8] {
        &self.source
    }

    /// The names of all members, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a member. A name is found in whatever case, because some servers read it so; only the one right spelling counts.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Value<'_>>, Unreadable> {
        self.get_any(&[name])
    }

    /// The same where a server takes several spellings for one thing.
    pub(crate) fn get_any(&self, names: &[&str]) -> Result<Option<Value<'_>>, Unreadable> {
        let alike = |given: &str| names.iter().any(|name| given.eq_ignore_ascii_case(name));
        let mut found = self.members.iter().filter(|(given, _)| alike(given));
        let Some((given, place)) = found.next() else { return Ok(None) };
        if !names.contains(&given.as_str()) || found.next().is_some() {
            return Err(Unreadable::Twice(names[0].to_owned()));
        }
        Ok(Some(Value { text: &self.source[place.clone()], place: place.clone() }))
    }

    /// Whether a member is there and says something.
    pub(crate) fn has(&self, names: &[&str]) -> Result<bool, Unreadable> {
        Ok(self.get_any(names)?.is_some_and(|value| !value.is_null()))
    }

    /// The value of a member as a type of ours; `null` counts as absent, as it does for the servers.
    pub(crate) fn read<T: DeserializeOwned>(&self, names: &[&str]) -> Result<Option<T>, Unreadable> {
        let Some(value) = self.get_any(names)? else { return Ok(None) };
        if value.text.len() > LONGEST_READ {
            return Err(odd(names[0], &format_args!("it is longer than {LONGEST_READ} bytes")));
        }
        serde_json::from_slice(value.text).map_err(|error| odd(names[0], &error))
    }

    /// A number of at least one. Some servers take none or zero for «without limit», whatever others take it for.
    pub(crate) fn count(&self, names: &[&str]) -> Result<Option<u64>, Unreadable> {
        match self.read(names)? {
            Some(0) => Err(odd(names[0], &"some upstreams take 0 for no limit; send at least 1, or leave it out")),
            other => Ok(other),
        }
    }

    /// A member that is an object itself.
    pub(crate) fn object(&self, names: &[&str]) -> Result<Option<Self>, Unreadable> {
        match self.get_any(names)? {
            Some(value) if !value.is_null() => self.inside(&value, names[0]).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    fn inside(&self, value: &Value<'_>, name: &str) -> Result<Self, Unreadable> {
        let text = std::str::from_utf8(value.text).map_err(|error| odd(name, &error))?;
        let members = members(text, value.place.start).map_err(|error| odd(name, &error))?;
        Ok(Self { source: self.source.clone(), start: value.place.start, members })
    }

    /// Puts a value in the place of the one that is there, or adds the member in front of all others.
    pub(crate) fn set(&self, name: &str, value: &str, edits: &mut Edits) -> Result<(), Unreadable> {
        match self.get(name)? {
            Some(old) => edits.push(old.place, value.to_owned()),
            None => {
                let comma = if self.members.is_empty() { "" } else { "," };
                edits.push(self.start + 1..self.start + 1, format!("\"{name}\":{value}{comma}"));
            }
        }
        Ok(())
    }

    /// Where a member lies together with the comma in front of it; `None` for the first one.
    pub(crate) fn with_comma(&self, value: &Value<'_>) -> Option<Range<usize>> {
        let before = std::str::from_utf8(&self.source[..value.place.start]).ok()?;
        let comma = before.rfind(',')?;
        let name: String = serde_json::from_str(before[comma + 1..].trim().strip_suffix(':')?.trim_end()).ok()?;
        self.names().any(|given| given == name).then_some(comma..value.place.end)
    }
}

fn told(why: &dyn fmt::Display) -> String {
    why.to_string().chars().take(MOST_TOLD).collect()
}

fn odd(name: &str, why: &dyn fmt::Display) -> Unreadable {
    Unreadable::Odd { name: name.to_owned(), why: told(why) }
}

/// The members of an object that begins at this place of a text: values borrow from it, so their addresses tell where they lie.
fn members(object: &str, at: usize) -> Result<Vec<(String, Range<usize>)>, serde_json::Error> {
    let Members(found) = serde_json::from_str(object)?;
    let place = |value: &RawValue| {
        let start = at + value.get().as_ptr().addr() - object.as_ptr().addr();
        start..start + value.get().len()
    };
    Ok(found.into_iter().map(|(name, value)| (name, place(value))).collect())
}

/// All members in order, with duplicates, and not one more than are allowed.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    if members.len() == MOST_MEMBERS {
                        return Err(A::Error::custom(format_args!("it has more than {MOST_MEMBERS} members")));
                    }
                    members.push((name.into_owned(), value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn object(body: &str) -> Result<Object, Unreadable> {
        Object::parse(&Bytes::copy_from_slice(body.as_bytes()))
    }

    fn set(body: &str, name: &str, value: &str) -> String {
        let mut edits = Edits::default();
        object(body).unwrap().set(name, value, &mut edits).unwrap();
        String::from_utf8(edits.apply(&Bytes::copy_from_slice(body.as_bytes())).to_vec()).unwrap()
    }

    #[test]
    fn one_value_changes_and_every_other_byte_stays() {
        let body = " { \"a\" : 1.0e3 ,\n \"max\":\t9 , \"é\":\"\\u00e9\" }\n";
        assert_eq!(set(body, "max", "5"), body.replace("\t9", "\t5"));
        assert_eq!(set(body, "new", "5"), body.replacen('{', "{\"new\":5,", 1));
        assert_eq!(set("{}", "new", "5"), "{\"new\":5}");
    }

    #[test]
    fn a_name_in_two_spellings_is_refused() {
        for body in
            [r#"{"model":1,"model":2}"#, r#"{"model":1,"MODEL":2}"#, r#"{"Model":1}"#, r#"{"model":1,"mod\u0065l":2}"#]
        {
            let object = object(body).unwrap();
            assert_eq!(object.get("model").unwrap_err(), Unreadable::Twice("model".into()), "{body}");
        }
        let object = object(r#"{"mod\u0065l":"x"}"#).unwrap();
        assert_eq!(object.read::<String>(&["model"]).unwrap().as_deref(), Some("x"));
    }

    #[test]
    fn what_is_no_object_says_where_it_stops_being_one() {
        for body in ["", "[]", "{", "{\"a\":}", "nul", "{} {}"] {
            assert!(matches!(object(body), Err(Unreadable::NoObject(_))), "{body}");
        }
        assert!(Object::parse(&Bytes::from_static(b"{\"a\":\"\xff\"}")).is_err());
    }

    #[test]
    fn c12_no_object_has_members_without_end() {
        let with = |count: usize| format!("{{{}}}", vec![r#""a":0"#; count].join(","));
        assert_eq!(object(&with(MOST_MEMBERS)).unwrap().names().count(), MOST_MEMBERS);
        let why = object(&with(MOST_MEMBERS + 1)).unwrap_err().to_string();
        assert!(why.contains("it has more than 256 members"), "{why}");
        let nested = object(&format!(r#"{{"z":{}}}"#, with(MOST_MEMBERS + 1))).unwrap();
        assert!(matches!(nested.object(&["z"]), Err(Unreadable::Odd { .. })));
        let long = object(&format!(r#"{{"z":"{}"}}"#, "x".repeat(LONGEST_READ))).unwrap();
        assert!(long.read::<u64>(&["z"]).unwrap_err().to_string().len() < 2 * MOST_TOLD);
    }

    #[test]
    fn an_object_inside_an_object_is_changed_in_its_place() {
        let body = r#"{"x":{"y":1},"z":{"y":2}}"#;
        let object = object(body).unwrap();
        let inner = object.object(&["z"]).unwrap().unwrap();
        let mut edits = Edits::default();
        inner.set("y", "3", &mut edits).unwrap();
        inner.set("w", "4", &mut edits).unwrap();
        assert_eq!(edits.apply(&Bytes::from_static(body.as_bytes())), r#"{"x":{"y":1},"z":{"w":4,"y":3}}"#);
    }

    proptest! {
        #[test]
        fn setting_a_member_leaves_all_others(members in prop::collection::btree_map("[a-z]{1,6}", any::<i32>(), 0..6), value in any::<u16>()) {
            let body = serde_json::to_string(&members).unwrap();
            let mut wanted: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&body).unwrap();
            wanted.insert("max".into(), value.into());
            let found: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&set(&body, "max", &value.to_string())).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}
