//! Git's wildmatch: a pattern is compiled once and then compared with as many texts as there are.
//!
//! Patterns and texts are bytes; nothing here knows about UTF-8. What a pattern means is git's affair, in all four modes,
//! and the tests ask git itself. How it is found out is not: [`walk`] takes time in proportion to the product of pattern and
//! text at worst, so that neither a team's pattern nor an agent's path can keep a judge busy. Which patterns are good enough
//! to be rules is decided by [`super::glob`].

mod bracket;
mod bytes;
pub(super) mod reach;
mod walk;

use self::bracket::Bracket;
use self::bytes::ByteSet;

/// Whether `*`, `?` and `[…]` may match a `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    Stops,
    IsCrossed,
}

/// Whether ASCII letter case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Exact,
    Ignore,
}

/// Git's wildmatch in all four of its modes, for one text. For many, compile a [`Pattern`].
///
/// Ignoring case, git folds the text but neither the members of a bracket nor an escaped letter, so that `[A]` and `\A` match
/// nothing at all. That is kept here, and is why [`super::Glob`] ignores case in a way of its own.
pub fn wildmatch(pattern: &[u8], text: &[u8], slash: Slash, case: Case) -> bool {
    Pattern::compile(pattern, slash, case).is_ok_and(|pattern| pattern.matches(text))
}

/// Why a pattern matches nothing, whatever the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("a `[` is never closed, so it would match nothing; escape it as `\\[`")]
    OpenBracket,
    #[error("`[:` in brackets starts a class such as `[:alpha:]`, and this is none; escape it as `\\[:`")]
    UnknownClass,
    #[error("it ends with a lone `\\`, so it would match nothing")]
    LoneBackslash,
}

/// What one step through a pattern takes from the text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// This byte.
    Byte(u8),
    /// One byte of these.
    OneOf(Box<ByteSet>),
    /// `*` that stops at slashes: the rest of a component, or less.
    Within,
    /// A star that crosses slashes: anything.
    Across,
    /// `**/` where a component begins: whole components with their slashes, as many as it takes.
    Components,
}

/// A pattern that can match something, for many texts in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Token>,
    /// How many tokens follow the last star.
    tail: usize,
    /// Whether a `[:` in a bracket begins no class, so that git takes it for two members.
    has_half_class: bool,
}

impl Pattern {
    pub fn compile(pattern: &[u8], slash: Slash, case: Case) -> Result<Self, Malformed> {
        let mut compiled = Self { tokens: Vec::new(), tail: 0, has_half_class: false };
        let mut at = 0;
        while let Some(&first) = pattern.get(at) {
            let (token, next) = match first {
                b'*' => star(pattern, at, slash),
                b'?' => (any(slash), at + 1),
                b'[' => {
                    let bracket = Bracket::read(pattern, at + 1)?;
                    compiled.has_half_class |= bracket.has_half_class;
                    (one_of(&bracket, slash, case), bracket.next)
                }
                b'\\' => {
                    let escaped = *pattern.get(at + 1).ok_or(Malformed::LoneBackslash)?;
                    (self::escaped(escaped, case), at + 2)
                }
                plain => (self::plain(plain, case), at + 1),
            };
            compiled.tail = if token.is_star() { 0 } else { compiled.tail + 1 };
            compiled.tokens.push(token);
            at = next;
        }
        Ok(compiled)
    }

    pub(super) const fn has_half_class(&self) -> bool {
        self.has_half_class
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        self.is_walked_along(text, Token::takes)
    }

    /// Whether the text matches in some spelling of upper and lower case, letter by letter.
    pub(super) fn matches_some_spelling_of(&self, text: &[u8]) -> bool {
        self.is_walked_along(text, Token::takes_some_spelling_of)
    }

    /// What follows the last star is at the end of the text or nowhere. To look there first settles most comparisons of
    /// patterns such as `**/*.rs` without a walk.
    fn is_walked_along(&self, text: &[u8], takes: impl Fn(&Token, u8) -> bool) -> bool {
        let tail = &self.tokens[self.tokens.len() - self.tail..];
        let ending = text.len().checked_sub(tail.len()).map(|start| &text[start..]);
        ending.is_some_and(|ending| tail.iter().rev().zip(ending.iter().rev()).all(|(token, byte)| takes(token, *byte)))
            && walk::walk(&self.tokens, text, takes).has_matched
    }
}

impl Token {
    const fn is_star(&self) -> bool {
        match self {
            Self::Within | Self::Across | Self::Components => true,
            Self::Byte(_) | Self::OneOf(_) => false,
        }
    }

    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::OneOf(set) => set.contains(byte),
            Self::Within | Self::Across | Self::Components => false,
        }
    }

    fn takes_in(&self, byte: u8, case: Case) -> bool {
        match case {
            Case::Exact => self.takes(byte),
            Case::Ignore => self.takes_some_spelling_of(byte),
        }
    }

    fn takes_some_spelling_of(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => own.eq_ignore_ascii_case(&byte),
            Self::OneOf(set) => set.contains(byte.to_ascii_lowercase()) || set.contains(byte.to_ascii_uppercase()),
            Self::Within | Self::Across | Self::Components => false,
        }
    }
}

fn one_of(bracket: &Bracket, slash: Slash, case: Case) -> Token {
    let may_take = |byte| slash == Slash::IsCrossed || byte != b'/';
    Token::OneOf(Box::new(ByteSet::of(|byte| may_take(byte) && bracket.holds(byte, case))))
}

fn any(slash: Slash) -> Token {
    match slash {
        Slash::Stops => Token::OneOf(Box::new(ByteSet::of_all_but(b"/"))),
        Slash::IsCrossed => Token::OneOf(Box::new(ByteSet::of_all_but(b""))),
    }
}

fn plain(byte: u8, case: Case) -> Token {
    match case {
        Case::Ignore if byte.is_ascii_alphabetic() => either_case(byte),
        Case::Exact | Case::Ignore => Token::Byte(byte),
    }
}

/// Git folds the text and not an escaped letter: ignoring case, nothing equals an escaped capital.
fn escaped(byte: u8, case: Case) -> Token {
    match case {
        Case::Ignore if byte.is_ascii_lowercase() => either_case(byte),
        Case::Ignore if byte.is_ascii_uppercase() => Token::OneOf(Box::new(ByteSet::of_bytes(b""))),
        Case::Exact | Case::Ignore => Token::Byte(byte),
    }
}

fn either_case(letter: u8) -> Token {
    let both = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
    Token::OneOf(Box::new(ByteSet::of_bytes(&both)))
}

/// The token for a run of stars, and where the pattern goes on.
fn star(pattern: &[u8], at: usize, slash: Slash) -> (Token, usize) {
    let stars = pattern[at..].iter().take_while(|byte| **byte == b'*').count();
    let rest = &pattern[at + stars..];
    let begins_component = at == 0 || pattern[at - 1] == b'/';
    let ends_component = rest.is_empty() || rest.starts_with(b"/") || rest.starts_with(b"\\/");
    if slash == Slash::IsCrossed {
        (Token::Across, at + stars)
    } else if stars < 2 || !begins_component || !ends_component {
        (Token::Within, at + stars)
    } else if rest.starts_with(b"/") {
        (Token::Components, at + stars + 1)
    } else {
        // An escaped slash does not vanish together with the stars before it: `a/**\/b` is not `a/b`.
        (Token::Across, at + stars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, text: &str) -> bool {
        wildmatch(pattern.as_bytes(), text.as_bytes(), Slash::Stops, Case::Exact)
    }

    #[test]
    fn double_stars_skip_whole_components_or_none() {
        for text in ["a/b", "a/x/b", "a/x/y/b", "a//b"] {
            assert!(path("a/**/b", text), "{text}");
        }
        for text in ["ab", "a/xb", "a/bx", "a/x/yb", "/a/b"] {
            assert!(!path("a/**/b", text), "{text}");
        }
    }

    #[test]
    fn double_stars_inside_a_component_are_one_star() {
        assert!(path("a**b", "axb") && !path("a**b", "a/b"));
        assert!(path("a/**b", "a/xb") && !path("a/**b", "a/x/b"));
    }

    #[test]
    fn an_escaped_slash_behind_double_stars_stays() {
        assert!(path("a/**\\/b", "a/x/b") && !path("a/**\\/b", "a/b"));
    }

    #[test]
    fn bytes_that_are_no_text_are_bytes() {
        assert!(wildmatch(b"?\xff[\x80-\x90]", b"\xc3\xff\x85", Slash::Stops, Case::Exact));
        assert!(!wildmatch("?".as_bytes(), "é".as_bytes(), Slash::Stops, Case::Exact));
    }

    #[test]
    fn what_can_match_nothing_says_why() {
        let why = |pattern: &str| Pattern::compile(pattern.as_bytes(), Slash::Stops, Case::Exact).map(|_| ());
        assert_eq!(why("a["), Err(Malformed::OpenBracket));
        assert_eq!(why("[[:alhpa:]]"), Err(Malformed::UnknownClass));
        assert_eq!(why("a\\"), Err(Malformed::LoneBackslash));
        assert_eq!(why("[[:alpha]"), Ok(()));
    }
}
