//! A small terminal for tests: understands the few escapes that this program writes, and panics at every other.

use super::screen::{Size, width};

/// Everything that may come, besides a place (`ESC [ row ; column H`).
const KNOWN: &[&str] = &[
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[7m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[2J",
    "\u{1b}[?25l",
    "\u{1b}[?25h",
];

pub(crate) struct Model {
    size: Size,
    cells: Vec<String>,
    at: (usize, usize),
}

impl Model {
    pub(crate) fn new(size: Size) -> Self {
        Self { size, cells: vec![" ".to_owned(); size.columns * size.rows], at: (0, 0) }
    }

    pub(crate) fn takes(&mut self, bytes: &[u8]) {
        let mut rest = std::str::from_utf8(bytes).expect("what is written is text");
        while let Some(first) = rest.chars().next() {
            if first == '\u{1b}' {
                rest = self.obeys(rest);
            } else {
                self.shows(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }

    fn obeys<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(known) = KNOWN.iter().find(|known| text.starts_with(**known)) {
            if *known == "\u{1b}[2J" {
                self.cells.fill(" ".to_owned());
            }
            return &text[known.len()..];
        }
        let end = text.find('H').unwrap_or_else(|| panic!("an escape that is none of ours: {text:?}"));
        let place = text[..end].strip_prefix("\u{1b}[").and_then(|place| place.split_once(';'));
        let (row, column) = place.unwrap_or_else(|| panic!("an escape that is none of ours: {text:?}"));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|_| panic!("no place: {text:?}")) - 1;
        self.at = (number(row), number(column));
        &text[end + 1..]
    }

    fn shows(&mut self, c: char) {
        let wide = width(c).unwrap_or_else(|| panic!("{c:?} acts on a terminal"));
        let (row, column) = self.at;
        let at = row * self.size.columns + column;
        if wide == 0 {
            let letter = if self.cells[at - 1].is_empty() { at - 2 } else { at - 1 };
            self.cells[letter].push(c);
            return;
        }
        self.cells[at] = c.to_string();
        if wide == 2 {
            self.cells[at + 1] = String::new();
        }
        self.at.1 += wide;
    }

    pub(crate) fn text(&self) -> String {
        let rows = self.cells.chunks(self.size.columns).map(|row| row.concat().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}
