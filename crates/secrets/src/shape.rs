//! Shapes of tokens: a tiny notation that is matched in one walk.
//!
//! A shape is a sequence of literals and runs, written like a regular expression: `ghp_[A-Za-z0-9]{36}`. A run takes
//! as many bytes as it may and never gives one back, so that matching costs at most the length of what is matched,
//! whatever the input. There are no alternatives: a rule has several shapes. `<` and `>` enclose the part that is the
//! secret, where it is not the whole. A backslash makes the next character literal.

mod parse;

use std::ops::Range;

use crate::boundary;
use crate::class::Class;

pub use self::parse::ShapeError;

/// No token of ours is longer; a run without an upper end stops here.
pub(crate) const LONGEST_RUN: usize = 4096;
/// More pieces than any token format has.
const MOST_PIECES: usize = 16;

#[derive(Clone, Debug)]
enum Piece {
    Literal(Vec<u8>),
    Run { class: Class, least: usize, most: usize },
}

/// What a token looks like.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pieces: Vec<Piece>,
    /// Which piece is looked for first, if one is a literal.
    anchor: Option<usize>,
    secret: Range<usize>,
}

/// Where a shape was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) whole: Range<usize>,
    pub(crate) secret: Range<usize>,
}

impl Shape {
    /// The literal that is looked for, if there is one.
    pub(crate) fn anchor(&self) -> Option<&[u8]> {
        match &self.pieces[self.anchor?] {
            Piece::Literal(bytes) => Some(bytes),
            Piece::Run { .. } => None,
        }
    }

    /// The literal the shape begins with: public knowledge, hence fit to be shown.
    pub(crate) fn public_prefix(&self) -> &[u8] {
        match &self.pieces[self.secret.start] {
            Piece::Literal(bytes) => bytes,
            Piece::Run { .. } => &[],
        }
    }

    /// The shape around an occurrence of its anchor at `at`.
    pub(crate) fn fit(&self, text: &[u8], at: usize) -> Option<Fit> {
        let anchor = self.anchor?;
        let mut cuts = [at; MOST_PIECES + 1];
        for index in (0..anchor).rev() {
            cuts[index] = self.pieces[index].before(text, cuts[index + 1])?;
        }
        if !self.may_begin(text, cuts[0]) {
            return None;
        }
        for (index, piece) in self.pieces.iter().enumerate().skip(anchor) {
            cuts[index + 1] = piece.after(text, cuts[index])?;
        }
        let end = cuts[self.pieces.len()];
        let fit = Fit { whole: cuts[0]..end, secret: cuts[self.secret.start]..cuts[self.secret.end] };
        self.may_end(text, end).then_some(fit)
    }

    /// Whether the shape is the whole of `value`.
    pub(crate) fn covers(&self, value: &[u8]) -> bool {
        self.pieces.iter().try_fold(0, |at, piece| piece.after(value, at)) == Some(value.len())
    }

    /// Nothing that belongs to the token may stand before it. This also keeps the walk linear: a second occurrence of
    /// the anchor inside a run that was already walked begins in the middle of it.
    fn may_begin(&self, text: &[u8], start: usize) -> bool {
        let first = self.pieces.iter().find_map(Piece::class);
        let inside = start > 0 && first.is_some_and(|class| class.has(text[start - 1]));
        match self.pieces[0] {
            Piece::Literal(_) => boundary::begins(text, start) && (!inside || boundary::is_escaped(text, start)),
            Piece::Run { class, .. } => start == 0 || !class.has(text[start - 1]) || boundary::is_escaped(text, start),
        }
    }

    fn may_end(&self, text: &[u8], end: usize) -> bool {
        match (self.pieces.last(), text.get(end)) {
            (Some(Piece::Run { class, .. }), Some(next)) => !class.has(*next) && !next.is_ascii_alphanumeric(),
            (Some(Piece::Literal(_)) | None, _) | (_, None) => true,
        }
    }

    /// An invented token of this shape. The same seed gives the same token.
    pub(crate) fn sample(&self, seed: u64) -> (Vec<u8>, Range<usize>) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (mut token, mut cuts) = (Vec::new(), vec![0]);
        for piece in &self.pieces {
            piece.invent(&mut token, &mut state);
            cuts.push(token.len());
        }
        (token, cuts[self.secret.start]..cuts[self.secret.end])
    }
}

impl Piece {
    fn class(&self) -> Option<Class> {
        match self {
            Self::Literal(_) => None,
            Self::Run { class, .. } => Some(*class),
        }
    }

    fn after(&self, text: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Literal(bytes) => text[at..].starts_with(bytes).then(|| at + bytes.len()),
            Self::Run { class, least, most } => {
                let taken = class.run(&text[at..], *most);
                (taken >= *least).then(|| at + taken)
            }
        }
    }

    fn before(&self, text: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Literal(bytes) => text[..at].ends_with(bytes).then(|| at - bytes.len()),
            Self::Run { class, least, most } => {
                let taken = class.run_back(&text[..at], *most);
                (taken >= *least).then(|| at - taken)
            }
        }
    }

    fn invent(&self, token: &mut Vec<u8>, state: &mut u64) {
        match self {
            Self::Literal(bytes) => token.extend_from_slice(bytes),
            Self::Run { class, least, most } => {
                let members = class.members();
                let len = if most == least { *least } else { (*most).min((*least).max(24)) };
                token.extend((0..len).map(|_| members[next(state, members.len())]));
            }
        }
    }
}

/// A step of xorshift: enough variety for samples, and the same on every machine.
fn next(state: &mut u64, below: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 33) as usize % below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Shape::parse(text).unwrap()
    }

    fn found(shape_text: &str, text: &str) -> Option<String> {
        let shape = shape(shape_text);
        let at = text.find(std::str::from_utf8(shape.anchor()?).unwrap())?;
        shape.fit(text.as_bytes(), at).map(|fit| text[fit.secret].to_owned())
    }

    #[test]
    fn a_token_is_found_between_boundaries_and_not_inside_longer_words() {
        assert_eq!(found("ab_[0-9]{4}", "x = ab_1234;"), Some("ab_1234".into()));
        assert_eq!(found("ab_[0-9]{4}", "ab_12345"), None);
        assert_eq!(found("ab_[0-9]{4}", "ab_123"), None);
        assert_eq!(found("ab_[0-9]{4}", "xab_1234"), None);
        assert_eq!(found("ab_[0-9]{4}", "ab_1234x"), None);
    }

    #[test]
    fn escapes_in_source_and_in_addresses_are_boundaries() {
        assert_eq!(found("ab_[0-9]{4}", "\"a\\nab_1234\""), Some("ab_1234".into()));
        assert_eq!(found("ab_[0-9]{4}", "q%3Dab_1234"), Some("ab_1234".into()));
        assert_eq!(found("ab_[0-9]{4}", "\\u0022ab_1234\\u0022"), Some("ab_1234".into()));
    }

    #[test]
    fn parts_before_the_anchor_are_walked_backwards() {
        assert_eq!(found("[0-9]{3,5}:AAA[a-z]{3}", "id 1234:AAAxyz."), Some("1234:AAAxyz".into()));
        assert_eq!(found("[0-9]{3,5}:AAA[a-z]{3}", "id 12:AAAxyz."), None);
        assert_eq!(found("[0-9]{3,5}:AAA[a-z]{3}", "id 123456:AAAxyz."), None);
    }

    #[test]
    fn marks_say_which_part_is_the_secret() {
        assert_eq!(found("Key=<[a-z]{4}==>", "Key=abcd==;"), Some("abcd==".into()));
        assert_eq!(found("a\\[<b>c", "a[bc"), Some("b".into()));
    }

    #[test]
    fn a_sample_has_its_shape() {
        for text in ["ab_[0-9]{4}", "[a-f]{3,60}-x[A-Z]{2,}", "Key=<[a-z]{4}==>"] {
            let shape = shape(text);
            for seed in 0..50 {
                let (token, secret) = shape.sample(seed);
                assert!(shape.covers(&token), "{text}");
                assert!(secret.end <= token.len());
            }
        }
    }
}
