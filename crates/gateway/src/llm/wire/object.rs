//! A JSON object of which the places are known, so that one value can be changed and every other byte stays.
//!
//! It is no JSON library: it finds the members of an object and where they lie. Values are read by serde.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

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

/// The members of one object inside a text.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    source: &'a str,
    /// Where its opening brace is.
    start: usize,
    members: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Unreadable> {
        let bad = |why: &dyn fmt::Display| Unreadable::NoObject(why.to_string());
        let source = std::str::from_utf8(body).map_err(|error| bad(&error))?;
        let Members(members) = serde_json::from_str(source).map_err(|error| bad(&error))?;
        let start = source.find('{').ok_or_else(|| bad(&"it has no braces"))?;
        Ok(Self { source, start, members })
    }

    /// The whole text, of which this object may be a part.
    pub(crate) const fn source(&self) -> &'a str {
        self.source
    }

    /// The value of a member. A name is found in whatever case, because some servers read it so; only the one right spelling counts.
    pub(crate) fn get(&self, name: &str) -> Result<Option<&'a RawValue>, Unreadable> {
        self.get_any(&[name])
    }

    /// The same where a server takes several spellings for one thing.
    pub(crate) fn get_any(&self, names: &[&str]) -> Result<Option<&'a RawValue>, Unreadable> {
        let alike = |given: &str| names.iter().any(|name| given.eq_ignore_ascii_case(name));
        let mut found = self.members.iter().filter(|(given, _)| alike(given));
        let Some((given, value)) = found.next() else { return Ok(None) };
        let exact = names.contains(&given.as_str());
        if exact && found.next().is_none() { Ok(Some(value)) } else { Err(Unreadable::Twice(names[0].to_owned())) }
    }

    /// The value of a member as a type of ours; `null` counts as absent, as it does for the servers.
    pub(crate) fn read<T: DeserializeOwned>(&self, names: &[&str]) -> Result<Option<T>, Unreadable> {
        let Some(value) = self.get_any(names)? else { return Ok(None) };
        let odd = |error: serde_json::Error| Unreadable::Odd { name: names[0].to_owned(), why: error.to_string() };
        serde_json::from_str(value.get()).map_err(odd)
    }

    /// A member that is an object itself.
    pub(crate) fn object(&self, names: &[&str]) -> Result<Option<Self>, Unreadable> {
        match self.get_any(names)? {
            Some(value) if value.get() != "null" => self.inside(value, names[0]).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    fn inside(&self, value: &'a RawValue, name: &str) -> Result<Self, Unreadable> {
        let odd = |error: serde_json::Error| Unreadable::Odd { name: name.to_owned(), why: error.to_string() };
        let Members(members) = serde_json::from_str(value.get()).map_err(odd)?;
        Ok(Self { source: self.source, start: self.place(value).start, members })
    }

    /// Where a value of this object lies in the text: it borrows from it, so its address tells.
    pub(crate) fn place(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr().addr() - self.source.as_ptr().addr();
        start..start + value.get().len()
    }

    /// Puts a value in the place of the one that is there, or adds the member in front of all others.
    pub(crate) fn set(&self, name: &str, value: &str, edits: &mut Edits) -> Result<(), Unreadable> {
        match self.get(name)? {
            Some(old) => edits.push(self.place(old), value.to_owned()),
            None => {
                let comma = if self.members.is_empty() { "" } else { "," };
                edits.push(self.start + 1..self.start + 1, format!("\"{name}\":{value}{comma}"));
            }
        }
        Ok(())
    }

    /// Where a member lies together with the comma in front of it; `None` for the first one.
    pub(crate) fn with_comma(&self, value: &RawValue) -> Option<Range<usize>> {
        let place = self.place(value);
        let comma = self.source[..place.start].rfind(',')?;
        let between = self.source[comma + 1..place.start].trim();
        let name: String = serde_json::from_str(between.strip_suffix(':')?.trim_end()).ok()?;
        self.members.iter().any(|(given, _)| *given == name).then_some(comma..place.end)
    }
}

/// Changes to a text, by place.
#[derive(Debug, Default, Clone)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub(crate) fn push(&mut self, place: Range<usize>, text: String) {
        self.0.push((place, text));
    }

    /// The text with all changes; the same bytes, not a copy, if there are none.
    pub(crate) fn apply(mut self, source: &Bytes) -> Bytes {
        if self.0.is_empty() {
            return source.clone();
        }
        self.0.sort_by_key(|(place, _)| place.start);
        let mut edited = Vec::with_capacity(source.len() + 64);
        let mut from = 0;
        for (place, text) in &self.0 {
            edited.extend_from_slice(&source[from..place.start]);
            edited.extend_from_slice(text.as_bytes());
            from = place.end;
        }
        edited.extend_from_slice(&source[from..]);
        edited.into()
    }
}

/// All members in order, with duplicates.
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

    fn set(body: &str, name: &str, value: &str) -> String {
        let object = Object::parse(body.as_bytes()).unwrap();
        let mut edits = Edits::default();
        object.set(name, value, &mut edits).unwrap();
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
            let object = Object::parse(body.as_bytes()).unwrap();
            assert_eq!(object.get("model").unwrap_err(), Unreadable::Twice("model".into()), "{body}");
        }
        let object = Object::parse(br#"{"mod\u0065l":"x"}"#).unwrap();
        assert_eq!(object.read::<String>(&["model"]).unwrap().as_deref(), Some("x"));
    }

    #[test]
    fn what_is_no_object_says_where_it_stops_being_one() {
        for body in ["", "[]", "{", "{\"a\":}", "nul", "{} {}"] {
            assert!(matches!(Object::parse(body.as_bytes()), Err(Unreadable::NoObject(_))), "{body}");
        }
        assert!(Object::parse(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn an_object_inside_an_object_is_changed_in_its_place() {
        let body = r#"{"x":{"y":1},"z":{"y":2}}"#;
        let object = Object::parse(body.as_bytes()).unwrap();
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
