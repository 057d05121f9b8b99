//! One pass over one text: what is looked at around each anchor.

use std::ops::Range;

use crate::context::assign::{self, Assignment};
use crate::context::name::{self, Promise};
use crate::context::value;
use crate::hit::{Hit, Special};
use crate::placeholder::is_placeholder;
use crate::scanner::{Scanner, Target};
use crate::{address, block, line};

/// One pass over one text.
pub(crate) struct Search<'s> {
    scanner: &'s Scanner,
    text: &'s [u8],
    hits: Vec<Hit>,
    /// Telling words before this were looked at: they are part of the same name.
    names_until: usize,
    /// Names before this lie in a value without quotes that was looked at.
    values_until: usize,
    /// Lines before this were looked at.
    lines_until: usize,
}

impl<'s> Search<'s> {
    pub(crate) fn new(scanner: &'s Scanner, text: &'s [u8]) -> Self {
        Self { scanner, text, hits: Vec::new(), names_until: 0, values_until: 0, lines_until: 0 }
    }

    pub(crate) fn into_hits(self) -> Vec<Hit> {
        self.hits
    }

    pub(crate) fn look(&mut self, target: Target, anchor: Range<usize>) {
        match target {
            Target::Shape { rule, shape } => self.shape(rule, shape, anchor.start),
            Target::TellingWord => self.telling_word(anchor),
            Target::Block => self.hits.extend(block::find(self.text, anchor.start)),
            Target::Address => self.hits.extend(address::find(self.text, anchor.start)),
            Target::Command => self.line(anchor.start, line::command),
            Target::PgPass => self.line(anchor.start, line::pgpass),
        }
    }

    fn shape(&mut self, rule: usize, shape: usize, at: usize) {
        let known = &self.scanner.rules()[rule];
        let Some(fit) = known.shapes[shape].fit(self.text, at) else { return };
        if known.accepts(&self.text[fit.secret.clone()]) {
            self.hits.push(Hit { rule, context: fit.whole.start, secret: fit.secret, wrapped: false });
        }
    }

    fn line(&mut self, at: usize, find: fn(&[u8], usize) -> (usize, Option<Hit>)) {
        if at < self.lines_until {
            return;
        }
        let (until, hit) = find(self.text, at);
        self.lines_until = until;
        self.hits.extend(hit);
    }

    fn telling_word(&mut self, anchor: Range<usize>) {
        if anchor.start < self.names_until || anchor.start < self.values_until {
            return;
        }
        let name = assign::name_around(self.text, anchor);
        self.names_until = name.end;
        if self.text[..name.start].ends_with(b"[redacted ") {
            return;
        }
        let Some(assignment) = assign::read(self.text, name) else { return };
        if assignment.written != assign::Written::Quoted {
            self.values_until = assignment.value.end;
        }
        self.hits.extend(self.judge(&assignment));
    }

    /// Whether the value that is given to the name is a secret: of a vendor, or of no known kind.
    fn judge(&self, assignment: &Assignment) -> Option<Hit> {
        let core = value::core(&self.text[assignment.value.clone()]);
        let place = assignment.value.start + core.start..assignment.value.start + core.end;
        let secret = &self.text[place.clone()];
        if secret.len() < value::SHORTEST_SECRET {
            return None;
        }
        let name = self.name_with_word_before(&assignment.name);
        let promise = name::promise(&self.text[name.clone()])?;
        let vendor = if promise == Promise::Password { None } else { self.vendor(name.start, assignment, secret) };
        if vendor.is_none() && !value::keeps(promise, secret, assignment.written) {
            return None;
        }
        let generic = match promise {
            Promise::Password => Special::Password,
            Promise::Secret => Special::Secret,
            Promise::Key => Special::Key,
        };
        let rule = vendor.unwrap_or(generic as usize);
        Some(Hit { rule, context: name.start, secret: place, wrapped: false })
    }

    /// `api key: …`: a lone `key` says little, the word before it says more.
    fn name_with_word_before(&self, name: &Range<usize>) -> Range<usize> {
        let before = &self.text[..name.start];
        let word = match before.last() {
            Some(b' ' | b'_' | b'-') => crate::class::WORD.run_back(&before[..before.len() - 1], 16),
            _ => 0,
        };
        let start = if word > 0 { name.start - 1 - word } else { name.start };
        let telling = &self.text[start..name.start];
        let known = [&b"api "[..], b"secret ", b"access ", b"private ", b"auth ", b"encryption ", b"account "];
        let makes_key = known.iter().any(|word| telling.eq_ignore_ascii_case(word));
        if makes_key { start..name.end } else { name.clone() }
    }

    /// The vendor whose name stands near, if the value has the shape of theirs.
    fn vendor(&self, from: usize, assignment: &Assignment, secret: &[u8]) -> Option<usize> {
        let around = &self.text[from.saturating_sub(24)..assignment.name.end];
        let line = around.rsplit(|byte| *byte == b'\n').next().unwrap_or(around);
        self.scanner.vendor_named(line, |rule| {
            rule.shapes.iter().any(|shape| shape.covers(secret)) && rule.accepts(secret) && !is_placeholder(secret)
        })
    }
}
