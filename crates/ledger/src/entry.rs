//! One entry of the ledger: an envelope around a body, in exactly one spelling (RFC 8785 canonical JSON).
//!
//! The envelope says what every reader needs to order and filter history. What a `kind` means and what its `body` holds
//! is the business of those who write entries; this file guarantees only that the same entry always has the same bytes,
//! and that bytes which differ in the least are not taken for it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

use crate::canonical::{MAX_DEPTH, MAX_SAFE_INTEGER, is_canonical};
use crate::spell;
use crate::tile::MAX_ENTRY_BYTES;
use crate::timestamp::is_timestamp;

/// Most entries fit without growing.
const USUAL_BYTES: usize = 768;

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The version of the envelope: [`Entry::VERSION`].
    pub v: u8,
    /// The number of the entry, counted from 0 without gaps.
    pub seq: u64,
    /// When it was recorded: RFC 3339, UTC, milliseconds, such as `2026-01-31T09:30:00.000Z`.
    pub at: String,
    /// The project it belongs to, if to one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub project: Option<String>,
    /// The run it belongs to, if to one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub run: Option<String>,
    /// The action it belongs to, if to one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub action: Option<String>,
    /// Who caused it.
    pub actor: String,
    /// What happened.
    pub kind: String,
    /// The particulars, as the kind demands.
    pub body: Value,
}

impl Entry {
    /// The version of the envelope that this crate writes and reads.
    pub const VERSION: u8 = 1;

    /// The canonical bytes, which are what the ledger hashes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EntryError> {
        self.check()?;
        check_body(&self.body, MAX_DEPTH - 1)?;
        let bytes = self.spelled();
        check_length(&bytes)?;
        Ok(bytes)
    }

    /// The members in canonical order: by name.
    fn spelled(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(USUAL_BYTES);
        out.push(b'{');
        let text = |out: &mut Vec<u8>, name: &str, text: &str| {
            out.extend_from_slice(name.as_bytes());
            spell::string(out, text);
            out.push(b',');
        };
        if let Some(action) = &self.action {
            text(&mut out, "\"action\":", action);
        }
        text(&mut out, "\"actor\":", &self.actor);
        text(&mut out, "\"at\":", &self.at);
        out.extend_from_slice(b"\"body\":");
        spell::value(&mut out, &self.body);
        out.push(b',');
        text(&mut out, "\"kind\":", &self.kind);
        if let Some(project) = &self.project {
            text(&mut out, "\"project\":", project);
        }
        if let Some(run) = &self.run {
            text(&mut out, "\"run\":", run);
        }
        out.extend_from_slice(b"\"seq\":");
        spell::whole(&mut out, self.seq);
        out.extend_from_slice(b",\"v\":");
        spell::whole(&mut out, self.v.into());
        out.push(b'}');
        out
    }

    /// Reads an entry, refusing every spelling but the canonical one.
    pub fn parse(bytes: &[u8]) -> Result<Self, EntryError> {
        let entry: Entry = parse_canonical(bytes)?;
        entry.check()?;
        Ok(entry)
    }

    fn check(&self) -> Result<(), EntryError> {
        check_envelope(self.v, self.seq, &self.at, &self.actor, &self.kind)
    }
}

/// What a verifier needs of an entry; borrows from the entry's bytes and skips the rest, though not its checks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Envelope<'a> {
    v: u8,
    pub(crate) seq: u64,
    #[serde(borrow)]
    pub(crate) at: Cow<'a, str>,
    #[serde(default, deserialize_with = "present", rename = "project")]
    _project: Option<SkippedText>,
    #[serde(default, deserialize_with = "present", rename = "run")]
    _run: Option<SkippedText>,
    #[serde(default, deserialize_with = "present", rename = "action")]
    _action: Option<SkippedText>,
    #[serde(borrow)]
    actor: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(rename = "body")]
    _body: IgnoredAny,
}

impl<'a> Envelope<'a> {
    /// Accepts and refuses exactly what [`Entry::parse`] does, without building the body.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, EntryError> {
        let envelope: Envelope<'a> = parse_canonical(bytes)?;
        check_envelope(envelope.v, envelope.seq, &envelope.at, &envelope.actor, &envelope.kind)?;
        Ok(envelope)
    }
}

fn parse_canonical<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, EntryError> {
    check_length(bytes)?;
    if !is_canonical(bytes) {
        return Err(EntryError::NotCanonical);
    }
    serde_json::from_slice(bytes).map_err(EntryError::NotAnEntry)
}

/// A string that only has to be one.
#[derive(Debug)]
struct SkippedText;

impl<'de> Deserialize<'de> for SkippedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SkippedTextVisitor)
    }
}

struct SkippedTextVisitor;

impl Visitor<'_> for SkippedTextVisitor {
    type Value = SkippedText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, _text: &str) -> Result<SkippedText, E> {
        Ok(SkippedText)
    }
}

/// Reads a field that is either left out or has a value: `null` would be a second spelling of leaving it out.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Why something is not an entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// Longer than an entry bundle can carry.
    #[error(
        "an entry of {bytes} bytes is too long: at most {MAX_ENTRY_BYTES} are allowed; record a digest of \
         large content instead"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A different spelling than the canonical one.
    #[error("the entry is not canonical JSON")]
    NotCanonical,
    /// JSON that is not an entry.
    #[error("the JSON is not an entry")]
    NotAnEntry(#[source] serde_json::Error),
    /// An envelope of a version that is not known here.
    #[error("the entry has version {v}, but only version {} is known", Entry::VERSION)]
    UnknownVersion {
        /// The version it claims.
        v: u8,
    },
    /// A time in another form.
    #[error("`{at}` is not a time such as `2026-01-31T09:30:00.000Z`")]
    NotATime {
        /// What stands in its place.
        at: String,
    },
    /// A field that must say something says nothing.
    #[error("the field `{field}` of the entry is empty")]
    EmptyField {
        /// The name of the field.
        field: &'static str,
    },
    /// A whole number that other readers would round.
    #[error("the number {number} is beyond 2^53 - 1 and would be rounded by readers: write it as a string")]
    UnsafeNumber {
        /// The number.
        number: String,
    },
    /// A body that readers might refuse.
    #[error("the body nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

fn check_length(bytes: &[u8]) -> Result<(), EntryError> {
    if bytes.len() > MAX_ENTRY_BYTES { Err(EntryError::TooLong { bytes: bytes.len() }) } else { Ok(()) }
}

fn check_envelope(v: u8, seq: u64, at: &str, actor: &str, kind: &str) -> Result<(), EntryError> {
    if v != Entry::VERSION {
        return Err(EntryError::UnknownVersion { v });
    }
    if seq > MAX_SAFE_INTEGER {
        return Err(EntryError::UnsafeNumber { number: seq.to_string() });
    }
    if !is_timestamp(at) {
        return Err(EntryError::NotATime { at: at.chars().take(40).collect() });
    }
    for (field, text) in [("actor", actor), ("kind", kind)] {
        if text.is_empty() {
            return Err(EntryError::EmptyField { field });
        }
    }
    Ok(())
}

/// Refuses what the canonical form would silently change, or what could be written and not be read again.
fn check_body(value: &Value, levels_left: u32) -> Result<(), EntryError> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => check_number(number),
        Value::Array(_) | Value::Object(_) if levels_left == 0 => Err(EntryError::TooDeep),
        Value::Array(values) => values.iter().try_for_each(|value| check_body(value, levels_left - 1)),
        Value::Object(map) => map.values().try_for_each(|value| check_body(value, levels_left - 1)),
    }
}

/// Whole numbers must be safe. Fractions between 2^53 and 10^21 are whole too and are written without an exponent, so
/// they would be read back as such numbers.
fn check_number(number: &Number) -> Result<(), EntryError> {
    let safe = match (number.as_i64(), number.as_u64()) {
        (None, None) => number.as_f64().is_some_and(|number| {
            let magnitude = number.abs();
            magnitude <= MAX_SAFE_INTEGER as f64 || magnitude >= 1e21
        }),
        (Some(signed), _) => signed.unsigned_abs() <= MAX_SAFE_INTEGER,
        (None, Some(unsigned)) => unsigned <= MAX_SAFE_INTEGER,
    };
    if safe { Ok(()) } else { Err(EntryError::UnsafeNumber { number: number.to_string() }) }
}
