//! One table of a data file: keys are taken out one by one, and what is left in the end is unknown.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::nearest::nearest;
use super::problem::{Problem, Source};
use crate::canonical::LARGEST_SAFE_INTEGER;
use crate::complaint::Complaint;
use crate::text::spelled_out;

/// Far beyond anything that people read; enough for every comment they write.
const MOST_BYTES: usize = 64 * 1024;

/// Reads a text as a whole: what `of` makes of its keys, or everything that is wrong.
pub(crate) fn read<T>(
    file: &str,
    text: &str,
    of: impl FnOnce(&mut Section<'_, '_>) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    let source = Source { file, text };
    let whole = |complaint| vec![Problem::new(&source, &(0..0), "", complaint)];
    if text.len() > MOST_BYTES {
        return Err(whole(Complaint::new("the file is larger than 64 KiB", "split it, or shorten its comments")));
    }
    let table = DeTable::parse(text).map_err(|error| vec![syntax(&source, &error)])?;
    let found = RefCell::new(Vec::new());
    let mut top = Section::new(&source, &found, String::new(), table.span(), table.into_inner());
    let made = of(&mut top);
    top.finish();
    match (made, found.into_inner()) {
        (Some(made), problems) if problems.is_empty() => Ok(made),
        (None, problems) if problems.is_empty() => {
            Err(whole(Complaint::new("it is not complete", "add what it lacks")))
        }
        (_, problems) => Err(problems),
    }
}

fn syntax(source: &Source<'_>, error: &toml::de::Error) -> Problem {
    let complaint = Complaint::new(said(error), "correct the TOML there; see https://toml.io");
    Problem::new(source, &error.span().unwrap_or(0..0), "", complaint)
}

/// What the reader says, in one line and in the words of a file: it has keys and values, not fields and variants.
fn said(error: &toml::de::Error) -> String {
    let line = error.message().lines().collect::<Vec<_>>().join("; ");
    let words =
        [("unknown variant", "unknown value"), ("unknown field", "unknown key"), ("missing field", "missing key")];
    spelled_out(&words.iter().fold(line, |line, (theirs, ours)| line.replace(theirs, ours)))
}

/// A table that is being read.
pub(crate) struct Section<'t, 'f> {
    source: &'f Source<'t>,
    found: &'f RefCell<Vec<Problem>>,
    place: String,
    span: Range<usize>,
    table: DeTable<'t>,
    /// Every key that was asked for, for whoever misspelt one.
    known: Vec<&'static str>,
}

impl<'t, 'f> Section<'t, 'f> {
    fn new(
        source: &'f Source<'t>,
        found: &'f RefCell<Vec<Problem>>,
        place: String,
        span: Range<usize>,
        table: DeTable<'t>,
    ) -> Self {
        Self { source, found, place, span, table, known: Vec::new() }
    }

    /// A key that must be there. `expects` says what is written after it.
    pub(crate) fn need<T: DeserializeOwned>(&mut self, key: &'static str, expects: &str) -> Option<T> {
        let value = self.must(key, expects)?;
        self.value(key, value, expects)
    }

    /// A key that must be there, with a value that `wrong` has nothing to say against.
    pub(crate) fn need_where<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        expects: &str,
        wrong: impl FnOnce(&T) -> Option<&'static str>,
    ) -> Option<T> {
        let value = self.must(key, expects)?;
        let span = value.span();
        let made = self.value(key, value, expects)?;
        match wrong(&made) {
            None => Some(made),
            Some(message) => {
                self.complain(&span, &self.at(key), Complaint::new(message, format!("write {expects}")));
                None
            }
        }
    }

    /// A whole number that every reader of the world reads alike.
    pub(crate) fn number(&mut self, key: &'static str, least: u64, expects: &str) -> Option<u64> {
        self.need_where(key, expects, |number: &u64| {
            if *number < least {
                Some("the number is too small")
            } else if *number > LARGEST_SAFE_INTEGER {
                Some("the number is beyond 2^53 - 1, where readers disagree")
            } else {
                None
            }
        })
    }

    /// A whole number within these bounds; `usual` where it is left out.
    pub(crate) fn number_within(&mut self, key: &'static str, usual: u64, bounds: RangeInclusive<u64>) -> Option<u64> {
        if !self.table.contains_key(key) {
            self.known.push(key);
            return Some(usual);
        }
        let expects = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let outside = |number: &u64| (!bounds.contains(number)).then_some("the number is out of bounds");
        self.need_where(key, &expects, outside)
    }

    /// A key that may be left out.
    pub(crate) fn may<T: DeserializeOwned + Default>(&mut self, key: &'static str, expects: &str) -> Option<T> {
        match self.take(key) {
            Some(value) => self.value(key, value, expects),
            None => Some(T::default()),
        }
    }

    /// A table that must be there.
    pub(crate) fn section<T>(
        &mut self,
        key: &'static str,
        of: impl FnOnce(&mut Section<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        let place = self.at(key);
        let value = self.must(key, &format!("a table that begins with `[{place}]`"))?;
        self.inner(place, value, of)
    }

    /// A list of tables, at least one.
    pub(crate) fn sections<T>(
        &mut self,
        key: &'static str,
        mut of: impl FnMut(&mut Section<'_, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let value = self.must(key, "tables, each with a heading of two brackets")?;
        let span = value.span();
        let DeValue::Array(list) = value.into_inner() else {
            let hint = format!("write one `[[{key}]]` for each");
            self.complain(&span, &self.at(key), Complaint::new("this is no list of tables", hint));
            return None;
        };
        let made: Vec<Option<T>> = list
            .into_iter()
            .enumerate()
            .map(|(index, value)| self.inner(format!("{}[{index}]", self.at(key)), value, &mut of))
            .collect();
        made.into_iter().collect()
    }

    /// Says what is wrong with keys that contradict each other.
    pub(crate) fn refuse(&self, key: &str, message: &str, hint: &str) {
        self.complain(&self.span, &self.at(key), Complaint::new(message, hint));
    }

    fn inner<T>(
        &self,
        place: String,
        value: Spanned<DeValue<'t>>,
        of: impl FnOnce(&mut Section<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            self.complain(&span, &place, Complaint::new("this is no table", format!("write `[{place}]` and its keys")));
            return None;
        };
        let mut section = Section::new(self.source, self.found, place, span, table);
        let made = of(&mut section);
        section.finish();
        made
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.table.remove(key)
    }

    fn must(&mut self, key: &'static str, expects: &str) -> Option<Spanned<DeValue<'t>>> {
        let value = self.take(key);
        if value.is_none() {
            let hint = format!("add `{key}`: {expects}");
            self.complain(&self.span, &self.at(key), Complaint::new(format!("`{key}` is missing"), hint));
        }
        value
    }

    fn value<T: DeserializeOwned>(&self, key: &str, value: Spanned<DeValue<'t>>, expects: &str) -> Option<T> {
        let span = value.span();
        let read = T::deserialize(ValueDeserializer::from(value));
        let report = |error: &toml::de::Error| {
            let span = error.span().unwrap_or(span);
            self.complain(&span, &self.at(key), Complaint::new(said(error), format!("write {expects}")));
        };
        read.inspect_err(report).ok()
    }

    fn finish(self) {
        for key in self.table.keys() {
            let name = spelled_out(key.get_ref());
            let hint = match nearest(key.get_ref(), &self.known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("remove it; what can stand here: {}", self.known.join(", ")),
            };
            self.complain(&key.span(), &self.at(&name), Complaint::new(format!("`{name}` is unknown"), hint));
        }
    }

    fn at(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    fn complain(&self, span: &Range<usize>, place: &str, complaint: Complaint) {
        self.found.borrow_mut().push(Problem::new(self.source, span, place, complaint));
    }
}
