//! Text that agents, programs and strangers wrote, shown so that people can trust their eyes on it.
//!
//! What hides, turns or imitates is marked where it stands, and nothing is left out: a control character, a character without a width,
//! a letter of another alphabet within a Latin word. Markup stays what it is, text. Whether the words are true, nobody knows here.

use maud::{Markup, html};
use placet_domain::text::{Piece, is_imitating, pieces};

use crate::lang::Lang;

/// Beyond this a line is folded: what matters must not stand to the right of what anybody scrolls to.
const LONGEST_LINE: usize = 2_000;

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

#[cfg(test)]
mod tests {
    use placet_domain::text::is_invisible;
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
    }
}
