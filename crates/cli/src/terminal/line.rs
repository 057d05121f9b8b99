//! A line that somebody writes: letters, a place, and keys that move it. Pure.

use super::screen::width;
use super::stroke::Stroke;

/// As long as a reason may be, and far longer than one should be.
const LONGEST: usize = 2_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    letters: Vec<char>,
    at: usize,
}

/// What a stroke did to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrote {
    Going,
    Done,
    GivenUp,
}

impl Line {
    pub(crate) fn of(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        Self { at: letters.len(), letters }
    }

    pub(crate) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// How many columns stand before the place where the next letter goes.
    pub(crate) fn columns_before(&self) -> usize {
        self.letters[..self.at].iter().map(|c| width(*c).unwrap_or(1)).sum()
    }

    pub(crate) fn stroke(&mut self, stroke: &Stroke) -> Wrote {
        match stroke {
            Stroke::Enter => return Wrote::Done,
            Stroke::Escape | Stroke::Control('c') => return Wrote::GivenUp,
            Stroke::Letter(c) => self.insert(*c),
            Stroke::Pasted(text) => text.chars().for_each(|c| self.insert(c)),
            Stroke::Backspace => self.remove_before(),
            Stroke::Delete => self.remove_here(),
            Stroke::Left => self.at = self.at.saturating_sub(1),
            Stroke::Right => self.at = (self.at + 1).min(self.letters.len()),
            Stroke::Home | Stroke::Control('a') => self.at = 0,
            Stroke::End | Stroke::Control('e') => self.at = self.letters.len(),
            Stroke::Control('u') => {
                self.letters.drain(..self.at);
                self.at = 0;
            }
            Stroke::Control('w') => self.remove_word(),
            Stroke::Tab
            | Stroke::BackTab
            | Stroke::Up
            | Stroke::Down
            | Stroke::PageUp
            | Stroke::PageDown
            | Stroke::Control(_)
            | Stroke::Unknown => {}
        }
        Wrote::Going
    }

    /// Line ends of what is pasted become spaces; what is not seen is not taken.
    fn insert(&mut self, c: char) {
        let c = if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
        if self.letters.len() < LONGEST && width(c).is_some() {
            self.letters.insert(self.at, c);
            self.at += 1;
        }
    }

    fn remove_before(&mut self) {
        if self.at > 0 {
            self.at -= 1;
            self.letters.remove(self.at);
        }
    }

    fn remove_here(&mut self) {
        if self.at < self.letters.len() {
            self.letters.remove(self.at);
        }
    }

    fn remove_word(&mut self) {
        let before = &self.letters[..self.at];
        let end = before.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
        let start = before[..end].iter().rposition(|c| *c == ' ').map_or(0, |space| space + 1);
        self.letters.drain(start..self.at);
        self.at = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(strokes: &[Stroke]) -> String {
        let mut line = Line::default();
        strokes.iter().for_each(|stroke| assert_eq!(line.stroke(stroke), Wrote::Going));
        line.text()
    }

    #[test]
    fn letters_are_written_moved_over_and_taken_back() {
        use Stroke::{Backspace, Control, Delete, End, Home, Left, Letter, Pasted, Right};
        let ab = [Letter('a'), Letter('b')];
        assert_eq!(written(&[&ab[..], &[Left, Letter('x'), Right, Letter('c')]].concat()), "axbc");
        assert_eq!(written(&[&ab[..], &[Home, Delete, End, Backspace]].concat()), "");
        assert_eq!(written(&[Pasted("too wide,\nlook".to_owned()), Control('w')]), "too wide, ");
        assert_eq!(written(&[Pasted("too wide".to_owned()), Control('u'), Letter('!')]), "!");
    }

    #[test]
    fn b4_what_is_pasted_into_a_line_neither_sends_it_nor_hides_in_it() {
        assert_eq!(written(&[Stroke::Pasted("no\r\n\u{1b}[2J\u{202e}".to_owned())]), "no  [2J");
    }
}
