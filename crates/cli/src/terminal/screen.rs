//! A screen as data: cells with a character and a look, and what has to be written to make one screen of another.
//!
//! Pure: nothing is written here. Whatever is put on it, the only escapes that come out are those below: to a place, to a look, the
//! cursor. A character that a terminal would act on is never one of them, wherever it came from.

use std::fmt::Write as _;

use placet_domain::text::is_invisible;
use unicode_width::UnicodeWidthChar as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Colour {
    #[default]
    Usual,
    Good,
    Bad,
    Ask,
}

/// How something is written. Nothing is told by this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    /// What the cursor is on.
    pub(crate) chosen: bool,
    pub(crate) colour: Colour,
}

impl Look {
    pub(crate) const PLAIN: Self = Self { bold: false, dim: false, chosen: false, colour: Colour::Usual };
    pub(crate) const BOLD: Self = Self { bold: true, ..Self::PLAIN };
    pub(crate) const DIM: Self = Self { dim: true, ..Self::PLAIN };
    pub(crate) const ASK: Self = Self { colour: Colour::Ask, ..Self::BOLD };
    pub(crate) const BAD: Self = Self { colour: Colour::Bad, ..Self::BOLD };

    #[must_use]
    pub(crate) const fn chosen(self) -> Self {
        Self { chosen: true, ..self }
    }

    fn escapes(self, ink: Ink) -> String {
        let mut escapes = "\u{1b}[0m".to_owned();
        for (is_so, escape) in [(self.bold, "\u{1b}[1m"), (self.dim, "\u{1b}[2m"), (self.chosen, "\u{1b}[7m")] {
            escapes.push_str(if is_so { escape } else { "" });
        }
        escapes.push_str(match (ink, self.colour) {
            (Ink::Coloured, Colour::Good) => "\u{1b}[32m",
            (Ink::Coloured, Colour::Bad) => "\u{1b}[31m",
            (Ink::Coloured, Colour::Ask) => "\u{1b}[33m",
            (Ink::Plain, _) | (Ink::Coloured, Colour::Usual) => "",
        });
        escapes
    }
}

/// Whether colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Coloured,
    Plain,
}

/// As many marks as a letter of any language carries; more are a heap to hide something under.
const MOST_MARKS: usize = 2;

/// One place: a character with its marks, or the second half of a wide one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    letter: char,
    marks: [Option<char>; MOST_MARKS],
    is_second_half: bool,
    look: Look,
}

impl Cell {
    const EMPTY: Self = Self { letter: ' ', marks: [None; MOST_MARKS], is_second_half: false, look: Look::PLAIN };

    const fn of(letter: char, look: Look) -> Self {
        Self { letter, look, ..Self::EMPTY }
    }

    const fn is_ascii(&self) -> bool {
        self.letter.is_ascii() && self.marks[0].is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    size: Size,
    cells: Vec<Cell>,
    /// Where somebody writes, as row and column.
    pub(crate) cursor: Option<(usize, usize)>,
}

/// How many columns a character takes; none for one that is not shown at all.
pub(crate) fn width(c: char) -> Option<usize> {
    if c.is_control() || is_invisible(c) { None } else { c.width() }
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| width(c).unwrap_or(1)).sum()
}

impl Screen {
    pub(crate) fn new(size: Size) -> Self {
        Self { size, cells: vec![Cell::EMPTY; size.columns * size.rows], cursor: None }
    }

    /// Puts a text on one row, from a column on and no further than `most` columns; tells where it ended.
    pub(crate) fn put(&mut self, (row, column): (usize, usize), most: usize, text: &str, look: Look) -> usize {
        let end = (column + most).min(self.size.columns);
        let mut at = column;
        for c in text.chars() {
            let wide = width(c);
            if wide == Some(0) {
                self.mark((row, column), at, c);
                continue;
            }
            let wide = wide.unwrap_or(1);
            if row >= self.size.rows || at + wide > end {
                break;
            }
            // The last line of defence: whoever puts something here has spelled it out before.
            let letter = if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c };
            self.set(row, at, Cell::of(letter, look));
            if wide == 2 {
                self.set(row, at + 1, Cell { is_second_half: true, ..Cell::of(' ', look) });
            }
            at += wide;
        }
        at
    }

    fn set(&mut self, row: usize, column: usize, cell: Cell) {
        if let Some(place) = self.cells.get_mut(row * self.size.columns + column) {
            *place = cell;
        }
    }

    /// A mark belongs to the letter before it. Without one it is left out; whoever wraps text has spelled it out.
    fn mark(&mut self, (row, from): (usize, usize), at: usize, mark: char) {
        let Some(before) = (from..at).rev().find(|column| !self.cell(row, *column).is_second_half) else { return };
        let columns = self.size.columns;
        if let Some(cell) = self.cells.get_mut(row * columns + before)
            && let Some(free) = cell.marks.iter_mut().find(|mark| mark.is_none())
        {
            *free = Some(mark);
        }
    }

    fn cell(&self, row: usize, column: usize) -> Cell {
        self.cells.get(row * self.size.columns + column).copied().unwrap_or(Cell::EMPTY)
    }

    /// The rows as text, for people who review them.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        let row = |row: usize| {
            let cells = (0..self.size.columns).map(|column| self.cell(row, column)).filter(|cell| !cell.is_second_half);
            let line: String =
                cells.flat_map(|cell| [Some(cell.letter), cell.marks[0], cell.marks[1]]).flatten().collect();
            line.trim_end().to_owned()
        };
        (0..self.size.rows).map(row).collect::<Vec<_>>().join("\n")
    }

    /// What has to be written so that this is seen, where that was seen before. Only what differs.
    pub(crate) fn after(&self, before: Option<&Self>, ink: Ink) -> String {
        let before = before.filter(|before| before.size == self.size);
        let mut out = String::new();
        if before.is_none() {
            out.push_str("\u{1b}[0m\u{1b}[2J");
        }
        out.push_str("\u{1b}[?25l");
        let mut pen = Pen { place: None, look: None, ink };
        for row in 0..self.size.rows {
            for column in 0..self.size.columns {
                let cell = self.cell(row, column);
                let was = before.map_or(Cell::EMPTY, |before| before.cell(row, column));
                if cell != was && !cell.is_second_half {
                    pen.write(&mut out, (row, column), cell);
                }
            }
        }
        out.push_str("\u{1b}[0m");
        if let Some((row, column)) = self.cursor {
            let _ = write!(out, "\u{1b}[{};{}H\u{1b}[?25h", row + 1, column + 1);
        }
        out
    }
}

/// Where the terminal would write next, and how.
struct Pen {
    place: Option<(usize, usize)>,
    look: Option<Look>,
    ink: Ink,
}

impl Pen {
    fn write(&mut self, out: &mut String, (row, column): (usize, usize), cell: Cell) {
        if self.place != Some((row, column)) {
            let _ = write!(out, "\u{1b}[{};{}H", row + 1, column + 1);
        }
        if self.look != Some(cell.look) {
            out.push_str(&cell.look.escapes(self.ink));
            self.look = Some(cell.look);
        }
        out.push(cell.letter);
        out.extend(cell.marks.into_iter().flatten());
        // Terminals disagree on how wide many characters are: after one of them, the place is said and not assumed.
        self.place = cell.is_ascii().then_some((row, column + 1));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::terminal::model::Model;

    fn screen(text: &str) -> Screen {
        let mut screen = Screen::new(Size { columns: 12, rows: 3 });
        screen.put((1, 2), 9, text, Look::BAD);
        screen
    }

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        let shown = screen("日本 e\u{301}x");
        assert_eq!(shown.text(), "\n  日本 e\u{301}x\n");
        assert_eq!(screen("日本日本日本").text(), "\n  日本日本\n", "half a letter is not shown");
    }

    #[test]
    fn a_text_ends_where_its_place_does() {
        assert_eq!(screen("abcdefghijklmnop").text(), "\n  abcdefghi\n");
    }

    #[test]
    fn nothing_is_written_where_nothing_changed() {
        let shown = screen("same");
        assert_eq!(shown.after(Some(&shown), Ink::Coloured), "\u{1b}[?25l\u{1b}[0m");
        let changed = screen("sane").after(Some(&shown), Ink::Coloured);
        assert!(changed.contains('n') && !changed.contains('s') && !changed.contains("[2J"), "{changed:?}");
    }

    #[test]
    fn without_colours_the_weight_of_letters_stays() {
        let plain = screen("x").after(None, Ink::Plain);
        assert!(plain.contains("\u{1b}[1m") && !plain.contains("\u{1b}[31m"), "{plain:?}");
    }

    proptest! {
        #[test]
        fn r5_whatever_is_put_on_a_screen_only_our_own_escapes_come_out(texts: Vec<String>) {
            let size = Size { columns: 20, rows: 5 };
            let (mut model, mut before) = (Model::new(size), None);
            for (index, text) in texts.iter().enumerate() {
                let mut screen = Screen::new(size);
                screen.put((index % 5, index % 20), 20, text, Look::ASK);
                model.takes(screen.after(before.as_ref(), Ink::Coloured).as_bytes());
                prop_assert_eq!(model.text(), screen.text());
                before = Some(screen);
            }
        }
    }
}
