//! Text that agents, programs and strangers wrote, shown so that people can trust their eyes on it.
//!
//! What hides, turns, pads or imitates is marked where it stands, and nothing is left out: a control character, a character without a
//! width, many blanks in a row, a letter of another alphabet within a Latin word. Markup stays what it is, text. Whether the words are
//! true, nobody knows here.

use maud::{Markup, html};
use placet_domain::text::{Piece, is_imitating, line_pieces, pieces};
use placet_lang::Lang;

/// Beyond this a line is folded: what matters must not stand to the right of what anybody scrolls to.
const LONGEST_LINE: usize = 2_000;

/// A text on one line, folded where it is too long to be seen whole. A line break within is marked too: what is one argument must
/// look like one.
pub(crate) fn line(lang: Lang, text: &str) -> Markup {
    shown(lang, pieces(text))
}

/// A word that a program is given. What has several lines is shown on as many, the end of each marked: scripts are read, and one argument
/// still looks like one.
pub(crate) fn word(lang: Lang, word: &str) -> Markup {
    let mut lines = word.split('\n').peekable();
    html! {
        @while let Some(part) = lines.next() {
            (line(lang, part))
            @if lines.peek().is_some() { span.gap title="U+000A" { "⏎" } "\n" }
        }
    }
}

/// Whether something in such a word deceives. That it has several lines does not.
pub(crate) fn is_odd_word(word: &str) -> bool {
    word.split('\n').any(is_odd)
}

/// A line of a text of several: it may begin with blanks, and a tab is a tab.
pub(crate) fn code_line(lang: Lang, line: &str) -> Markup {
    shown(lang, line_pieces(line))
}

/// A text of several lines.
pub(crate) fn lines(lang: Lang, text: &str) -> Markup {
    html! { @for whole in placet_domain::text::lines(text) { (code_line(lang, whole)) "\n" } }
}

fn shown(lang: Lang, pieces: Vec<Piece<'_>>) -> Markup {
    html! {
        @for part in folded(pieces) {
            @match part {
                None => { span.fold title=(lang.long_line()) { "↩" } "\n" },
                Some(Piece::Plain(plain)) => (with_hosts(plain)),
                Some(Piece::Tab) => { span.tab { "⇥" } "\t" },
                Some(hidden @ Piece::Hidden(_)) => mark.odd { (hidden.told()) },
                Some(gap @ Piece::Gap(_)) if gap.is_trick() => mark.odd title=(lang.unseen_run()) { (gap.told()) },
                Some(gap @ Piece::Gap(_)) => small.gap title=(lang.unseen_run()) { (gap.told()) },
                Some(Piece::Turned(word)) => mark.odd.turned title=(lang.right_to_left()) { (word) },
                Some(Piece::Imitation(word)) => { mark.odd title=(lang.looks_like()) { (word) } (spelled(word)) },
            }
        }
    }
}

/// Shows addresses without a line break in their scheme and host, if both fit: half a host reads as another host.
fn with_hosts(plain: &str) -> Markup {
    let (mut parts, mut rest) = (Vec::new(), plain);
    while let Some((before, origin, after)) = first_origin(rest) {
        parts.push((before, origin));
        rest = after;
    }
    html! { @for (before, origin) in parts { (before) span.host { (origin) } } (rest) }
}

/// Finds the first address in a text and returns the text before it, its scheme and host, and the rest.
fn first_origin(text: &str) -> Option<(&str, &str, &str)> {
    let mark = text.find("://")?;
    let is_scheme = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme: usize = text[..mark].chars().rev().take_while(is_scheme).map(char::len_utf8).sum();
    let host = mark + "://".len();
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '|' | ')' | ',' | '…');
    let end = text[host..].find(ends).map_or(text.len(), |length| host + length);
    Some((&text[..mark - scheme], &text[mark - scheme..end], &text[end..]))
}

/// Whether something in it deceives.
pub(crate) fn is_odd(text: &str) -> bool {
    pieces(text).iter().any(Piece::is_trick)
}

/// The same of a text of several lines. How lines end is told at their ends; a note for every text from another system would be noise.
pub(crate) fn is_odd_anywhere(text: &str) -> bool {
    let mut lines = placet_domain::text::lines(text).map(|line| line.strip_suffix('\r').unwrap_or(line));
    lines.any(|line| line_pieces(line).iter().any(Piece::is_trick))
}

/// Whether nothing in a line is marked or folded.
pub(crate) fn is_plain_line(line: &str) -> bool {
    let is_long = line.char_indices().nth(LONGEST_LINE).is_some();
    !is_long && line_pieces(line).iter().all(|piece| matches!(piece, Piece::Plain(_)))
}

/// The letters that imitate, by their numbers: an eye cannot tell them.
fn spelled(word: &str) -> Markup {
    html! { small.odd { @for c in word.chars().filter(|c| is_imitating(*c)) { (Piece::Hidden(c).told()) } } }
}

/// The pieces in lines that can be seen whole, with nothing where a line ends: told first and cut then, so that no cut divides what
/// belongs together.
fn folded(pieces: Vec<Piece<'_>>) -> Vec<Option<Piece<'_>>> {
    let (mut out, mut room) = (Vec::new(), LONGEST_LINE);
    for piece in pieces {
        let Piece::Plain(mut rest) = piece else {
            out.push(Some(piece));
            continue;
        };
        while let Some((end, _)) = rest.char_indices().nth(room) {
            let (part, after) = rest.split_at(end);
            out.extend([Some(Piece::Plain(part)), None]);
            (rest, room) = (after, LONGEST_LINE);
        }
        room -= rest.chars().count();
        out.push(Some(Piece::Plain(rest)));
    }
    out
}

#[cfg(test)]
mod tests {
    use placet_domain::text::is_unseen;
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        line(Lang::En, text).into_string()
    }

    #[test]
    fn r5_what_hides_or_turns_is_marked_where_it_stands() {
        assert_eq!(shown("rm\u{202e}x"), "rm<mark class=\"odd\">⟦U+202E⟧</mark>x");
        assert!(shown("a\u{1b}[31mb").contains("⟦U+001B⟧</mark>[31mb"));
        assert!(shown("one\ntwo").contains("⟦U+000A⟧"), "what is told in a line is one line");
        let script = word(Lang::En, "one\ntwo \u{202e}").into_string();
        assert!(script.starts_with("one<span class=\"gap\" title=\"U+000A\">⏎</span>\ntwo"), "{script}");
        assert!(is_odd_word("one\ntwo \u{202e}") && !is_odd_word("one\ntwo"), "only what hides is told as hiding");
        assert!(is_odd("zero\u{200b}width") && !is_odd("plain text, 日本語, déjà vu 👍"));
    }

    #[test]
    fn host_of_address_is_kept_together() {
        assert_eq!(
            shown("curl https://api.example.org:8443/v1?x=1 (http://b.test)"),
            "curl <span class=\"host\">https://api.example.org:8443</span>/v1?x=1 (<span class=\"host\">http://b.test</span>)"
        );
        assert_eq!(shown("no address: //x"), "no address: //x");
        assert!(shown("see p\u{0430}ypal://x").contains("<mark"), "tricks are marked as before");
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
        let long = format!("{}rm -rf /", "x ".repeat(5_000));
        let shown = lines(Lang::En, &long).into_string();
        assert!(shown.contains("rm -rf /") && shown.matches("class=\"fold\"").count() == 5, "{}", shown.len());
    }

    #[test]
    fn r5_what_is_padded_out_of_sight_stands_beside_how_much_there_is() {
        let padded = shown(&format!("echo ok{}; rm -rf docs", " ".repeat(1_500)));
        assert!(padded.contains(">⟦1500×U+0020⟧</mark>; rm -rf docs"), "{padded}");
        let end = code_line(Lang::En, "echo ok  ").into_string();
        assert!(end.contains("<small class=\"gap\"") && end.contains("⟦2×U+0020⟧"), "{end}");
        assert!(shown("cp \u{5d0}\u{5d1} x").contains("<mark class=\"odd turned\""));
    }

    proptest! {
        #[test]
        fn r5_nothing_unseen_and_no_markup_remains_in_any_text(text: String) {
            let shown = shown(&text);
            let unseen = shown.chars().any(|c| is_unseen(c) && c != '\n');
            prop_assert!(!unseen);
            let without_ours = shown.replace("<mark class=\"odd\">", "").replace("</mark>", "")
                .replace("<mark class=\"odd\" title=\"characters that nobody sees, counted\">", "")
                .replace("<small class=\"gap\" title=\"characters that nobody sees, counted\">", "")
                .replace("<mark class=\"odd turned\" title=\"written from right to left, shown as it is stored\">", "")
                .replace("<mark class=\"odd\" title=\"imitates Latin letters\">", "")
                .replace("<small class=\"odd\">", "").replace("</small>", "")
                .replace("<span class=\"host\">", "")
                .replace("<span class=\"fold\" title=\"long line, folded\">", "").replace("</span>", "");
            prop_assert!(!without_ours.contains('<') && !without_ours.contains('>'));
        }
    }
}
