//! Text that agents, programs and strangers wrote, shown so that people can trust their eyes on it.
//!
//! What hides, turns or imitates is marked where it stands, and nothing is left out: a control character, a character without a width,
//! a letter of another alphabet within a Latin word. Markup stays what it is, text. Whether the words are true, nobody knows here.

use maud::{Markup, html};
use placet_domain::text::is_invisible;

use crate::lang::Lang;

/// Beyond this a line is folded: what matters must not stand to the right of what anybody scrolls to.
const LONGEST_LINE: usize = 2_000;

/// A piece of a text: as it is, or something to be marked.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Plain(&'t str),
    /// A character that is not seen, or changes what is seen.
    Hidden(char),
    /// A word with letters that look like Latin ones and are not.
    Imitation(&'t str),
}

/// A text on one line, folded where it is too long to be seen whole. A line break within is marked too: what is one argument must
/// look like one.
pub(crate) fn line(lang: Lang, text: &str) -> Markup {
    html! {
        @for (index, part) in folded(text).into_iter().enumerate() {
            @if index > 0 { span.fold title=(lang.long_line()) { "↩" } "\n" }
            (unfolded(lang, part))
        }
    }
}

fn unfolded(lang: Lang, text: &str) -> Markup {
    html! {
        @for piece in pieces(text) {
            @match piece {
                Piece::Plain(plain) => (plain),
                Piece::Hidden(c) => (hidden(c)),
                Piece::Imitation(word) => {
                    mark.odd title=(lang.looks_like()) { (word) }
                    (spelled(word))
                }
            }
        }
    }
}

/// A text of several lines.
pub(crate) fn lines(lang: Lang, text: &str) -> Markup {
    html! { @for whole in text.lines() { (line(lang, whole)) "\n" } }
}

/// Whether something in it is marked.
pub(crate) fn is_odd(text: &str) -> bool {
    pieces(text).iter().any(|piece| !matches!(piece, Piece::Plain(_)))
}

/// Whether it is folded.
pub(crate) fn is_long(text: &str) -> bool {
    text.char_indices().nth(LONGEST_LINE).is_some()
}

fn hidden(c: char) -> Markup {
    html! { mark.odd { "⟦U+" (format!("{:04X}", u32::from(c))) "⟧" } }
}

/// The letters that imitate, by their numbers: an eye cannot tell them.
fn spelled(word: &str) -> Markup {
    let foreign = word.chars().filter(|c| c.is_alphabetic() && is_imitating(*c));
    html! { small.odd { @for c in foreign { "⟦U+" (format!("{:04X}", u32::from(c))) "⟧" } } }
}

/// The line in parts that can be seen whole, cut between characters.
fn folded(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some((end, _)) = rest.char_indices().nth(LONGEST_LINE) {
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let piece = if is_hidden(c) {
            Piece::Hidden(c)
        } else if is_word(c) {
            let word = leading(rest, is_word);
            if imitates(word) { Piece::Imitation(word) } else { Piece::Plain(word) }
        } else {
            Piece::Plain(leading(rest, |c| !is_hidden(c) && !is_word(c)))
        };
        rest = &rest[length(&piece)..];
        pieces.push(piece);
    }
    joined(pieces, text)
}

/// Plain pieces that stand beside each other are one, so that a page has no more parts than it needs.
fn joined<'t>(pieces: Vec<Piece<'t>>, text: &'t str) -> Vec<Piece<'t>> {
    let (mut out, mut at, mut plain_from) = (Vec::new(), 0, 0);
    for piece in pieces {
        let end = at + length(&piece);
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

fn length(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Plain(text) | Piece::Imitation(text) => text.len(),
        Piece::Hidden(c) => c.len_utf8(),
    }
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.char_indices().find(|(_, c)| !belongs(*c)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t') || is_invisible(c) || passes_for_ascii(c)
}

/// Wide forms of ASCII, and signs that pass for a dot or a slash: what stands between them is no word, and still another address.
const fn passes_for_ascii(c: char) -> bool {
    matches!(c, '\u{FF01}'..='\u{FF5E}' | '\u{2024}' | '\u{2044}' | '\u{2215}' | '\u{29F8}')
}

fn is_word(c: char) -> bool {
    !is_hidden(c) && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Whether Latin letters stand beside some that only look like them. A whole word of another alphabet is just another language.
fn imitates(word: &str) -> bool {
    let latin = word.chars().any(|c| c.is_ascii_alphabetic());
    latin && word.chars().any(is_imitating)
}

/// Cyrillic, Greek, Armenian and Cherokee letters, and mathematical forms: the alphabets whose letters pass for Latin ones.
const fn is_imitating(c: char) -> bool {
    matches!(c,
        '\u{0370}'..='\u{03FF}' | '\u{0400}'..='\u{052F}' | '\u{0530}'..='\u{058F}' | '\u{13A0}'..='\u{13FF}'
        | '\u{1D400}'..='\u{1D7FF}' | '\u{2100}'..='\u{214F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        line(Lang::En, text).into_string()
    }

    #[test]
    fn r5_what_hides_or_turns_is_marked_where_it_stands() {
        assert_eq!(shown("rm\u{202e}x"), "rm<mark class=\"odd\">⟦U+202E⟧</mark>x");
        assert!(shown("a\u{1b}[31mb").contains("⟦U+001B⟧</mark>[31mb"));
        assert!(shown("one\ntwo").contains("⟦U+000A⟧"), "one argument is one line");
        assert!(is_odd("zero\u{200b}width") && !is_odd("plain text, 日本語, déjà vu 👍"));
    }

    #[test]
    fn r5_letters_that_imitate_are_told() {
        let shown = shown("curl p\u{0430}ypal.com");
        assert!(
            shown.contains("<mark class=\"odd\" title=\"imitates Latin letters\">p\u{0430}ypal.com</mark>"),
            "{shown}"
        );
        assert!(shown.contains("⟦U+0430⟧"), "{shown}");
        assert!(!is_odd("привет мир"), "another language is no trick");
        assert!(is_odd("example\u{FF0E}com") && is_odd("evil.example\u{2215}x"), "nor is a wide dot a dot");
    }

    #[test]
    fn r5_markup_stays_text() {
        assert_eq!(shown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(shown("**bold** [a](javascript:b)"), "**bold** [a](javascript:b)");
    }

    #[test]
    fn r5_a_long_line_is_folded_and_nothing_of_it_is_left_out() {
        let long = format!("{}rm -rf /", " ".repeat(10_000));
        let shown = lines(Lang::En, &long).into_string();
        assert!(shown.contains("rm -rf /") && shown.matches("class=\"fold\"").count() == 5, "{}", shown.len());
    }

    proptest! {
        #[test]
        fn r5_nothing_unseen_and_no_markup_remains_in_any_text(text: String) {
            let shown = shown(&text);
            let unseen = shown.chars().any(|c| (c.is_control() && c != '\t' && c != '\n') || is_invisible(c));
            prop_assert!(!unseen);
            let without_ours = shown.replace("<mark class=\"odd\">", "").replace("</mark>", "")
                .replace("<mark class=\"odd\" title=\"imitates Latin letters\">", "")
                .replace("<small class=\"odd\">", "").replace("</small>", "")
                .replace("<span class=\"fold\" title=\"long line, folded\">", "").replace("</span>", "");
            prop_assert!(!without_ours.contains('<') && !without_ours.contains('>'));
        }

        #[test]
        fn pieces_are_the_text(text: String) {
            let mut again = String::new();
            for piece in pieces(&text) {
                match piece {
                    Piece::Plain(part) | Piece::Imitation(part) => again.push_str(part),
                    Piece::Hidden(c) => again.push(c),
                }
            }
            prop_assert_eq!(again, text);
        }
    }
}
