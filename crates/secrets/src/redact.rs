//! Takes secrets out of a text: `[redacted RULE]` stands in their place.

use std::borrow::Cow;
use std::ops::Range;

use crate::boundary::line_around;
use crate::hit::covered;
use crate::scanner::Scanner;

/// After what was taken out, what is left may read differently. More rounds than this are never needed by honest text;
/// whatever still looks like a secret then goes with its whole line.
const MOST_ROUNDS: usize = 8;

impl Scanner {
    /// The text without its secrets. What is left has none: scanning it finds nothing, and redacting it changes nothing.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..MOST_ROUNDS {
            let places = covered(self.hits(&text));
            if places.is_empty() {
                return text;
            }
            text = Cow::Owned(self.replace(&text, &places));
        }
        self.redact_lines(text.into_owned()).into()
    }

    /// What follows the first `known` bytes, without the secrets that those bytes give away.
    pub(crate) fn redact_from(&self, text: &[u8], known: usize) -> Vec<u8> {
        let mut hits = self.hits(text);
        hits.retain(|hit| hit.secret.start >= known);
        let shifted = |(place, rule): (Range<usize>, usize)| (place.start - known..place.end - known, rule);
        let places: Vec<(Range<usize>, usize)> = covered(hits).into_iter().map(shifted).collect();
        if places.is_empty() {
            return text[known..].to_vec();
        }
        self.redact(&self.replace(&text[known..], &places)).into_owned()
    }

    fn replace(&self, text: &[u8], places: &[(Range<usize>, usize)]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(text.len());
        let mut at = 0;
        for (place, rule) in places {
            clean.extend_from_slice(&text[at..place.start]);
            clean.extend_from_slice(format!("[redacted {}]", self.rules()[*rule].id()).as_bytes());
            at = place.end;
        }
        clean.extend_from_slice(&text[at..]);
        clean
    }

    /// Takes whole lines out until nothing is found. Each round makes the text poorer, hence it ends.
    fn redact_lines(&self, mut text: Vec<u8>) -> Vec<u8> {
        loop {
            let hits = self.hits(&text);
            let Some(hit) = hits.first() else { return text };
            let (first, last) = (hit.context.min(hit.secret.start), hit.secret.end);
            let start = line_around(&text, first, usize::MAX / 2).start;
            let end = line_around(&text, last, usize::MAX / 2).end;
            text.splice(start..end, b"[redacted line]".iter().copied());
        }
    }
}
