//! Printing: data on stdout, everything else on stderr; JSON when asked for; colour only where somebody sees it.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use placet_domain::text::{is_invisible, spelled_out};
use rustix::termios::tcgetwinsize;
use serde::Serialize;

use crate::error::CliError;
use crate::terminal::rich::{Letters, cut};
use crate::terminal::screen::columns;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ASK: Style = AnsiColor::Yellow.on_default();

/// Text in a style; plain where nobody sees colour.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Out {
    json: bool,
}

impl Out {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// The answer: as JSON for machines, or in words for people.
    pub(crate) fn answer<T: Serialize>(&self, value: &T, words: impl FnOnce(&T) -> String) {
        if self.json {
            self.data(&serde_json::to_string_pretty(value).unwrap_or_default());
        } else {
            self.line(&harmless(&words(value)));
        }
    }

    /// One line of data.
    pub(crate) fn line(&self, text: &str) {
        // A closed pipe (`placet queue | head`) is no error of ours.
        let _ = writeln!(anstream::stdout(), "{}", text.trim_end_matches('\n'));
    }

    /// Data that is JSON already.
    pub(crate) fn data(&self, json: &str) {
        self.line(&visible_json(json));
    }

    /// Bytes that a program of strangers wrote: as they are for a file or a program, spelled out for eyes.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut stdout = std::io::stdout();
        if !stdout.is_terminal() {
            return stdout.write_all(bytes);
        }
        stdout.write_all(for_eyes(&String::from_utf8_lossy(bytes)).as_bytes())
    }

    /// Something said along the way; not part of the answer.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            let _ = writeln!(anstream::stderr(), "{}", harmless(text));
        }
    }

    /// What one would type next. Not data: it goes where people look, never into a pipe.
    pub(crate) fn next(&self, command: &str) {
        self.note(&format!("{} {command}", styled(BOLD, " next:")));
    }

    /// Says what went wrong, what to do, and ends with its code.
    pub(crate) fn fail(&self, error: &CliError) -> ExitCode {
        if self.json {
            let problem = serde_json::json!({ "error": error.message, "hint": error.hint, "exit": error.code as u8 });
            let _ = writeln!(anstream::stderr(), "{}", visible_json(&problem.to_string()));
        } else {
            let _ = writeln!(anstream::stderr(), "{} {}", styled(BAD, "error:"), harmless(&error.message));
            if let Some(hint) = &error.hint {
                let _ = writeln!(anstream::stderr(), "{} {}", styled(BOLD, " next:"), harmless(hint));
            }
        }
        ExitCode::from(error.code as u8)
    }
}

/// The only escapes that reach a terminal: those of our own styles.
const OWN_STYLES: &[&str] = &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// Text for a terminal. Much of it was written by agents or by other people: what would move the cursor, hide something
/// or turn the direction of writing is spelled out.
pub(crate) fn harmless(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let taken = match OWN_STYLES.iter().find(|style| rest.starts_with(**style)) {
            Some(style) => style.len(),
            None => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(taken);
        let turns = matches!(first, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let is_control = first.is_control() && !matches!(first, '\n' | '\t');
        if taken == first.len_utf8() && (is_control || turns) {
            shown.push_str(&spelled_out(piece));
        } else {
            shown.push_str(piece);
        }
        rest = after;
    }
    shown
}

/// The same JSON, with everything escaped that a terminal might take for a command or an eye might not see. JSON leaves
/// more of it in place than people think: the control characters above ASCII, and what turns the direction of writing.
fn visible_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut shown, c| {
        if (c.is_control() && c != '\n') || is_invisible(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
        shown
    })
}

/// Text of strangers for a terminal: its lines and tabs, and nothing else that would do something there.
fn for_eyes(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            other => shown.push_str(&spelled_out(other.encode_utf8(&mut [0; 4]))),
        }
    }
    shown
}

/// Columns padded to the same width; the last one is left as it is.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let padding = if column + 1 == row.len() { 0 } else { widths[column] - visible(cell) };
            format!("{cell}{}", " ".repeat(padding))
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same, with one column cut where somebody looks and a row would not fit their window: that there is more is marked.
pub(crate) fn fitted(rows: &[Vec<String>], cuttable: usize) -> String {
    match window() {
        Some(width) => table(&within(rows, cuttable, width)),
        None => table(rows),
    }
}

/// So narrow that nobody reads it is no column.
const NARROWEST: usize = 12;

fn within(rows: &[Vec<String>], cuttable: usize, width: usize) -> Vec<Vec<String>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max();
    let others: usize =
        (0..columns).filter(|column| *column != cuttable).map(|column| widest(column).unwrap_or(0) + 2).sum();
    let room = width.saturating_sub(others).max(NARROWEST);
    let fit = |(column, cell): (usize, &String)| {
        if column == cuttable { cut(cell, room, Letters::All) } else { cell.clone() }
    };
    rows.iter().map(|row| row.iter().enumerate().map(fit).collect()).collect()
}

/// How wide the window is, where somebody looks.
pub(crate) fn window() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How many columns are seen: colour codes are not.
fn visible(text: &str) -> usize {
    columns(&anstream::adapter::strip_str(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_reach_a_terminal() {
        let good = format!("{} a\tb\n{} 👍🏽", styled(GOOD, "ok"), styled(BAD, "no"));
        assert_eq!(harmless(&good), good);
        for trick in ["\u{1b}[8mhidden", "\u{1b}]0;title\u{7}", "\u{9b}2J", "a\rb", "\u{202e}txt", "\u{1b}[2J"] {
            let shown = harmless(trick);
            assert!(
                shown.contains("⟦U+") && !shown.contains(['\u{1b}', '\r', '\u{7}', '\u{9b}', '\u{202e}']),
                "{shown}"
            );
        }
    }

    #[test]
    fn json_says_the_same_and_nothing_of_it_acts_on_a_terminal() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{7f}\u{202e}\u{e0041}\u{1b}[2J\n", "b": "日本 👍" });
        let shown = visible_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!shown.contains(|c: char| (c.is_control() && c != '\n') || is_invisible(c)), "{shown:?}");
        assert!(shown.contains("\\u009b2J\\u007f\\u202e\\udb40\\udc41") && shown.contains("日本 👍"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn what_a_program_printed_keeps_its_lines_and_loses_its_tricks() {
        assert_eq!(for_eyes("a\tb\nc"), "a\tb\nc");
        assert_eq!(for_eyes("\u{1b}[1mx\r\u{9b}"), "⟦U+001B⟧[1mx⟦U+000D⟧⟦U+009B⟧");
    }

    #[test]
    fn columns_line_up_whether_coloured_or_not() {
        let rows = vec![vec!["a".to_owned(), "x".to_owned()], vec![styled(GOOD, "long"), "y".to_owned()]];
        let plain = anstream::adapter::strip_str(&table(&rows)).to_string();
        assert_eq!(plain, "a     x\nlong  y");
        let wide = vec![vec!["日本".to_owned(), "x".to_owned()], vec!["four".to_owned(), "y".to_owned()]];
        assert_eq!(table(&wide), "日本  x\nfour  y", "by what a terminal shows, not by characters");
    }

    #[test]
    fn b4_a_row_that_does_not_fit_is_cut_where_it_may_be_and_says_so() {
        let row = |title: &str| vec!["…00000001".to_owned(), title.to_owned(), styled(ASK, "58m")];
        let rows = within(&[row(&"x".repeat(90)), row("日本語日本語日本語日本語日本語日本語"), row("ls")], 1, 40);
        let shown = anstream::adapter::strip_str(&table(&rows)).to_string();
        assert!(shown.lines().all(|line| columns(line) <= 40), "{shown}");
        assert!(shown.lines().take(2).all(|line| line.contains('…') && line.ends_with("58m")), "{shown}");
        assert_eq!(within(&[row("ls")], 1, 5)[0][1], "ls", "a window for nobody");
    }
}
