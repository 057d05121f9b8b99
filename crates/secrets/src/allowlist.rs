//! What a team has decided to live with: each entry has a reason and an end.
//!
//! ```json
//! { "version": 1, "entries": [
//!   { "fingerprint": "…64 hex digits…", "reason": "sample of the vendor's documentation", "expires": "2027-01-31" },
//!   { "rule": "private-key", "path": "tests/keys/", "reason": "made for tests", "expires": "2027-01-31", "addedBy": "mira" }
//! ] }
//! ```
//!
//! An entry allows until its day is over. After that it allows nothing, and says so.

use std::fmt;

use serde::Deserialize;

use crate::finding::Finding;

/// A calendar day. Where today comes from is the caller's matter: this crate has no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// Reads `YYYY-MM-DD`; nothing if there is no such day.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let shaped = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shaped {
            return None;
        }
        let (year, month, day) = (text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?);
        (day >= 1 && day <= days_of(year, month)).then_some(Self { year, month, day })
    }
}

/// How many days a month has; none if there is no such month.
fn days_of(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// What an allowlist says of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Allowed {
        reason: String,
    },
    /// It was allowed, and that is over.
    Expired {
        since: Day,
        reason: String,
    },
    NotListed,
}

/// Why an allowlist is not used. Nothing of it counts then.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowlistError {
    #[error("line {line}, column {column}: {problem}")]
    Json { line: usize, column: usize, problem: String },
    #[error("`{at}`: {problem}")]
    Entry { at: String, problem: &'static str },
}

/// Which findings a team lives with.
#[derive(Clone, Debug, Default)]
pub struct Allowlist {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    covers: Covers,
    reason: String,
    expires: Day,
}

#[derive(Clone, Debug)]
enum Covers {
    Fingerprint([u8; 32]),
    /// A path that ends with a slash stands for everything below it.
    RuleAt {
        rule: String,
        path: String,
    },
}

/// The only form there has been. Another number is another form, which must not be half understood.
const VERSION: u32 = 1;

fn this_version() -> u32 {
    VERSION
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    #[serde(default = "this_version")]
    version: u32,
    entries: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    fingerprint: Option<String>,
    rule: Option<String>,
    path: Option<String>,
    reason: String,
    expires: String,
    #[serde(rename = "addedBy", default)]
    _added_by: Option<String>,
}

impl Allowlist {
    /// Reads an allowlist.
    ///
    /// # Errors
    /// It is no JSON of this form, or an entry lacks what it needs. Unknown keys are errors: a typo must not allow.
    pub fn parse(json: &str) -> Result<Self, AllowlistError> {
        let document: Document = serde_json::from_str(json).map_err(|error| AllowlistError::Json {
            line: error.line(),
            column: error.column(),
            problem: without_place(&error),
        })?;
        if document.version != VERSION {
            let problem = "it is not 1, the only form that is known";
            return Err(AllowlistError::Entry { at: "version".into(), problem });
        }
        let entries = document.entries.iter().enumerate().map(|(index, entry)| entry.read(index));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Whether a finding in the file at `path` is allowed today. An entry that still counts wins over one that is over.
    #[must_use]
    pub fn judge(&self, finding: &Finding, path: &[u8], today: Day) -> Judgement {
        let covering = self.entries.iter().filter(|entry| entry.covers.covers(finding, path));
        match covering.max_by_key(|entry| entry.expires) {
            Some(entry) if today <= entry.expires => Judgement::Allowed { reason: entry.reason.clone() },
            Some(entry) => Judgement::Expired { since: entry.expires, reason: entry.reason.clone() },
            None => Judgement::NotListed,
        }
    }
}

impl Covers {
    fn covers(&self, finding: &Finding, path: &[u8]) -> bool {
        match self {
            Self::Fingerprint(fingerprint) => *fingerprint == finding.fingerprint,
            Self::RuleAt { rule, path: at } => {
                let below = at.ends_with('/') && path.starts_with(at.as_bytes());
                *rule == finding.rule && (below || path == at.as_bytes())
            }
        }
    }
}

impl Written {
    fn read(&self, index: usize) -> Result<Entry, AllowlistError> {
        let wrong = |key: &str, problem| AllowlistError::Entry { at: format!("entries[{index}]{key}"), problem };
        if self.reason.trim().is_empty() {
            return Err(wrong(".reason", "it is blank; say why this is no danger"));
        }
        let expires = Day::parse(&self.expires).ok_or_else(|| wrong(".expires", "it is no day; write `YYYY-MM-DD`"))?;
        let covers = match (&self.fingerprint, &self.rule, &self.path) {
            (Some(hex), None, None) => Covers::Fingerprint(
                fingerprint(hex)
                    .ok_or_else(|| wrong(".fingerprint", "it is not 64 hexadecimal digits in lower case"))?,
            ),
            (None, Some(rule), Some(path)) => Covers::RuleAt { rule: rule.clone(), path: path.clone() },
            _ => return Err(wrong("", "it needs either `fingerprint`, or `rule` and `path`")),
        };
        match &self.path {
            Some(path) if !is_plain_path(path) => {
                Err(wrong(".path", "it is no path inside the repository; patterns are not read"))
            }
            _ => Ok(Entry { covers, reason: self.reason.clone(), expires }),
        }
    }
}

fn fingerprint(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.bytes().map(|byte| b"0123456789abcdef".iter().position(|digit| *digit == byte));
    let digits: Vec<u8> = digits.map(|digit| digit.map(|value| value as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    (digits.len() == 64).then(|| bytes.try_into().ok()).flatten()
}

/// Literal and relative: neither a pattern nor a way out.
fn is_plain_path(path: &str) -> bool {
    let parts_are_plain =
        path.trim_end_matches('/').split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    parts_are_plain && !path.contains(['*', '?', '[', '\\', '\0'])
}

/// What is wrong with the JSON, without the place, which is told apart.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}
