//! Text in looks: what the command line prints with styles, as lines of spans that fit a pane. Pure.
//!
//! Only our own styles are understood. Everything else that is not seen, or acts on a terminal, is spelled out, also where somebody
//! forgot to; marks that are heaped on a letter too. Nothing is left out and nothing cut: what is too long goes on below, marked.

use placet_domain::text::spelled_out;

use super::screen::{Colour, Look, columns, width};

/// More marks on one letter than any language needs.
const MOST_MARKS: usize = 2;
/// What the agent says begins with this, on every row.
const SAID: &str = "  │ ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) look: Look,
}

pub(crate) type Line = Vec<Span>;

/// Which characters a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    All,
    Ascii,
}

/// The lines of a text with styles of ours.
pub(crate) fn lines(text: &str, letters: Letters) -> Vec<Line> {
    let mut look = Look::PLAIN;
    text.trim_end_matches('\n').split('\n').map(|line| spans(line, &mut look, letters)).collect()
}

fn spans(line: &str, look: &mut Look, letters: Letters) -> Line {
    let (mut spans, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        if let Some((styled, length)) = style(rest, *look) {
            *look = styled;
            rest = &rest[length..];
            continue;
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = rest[first..].find('\u{1b}').map_or(rest.len(), |at| first + at);
        spans.push(Span { text: seen(&rest[..end], letters), look: *look });
        rest = &rest[end..];
    }
    spans
}

/// The look after one of our own styles.
fn style(text: &str, look: Look) -> Option<(Look, usize)> {
    let styles: [(&str, Look); 6] = [
        ("\u{1b}[0m", Look::PLAIN),
        ("\u{1b}[1m", Look { bold: true, ..look }),
        ("\u{1b}[2m", Look { dim: true, ..look }),
        ("\u{1b}[31m", Look { colour: Colour::Bad, ..look }),
        ("\u{1b}[32m", Look { colour: Colour::Good, ..look }),
        ("\u{1b}[33m", Look { colour: Colour::Ask, ..look }),
    ];
    styles.into_iter().find(|(escape, _)| text.starts_with(escape)).map(|(escape, look)| (look, escape.len()))
}

/// The text as it can be seen: tabs as spaces, heaps of marks and everything invisible by its number.
pub(crate) fn seen(text: &str, letters: Letters) -> String {
    let (mut shown, mut marks) = (String::with_capacity(text.len()), MOST_MARKS);
    for c in text.chars() {
        match width(c) {
            _ if letters == Letters::Ascii && !c.is_ascii() => shown.push_str(&in_ascii(c)),
            None if c == '\t' => shown.push_str("    "),
            None => shown.push_str(&in_letters(&spelled_out(c.encode_utf8(&mut [0; 4])), letters)),
            Some(0) if marks < MOST_MARKS => {
                marks += 1;
                shown.push(c);
                continue;
            }
            Some(0) => shown.push_str(&format!("⟦U+{:04X}⟧", u32::from(c))),
            Some(_) => {
                marks = 0;
                shown.push(c);
                continue;
            }
        }
        marks = MOST_MARKS;
    }
    shown
}

fn in_letters(text: &str, letters: Letters) -> String {
    match letters {
        Letters::All => text.to_owned(),
        Letters::Ascii => text.chars().map(in_ascii).collect(),
    }
}

/// Our own signs by something alike; letters of others by their number, so that nothing looks like something else.
fn in_ascii(c: char) -> String {
    match c {
        '│' => "|".to_owned(),
        '─' => "-".to_owned(),
        '┌' | '┐' | '└' | '┘' => "+".to_owned(),
        '⟦' => "<".to_owned(),
        '⟧' => ">".to_owned(),
        '…' => "...".to_owned(),
        '·' => "-".to_owned(),
        '✓' => "x".to_owned(),
        '▌' => ">".to_owned(),
        '↪' => "\\".to_owned(),
        '⋯' => "...".to_owned(),
        c if c.is_ascii() => c.to_string(),
        other => format!("<U+{:04X}>", u32::from(other)),
    }
}

/// A row of a pane, and which line it is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrapped {
    pub(crate) line: usize,
    /// The how-many-th row of its line.
    pub(crate) part: usize,
    pub(crate) spans: Line,
}

/// Lines as rows of so many columns. Cut behind a blank where that leaves a row more than half full, else between characters; nothing is left
/// out, and every row that goes on is marked: it can pass for no line of its own.
pub(crate) fn wrapped(lines: &[Line], most: usize, letters: Letters) -> Vec<Wrapped> {
    let most = most.max(8);
    lines.iter().enumerate().flat_map(|(index, line)| rows(index, line, most, letters)).collect()
}

fn rows(index: usize, line: &Line, most: usize, letters: Letters) -> Vec<Wrapped> {
    let said = in_letters(SAID, letters);
    let is_said = line.iter().map(|span| span.text.as_str()).collect::<String>().starts_with(&said);
    let goes_on = in_letters(if is_said { "  │↪" } else { "  ↪ " }, letters);
    let all: Vec<(char, Look)> = line.iter().flat_map(|span| span.text.chars().map(|c| (c, span.look))).collect();
    let mut rows = vec![Wrapped { line: index, part: 0, spans: Vec::new() }];
    let (mut rest, mut room) = (all.as_slice(), most);
    loop {
        let (row, after) = rest.split_at(end(rest, room));
        let last = rows.len() - 1;
        rows[last].spans.extend(pieces(row));
        if after.is_empty() {
            return rows;
        }
        let head = Span { text: goes_on.clone(), look: Look::DIM };
        rows.push(Wrapped { line: index, part: last + 1, spans: vec![head] });
        (rest, room) = (after, most - columns(&goes_on));
    }
}

/// How many of these characters stand on a row of so many columns.
fn end(text: &[(char, Look)], most: usize) -> usize {
    let mut used = 0;
    let fits = |(c, _): &&(char, Look)| {
        used += width(*c).unwrap_or(1);
        used <= most
    };
    let fitting = text.iter().take_while(fits).count();
    let goes_on_within_a_word = text.get(fitting).is_some_and(|(c, _)| *c != ' ');
    // A mark that belongs to a blank stays with it.
    let ends_word = |at: &usize| text[at - 1].0 == ' ' && text.get(*at).is_none_or(|(c, _)| width(*c) != Some(0));
    let behind_blank = (fitting / 2 + 1..=fitting).rev().find(ends_word);
    match behind_blank {
        Some(at) if goes_on_within_a_word => at,
        Some(_) | None => fitting.max(usize::from(!text.is_empty())),
    }
}

/// Characters as spans of one look each.
fn pieces(row: &[(char, Look)]) -> impl Iterator<Item = Span> + '_ {
    row.chunk_by(|one, other| one.1 == other.1).filter_map(|piece| {
        let look = piece.first()?.1;
        Some(Span { text: piece.iter().map(|(c, _)| c).collect(), look })
    })
}

/// The beginning of a text; that there is more is marked.
pub(crate) fn cut(text: &str, most: usize, letters: Letters) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mark = seen("…", letters);
    let (mut shown, mut used) = (String::new(), columns(&mark));
    for c in text.chars() {
        used += width(c).unwrap_or(1);
        if used > most {
            break;
        }
        shown.push(c);
    }
    if most < columns(&mark) { String::new() } else { shown + &mark }
}

/// Cut or filled up to so many columns.
pub(crate) fn padded(text: &str, most: usize, letters: Letters) -> String {
    let shown = cut(text, most, letters);
    let missing = most.saturating_sub(columns(&shown));
    shown + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::out::{BAD, styled};

    fn text(rows: &[Wrapped]) -> Vec<String> {
        rows.iter().map(|row| row.spans.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    #[test]
    fn our_styles_become_looks_and_those_of_others_are_spelled_out() {
        let lines = lines(&format!("a {} b\u{1b}[2Jc\r", styled(BAD, "no")), Letters::All);
        let shown: String = lines[0].iter().map(|span| span.text.as_str()).collect();
        assert_eq!(shown, "a no b⟦U+001B⟧[2Jc⟦U+000D⟧");
        assert_eq!(lines[0][1].look, Look::BAD);
        assert_eq!(lines[0][2].look, Look::PLAIN);
    }

    #[test]
    fn a_long_line_goes_on_below_marked_and_whole() {
        let lines = lines("0123456789abcdefghij", Letters::All);
        assert_eq!(text(&wrapped(&lines, 10, Letters::All)), ["0123456789", "  ↪ abcdef", "  ↪ ghij"]);
    }

    #[test]
    fn b4_words_stay_whole_where_that_leaves_a_row_more_than_half_full() {
        let rows = |said: &str| text(&wrapped(&lines(said, Letters::All), 16, Letters::All));
        assert_eq!(rows("the network may be used"), ["the network may ", "  ↪ be used"]);
        assert_eq!(rows("probes a whole network"), ["probes a whole ", "  ↪ network"]);
        assert_eq!(
            rows("a /very/long/path/of/it"),
            ["a /very/long/pat", "  ↪ h/of/it"],
            "one word is cut where the row ends"
        );
        assert_eq!(
            rows("rm -rf    argv[3]  ls"),
            ["rm -rf    ", "  ↪ argv[3]  ls"],
            "and passes for no line of its own"
        );
    }

    #[test]
    fn r5_what_the_agent_says_is_marked_on_every_row() {
        let said = format!("  │ {}Why you are asked", "x".repeat(8));
        let rows = text(&wrapped(&lines(&said, Letters::All), 12, Letters::All));
        assert!(rows.len() > 2 && rows.iter().all(|row| row.starts_with("  │")), "{rows:?}");
    }

    #[test]
    fn r5_heaps_of_marks_are_told_and_languages_are_left_alone() {
        assert_eq!(seen("e\u{301} naïve 日本", Letters::All), "e\u{301} naïve 日本");
        assert_eq!(seen("\u{301}x\u{301}\u{302}\u{303}", Letters::All), "⟦U+0301⟧x\u{301}\u{302}⟦U+0303⟧");
    }

    #[test]
    fn in_ascii_everything_is_ascii_and_nothing_looks_like_something_else() {
        assert_eq!(seen("é│…\u{202e}", Letters::Ascii), "<U+00E9>|...<U+202E>");
    }

    proptest! {
        #[test]
        fn r5_rows_fit_their_pane_and_hold_the_whole_text(text: String, most in 8_usize..60) {
            let (lines, letters) = (lines(&text, Letters::All), Letters::All);
            let rows = wrapped(&lines, most, letters);
            let mut again = vec![String::new(); lines.len()];
            for row in &rows {
                let skipped = usize::from(row.part > 0);
                let shown: String = row.spans.iter().skip(skipped).map(|span| span.text.as_str()).collect();
                prop_assert!(row.spans.iter().map(|span| columns(&span.text)).sum::<usize>() <= most);
                again[row.line].push_str(&shown);
            }
            let whole: Vec<String> = lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect();
            prop_assert_eq!(again, whole);
        }

        #[test]
        fn r5_nothing_that_acts_remains(text: String) {
            for letters in [Letters::All, Letters::Ascii] {
                let all: String = lines(&text, letters).into_iter().flatten().map(|span| span.text).collect();
                prop_assert!(all.chars().all(|c| width(c).is_some()));
                prop_assert!(letters == Letters::All || all.is_ascii());
            }
        }
    }
}
