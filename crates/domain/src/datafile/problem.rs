//! What is wrong with a data file: where, and what to do about it.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use toml::de::DeTable;

use crate::complaint::Complaint;
use crate::text::spelled_out;

/// How many problems are printed; who has more starts with these.
const MOST_SHOWN: usize = 50;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub file: String,
    /// Counted from 1, as editors do.
    pub line: usize,
    /// The keys that lead there, as in `launch.speaks`; empty for the file as a whole.
    pub place: String,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Problem {
    pub(super) fn new(source: &Source<'_>, span: &Range<usize>, place: &str, complaint: Complaint) -> Self {
        let before = source.text.get(..span.start).unwrap_or(source.text);
        let line = 1 + before.matches('\n').count();
        let Complaint { message, hint } = complaint;
        Self { file: source.file.to_owned(), line, place: place.to_owned(), message, hint }
    }
}

impl Problem {
    /// A problem that shows only beside other files, at a key of this one, as in `cage.profile`.
    pub fn at_key(file: &str, text: &str, key: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let span = span_of(text, key).unwrap_or(0..0);
        Self::new(&Source { file, text }, &span, key, Complaint::new(message, hint))
    }
}

/// Where the value of a key is written.
fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = table.get_ref().get(first)?;
    let inner = rest.and_then(|rest| rest.split('.').try_fold(value, |value, key| value.get_ref().get(key)));
    Some(inner.unwrap_or(value).span())
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", spelled_out(&self.place))?;
        }
        write!(f, "{}\n  hint: {}", self.message, self.hint)
    }
}

/// A file and its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

/// All that is wrong, in the order of files and lines. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// The problems in the order of files and lines, if there are any.
    pub fn check(mut problems: Vec<Problem>) -> Result<(), Self> {
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    pub fn all(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().take(MOST_SHOWN).map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))?;
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}
