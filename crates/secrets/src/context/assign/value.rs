//! The value itself: in quotes of many kinds, bare, inside a call, or as the text of an element.

use super::{Assignment, Gives, LONGEST_GAP, LONGEST_VALUE, QUOTES, Reader, Written};
use crate::boundary::contains_ignoring_case;
use crate::class::Class;

/// Where a value without quotes ends.
const BARE_END: Class = Class::of(" \t\r\n\"'`,;<>&(){}[]|\\");
/// Parts of the names of calls that fetch, change or show a value, where the text inside is something else.
const FETCHES: &str = "
    encode decode strip lower replace split env get read load find prompt input config translate gettext _ t require
    format print log error fetch request lookup select query path join open i18n arg opt flag column field var
";

impl Reader<'_> {
    pub(super) fn value(mut self, gives: Gives) -> Option<Assignment> {
        if gives == Gives::ElementText {
            return self.element_text();
        }
        self.enter_call();
        self.at += string_prefix(self.rest());
        let escaped = self.rest().starts_with(b"\\\"") || self.rest().starts_with(b"\\'");
        let quote = *self.rest().get(usize::from(escaped))?;
        if QUOTES.has(quote) {
            return self.quoted(quote, escaped);
        }
        if gives == Gives::QuotedOnly { None } else { self.bare() }
    }

    /// `String::from("…")`, `SecretString("…")`: the value is inside. Calls that fetch a value are left alone.
    fn enter_call(&mut self) {
        const CALL: Class = Class::of("A-Za-z0-9_.:");
        let callee = CALL.run(self.rest(), 40);
        let (name, after) = self.rest().split_at(callee);
        let last = name.rsplit(|byte| b".:".contains(byte)).next().unwrap_or(name);
        let fetching = FETCHES.split_whitespace().any(|word| {
            if word.len() < 3 { last == word.as_bytes() } else { contains_ignoring_case(name, word.as_bytes()) }
        });
        if callee > 0 && matches!(after, [b'(', b'"' | b'\'', ..]) && !fetching {
            self.at += callee + 1;
        }
    }

    fn quoted(mut self, quote: u8, escaped: bool) -> Option<Assignment> {
        let one = 1 + usize::from(escaped);
        let triple = !escaped && self.rest().starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { one };
        let start = self.at;
        let end = start + closing(&self.text[start..], quote, escaped)?;
        Some(Assignment { name: self.name, value: start..end, written: Written::Quoted })
    }

    fn bare(self) -> Option<Assignment> {
        let len = self.rest().iter().take(LONGEST_VALUE).take_while(|byte| !BARE_END.has(**byte)).count();
        let end = self.at + len;
        let after = self.text.get(end).copied().unwrap_or(b'\n');
        if len == 0 || b"([{`\\".contains(&after) {
            return None;
        }
        let tail = &self.text[end..crate::boundary::line_end(self.text, end, LONGEST_GAP)];
        let alone = tail.trim_ascii().is_empty() || tail.trim_ascii_start().starts_with(b"#");
        let written = if alone { Written::BareToLineEnd } else { Written::Bare };
        Some(Assignment { name: self.name, value: self.at..end, written })
    }

    fn element_text(self) -> Option<Assignment> {
        let within = &self.rest()[..self.rest().len().min(LONGEST_VALUE)];
        let len = memchr::memchr2(b'<', b'\n', within).filter(|end| within[*end] == b'<')?;
        Some(Assignment { name: self.name, value: self.at..self.at + len, written: Written::Quoted })
    }
}

/// Letters that may stand before an opening quote: `b"…"`, `r'…'`, `@"…"`, `&"…"`.
fn string_prefix(text: &[u8]) -> usize {
    let run = const { Class::of("bBrRuUfFLNcq@$&*[({") }.run(text, 3);
    if text.get(run).is_some_and(|byte| QUOTES.has(*byte)) { run } else { 0 }
}

/// How long a quoted value is, if it is closed on its line.
fn closing(text: &[u8], quote: u8, escaped: bool) -> Option<usize> {
    let within = &text[..text.len().min(LONGEST_VALUE)];
    let mut at = 0;
    while let Some(step) = memchr::memchr3(quote, b'\\', b'\n', &within[at..]) {
        at += step;
        match within[at] {
            b'\n' => return None,
            b'\\' if escaped && within.get(at + 1) == Some(&quote) => return Some(at),
            b'\\' if !escaped => at += 2,
            b'\\' => at += 1,
            _ => return Some(at),
        }
        if at >= within.len() {
            return None;
        }
    }
    None
}
