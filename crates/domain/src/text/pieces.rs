//! A text in pieces: what is plain, and what hides, turns, pads or imitates, each by itself. Nothing is left out.

use super::lookalike::{imitates, is_imitating, passes_for_ascii};
use super::unseen::{is_combining, is_unseen, strikes_out, turns};

/// As many blanks in a row as an eye still takes in within a line.
const LONGEST_BLANK: usize = 15;
/// As deep as lines of source text begin.
const DEEPEST_INDENT: usize = 64;
/// As many marks as languages put onto one letter.
const MOST_MARKS: usize = 3;
/// As many kinds of unseen characters as are counted together, so that a count stays short.
const MOST_KINDS: usize = 4;

/// A piece of a text: as it is, or something to be marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    Plain(&'t str),
    /// A character that is not seen, or changes what is seen.
    Hidden(char),
    /// Blanks and other unseen characters: many, or where nobody sees them, at an end. Told by [`Piece::told`], never shown.
    Gap(&'t str),
    /// A tab within a line of a text. What is one value has none: there it is hidden.
    Tab,
    /// A word with letters that look like Latin ones and are not.
    Imitation(&'t str),
    /// A word that is written from right to left, among others that are not.
    Turned(&'t str),
}

#[expect(clippy::len_without_is_empty, reason = "a piece is never empty")]
impl Piece<'_> {
    /// How many bytes of the text it is.
    pub fn len(&self) -> usize {
        match self {
            Self::Plain(text) | Self::Gap(text) | Self::Imitation(text) | Self::Turned(text) => text.len(),
            Self::Hidden(c) => c.len_utf8(),
            Self::Tab => 1,
        }
    }

    /// Whether whoever wrote it may have meant to deceive. A tab, or a blank too many at the end of a line, is only told.
    pub fn is_trick(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Tab => false,
            Self::Gap(run) => run.chars().count() > LONGEST_BLANK || run.chars().any(|c| !matches!(c, ' ' | '\t')),
            Self::Hidden(_) | Self::Imitation(_) | Self::Turned(_) => true,
        }
    }

    /// What it is, in a form that nobody can overlook.
    pub fn told(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Hidden(c) => numbered(*c),
            Self::Tab => numbered('\t'),
            Self::Gap(run) => counted(run),
            Self::Imitation(word) => {
                word.chars().filter(|c| is_imitating(*c)).fold((*word).to_owned(), |told, c| told + &numbered(c))
            }
            Self::Turned(word) => word.chars().map(numbered).collect(),
        }
    }
}

/// A character that an eye cannot tell, by its number.
pub(super) fn numbered(c: char) -> String {
    format!("⟦U+{:04X}⟧", u32::from(c))
}

/// How many of which: `⟦1500×U+0020⟧`.
fn counted(run: &str) -> String {
    let kinds = kinds(run);
    let one = |(c, count): &(char, usize)| match count {
        1 => format!("U+{:04X}", u32::from(*c)),
        many => format!("{many}×U+{:04X}", u32::from(*c)),
    };
    format!("⟦{}⟧", kinds.iter().map(one).collect::<Vec<_>>().join(" "))
}

/// The characters of a run in the order in which they come first, and how often each stands in it.
fn kinds(run: &str) -> Vec<(char, usize)> {
    let mut kinds: Vec<(char, usize)> = Vec::new();
    for c in run.chars() {
        match kinds.iter_mut().find(|(known, _)| *known == c) {
            Some((_, count)) => *count += 1,
            None => kinds.push((c, 1)),
        }
    }
    kinds
}

/// What is one value, an argument, a name, a path: a tab or a line break within is marked too, and a blank at either end.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    split(text, Form::Value)
}

/// One line of a text: it may begin with blanks, and a tab is a tab.
pub fn line_pieces(line: &str) -> Vec<Piece<'_>> {
    split(line, Form::Line)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    Line,
}

fn split(text: &str, form: Form) -> Vec<Piece<'_>> {
    let is_mixed = text.chars().any(|c| c.is_ascii_graphic());
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(piece) = next(text, at, form, is_mixed) {
        at += piece.len();
        pieces.push(piece);
    }
    joined(pieces, text)
}

/// What begins there; never nothing before the end.
fn next(text: &str, at: usize, form: Form, is_mixed: bool) -> Option<Piece<'_>> {
    let rest = &text[at..];
    let c = rest.chars().next()?;
    if c == ' ' || is_unseen(c) {
        return Some(unseen(text, at, form));
    }
    if passes_for_ascii(c) || stands_badly(&text[..at], c) {
        return Some(Piece::Hidden(c));
    }
    if is_mixed && turns(c) {
        return Some(Piece::Turned(leading(rest, turns)));
    }
    let word = word(rest);
    Some(match word.len() {
        0 => Piece::Plain(&rest[..c.len_utf8()]),
        _ if imitates(word) => Piece::Imitation(word),
        _ => Piece::Plain(word),
    })
}

/// A run of blanks and unseen characters, or the first of it. Nothing is looked at further than four kinds of them go, so that a text of
/// nothing else is told in a moment too.
fn unseen(text: &str, at: usize, form: Form) -> Piece<'_> {
    let rest = &text[at..];
    let mut kinds: Vec<char> = Vec::with_capacity(MOST_KINDS);
    let run = leading(rest, |c| (c == ' ' || is_unseen(c)) && is_counted(&mut kinds, c));
    let blanks = leading(run, |c| matches!(c, ' ' | '\t'));
    if form == Form::Line && at == 0 && blanks.len() < rest.len() && (1..=DEEPEST_INDENT).contains(&blanks.len()) {
        return Piece::Plain(blanks);
    }
    let is_end = run.len() == rest.len() || (form == Form::Value && at == 0);
    if run.chars().count() > LONGEST_BLANK {
        return Piece::Gap(run);
    }
    if is_end && !blanks.is_empty() {
        return Piece::Gap(blanks);
    }
    match run.chars().next() {
        Some('\t') if form == Form::Line => Piece::Tab,
        Some(' ') | None => Piece::Plain(&run[..1.min(run.len())]),
        Some(other) => Piece::Hidden(other),
    }
}

/// Whether there is room for one of this kind among those that are counted together.
fn is_counted(kinds: &mut Vec<char>, c: char) -> bool {
    if !kinds.contains(&c) && kinds.len() < MOST_KINDS {
        kinds.push(c);
    }
    kinds.contains(&c)
}

/// Whether a mark stands on nothing that takes marks, on too many of its kind, or strikes out what it stands on.
fn stands_badly(before: &str, c: char) -> bool {
    if !is_combining(c) {
        return false;
    }
    let carried = before.chars().rev().take(MOST_MARKS).take_while(|c| is_combining(*c)).count();
    let bearer = before.chars().rev().nth(carried);
    strikes_out(c) || carried == MOST_MARKS || !bearer.is_some_and(takes_marks)
}

/// The word that begins there: letters with what they bear, digits, and what holds names and addresses together.
fn word(text: &str) -> &str {
    let (mut marks, mut bears) = (0, false);
    leading(text, |c| {
        if is_unseen(c) || passes_for_ascii(c) || turns(c) {
            return false;
        }
        if is_combining(c) {
            marks += 1;
            return bears && marks <= MOST_MARKS && !strikes_out(c);
        }
        (marks, bears) = (0, takes_marks(c));
        c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
    })
}

fn takes_marks(c: char) -> bool {
    c.is_alphanumeric() && !c.is_ascii_digit()
}

fn leading(text: &str, mut belongs: impl FnMut(char) -> bool) -> &str {
    let end = text.char_indices().find(|(_, c)| !belongs(*c)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Plain pieces that stand beside each other are one, so that a page has no more parts than it needs.
fn joined<'t>(pieces: Vec<Piece<'t>>, text: &'t str) -> Vec<Piece<'t>> {
    let (mut out, mut at, mut plain_from) = (Vec::new(), 0, 0);
    for piece in pieces {
        let end = at + piece.len();
        if !matches!(piece, Piece::Plain(_)) {
            if plain_from < at {
                out.push(Piece::Plain(&text[plain_from..at]));
            }
            out.push(piece);
            plain_from = end;
        }
        at = end;
    }
    if plain_from < at {
        out.push(Piece::Plain(&text[plain_from..at]));
    }
    out
}
