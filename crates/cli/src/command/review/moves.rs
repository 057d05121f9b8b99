//! What a stroke means while somebody looks: moving, scrolling, and what is seen of a card. Pure.

use super::ahead::{Ahead, Other};
use super::card::{May, twins_text};
use super::decision::{Intent, Purpose};
use super::row::{Row, Subject};
use super::sitting::{Mode, Pane, Place, Sitting};
use crate::terminal::line::Line;
use crate::terminal::rich::{self, Wrapped};
use crate::terminal::stroke::Stroke;

impl Sitting {
    /// The rows that the filter lets through; what is looked at is always among them.
    pub(super) fn visible(&self) -> Vec<&Row> {
        let wanted = self.filter.to_lowercase();
        let fits = |row: &&Row| {
            let said = format!("{} {} {}", row.what, row.agent, row.subject.id()).to_lowercase();
            said.contains(&wanted) || Some(row.subject) == self.chosen
        };
        self.rows.iter().filter(fits).collect()
    }

    pub(super) fn first(&self) -> Option<Subject> {
        self.visible().first().map(|row| row.subject)
    }

    fn at(&self) -> Option<usize> {
        self.visible().iter().position(|row| Some(row.subject) == self.chosen)
    }

    /// What comes after what is looked at, or else before it.
    pub(super) fn neighbour(&self) -> Option<Subject> {
        let (visible, at) = (self.visible(), self.at()?);
        let next = visible.get(at + 1).or_else(|| visible.get(at.checked_sub(1)?));
        next.map(|row| row.subject)
    }

    pub(super) fn look(&mut self, stroke: &Stroke) -> Vec<Intent> {
        match stroke {
            Stroke::Letter(letter) => self.letter(*letter),
            Stroke::Down => self.step(1),
            Stroke::Up => self.step(-1),
            Stroke::PageDown => self.scroll(self.page()),
            Stroke::PageUp => self.scroll(-self.page()),
            Stroke::Home => self.first_of_all(),
            Stroke::End => self.last_of_all(),
            Stroke::Tab | Stroke::BackTab => self.other_pane(),
            Stroke::Enter => self.enter(),
            Stroke::Escape => self.back(),
            Stroke::Control('c' | 'd') => vec![Intent::Quit],
            Stroke::Control('z') => vec![Intent::Stop],
            Stroke::Control('l') => vec![Intent::List],
            // What is pasted never acts as keys, and neither does what is not known.
            Stroke::Pasted(_) => {
                self.says("what is pasted does nothing here".to_owned());
                Vec::new()
            }
            Stroke::Left | Stroke::Right if self.is_at_order() => self.widen_order(),
            Stroke::Left => self.go_back_to(Other::Older),
            Stroke::Right => self.go_back_to(Other::Newer),
            Stroke::Backspace | Stroke::Delete | Stroke::Control(_) | Stroke::Unknown => Vec::new(),
        }
    }

    fn letter(&mut self, letter: char) -> Vec<Intent> {
        match letter {
            'j' => self.step(1),
            'k' => self.step(-1),
            'g' => self.first_of_all(),
            'G' => self.last_of_all(),
            ' ' => self.scroll(self.page()),
            'b' => self.scroll(-self.page()),
            'd' => self.files(),
            '?' => self.turn(Mode::Keys),
            '/' => self.turn(Mode::Writing { purpose: Purpose::Filter, line: Line::of(&self.filter) }),
            'q' => vec![Intent::Quit],
            'y' => self.chosen.map(|subject| Intent::Copy(subject.id())).into_iter().collect(),
            'o' => self.chosen.map(|subject| Intent::Open(subject.page())).into_iter().collect(),
            't' if self.is_at_order() => self.write_terms(Purpose::Until),
            'n' if self.is_at_order() => self.write_terms(Purpose::Times),
            'w' => self.attend(Purpose::Assignee),
            'l' => self.attend(Purpose::Aside),
            'a' | 'r' | 'e' | 'x' | 's' | 'm' | 'p' | 'c' | 'u' => self.begin(letter),
            _ => Vec::new(),
        }
    }

    pub(super) fn turn(&mut self, mode: Mode) -> Vec<Intent> {
        self.mode = mode;
        Vec::new()
    }

    fn step(&mut self, by: isize) -> Vec<Intent> {
        if self.pane == Pane::Card {
            return self.scroll(by);
        }
        let visible = self.visible();
        let at = self.at().unwrap_or_default();
        let to = at.saturating_add_signed(by).min(visible.len().saturating_sub(1));
        let subject = visible.get(to).map(|row| row.subject);
        let is_last = to + 1 == visible.len();
        self.says = None;
        let mut intents = self.pass_to(subject.or(self.chosen));
        if by > 0 && is_last {
            intents.extend(self.more());
        }
        intents
    }

    /// At the end of what was fetched, more of it is, once.
    fn more(&mut self) -> Option<Intent> {
        let asks = self.has_more && !self.is_paging && self.filter.is_empty();
        self.is_paging |= asks;
        asks.then_some(Intent::More)
    }

    fn first_of_all(&mut self) -> Vec<Intent> {
        match self.pane {
            Pane::Card => {
                self.place = Place::default();
                Vec::new()
            }
            Pane::Queue => {
                self.sort_anew();
                self.pass_to(self.first())
            }
        }
    }

    fn last_of_all(&mut self) -> Vec<Intent> {
        match self.pane {
            Pane::Card => self.scroll(isize::MAX / 2),
            Pane::Queue => {
                let last = self.visible().last().map(|row| row.subject);
                let mut intents = self.pass_to(last);
                intents.extend(self.more());
                intents
            }
        }
    }

    fn other_pane(&mut self) -> Vec<Intent> {
        self.pane = match self.pane {
            Pane::Queue => Pane::Card,
            Pane::Card => Pane::Queue,
        };
        Vec::new()
    }

    /// Looks again where something changed, goes on where something was decided, or goes to the card.
    fn enter(&mut self) -> Vec<Intent> {
        self.says = None;
        if let Some(later) = self.later.take() {
            let is_settled = matches!(later.may, May::Settled(_));
            self.card = Some(later);
            (self.is_drawn, self.place) = (false, Place::default());
            self.selected.clear();
            self.ahead = Ahead::No;
            if !is_settled && !self.has_card_pane() {
                self.pane = Pane::Card;
            }
            if is_settled {
                self.says = Some("it waits no more; j or k looks at another".to_owned());
            }
            return Vec::new();
        }
        self.pane = Pane::Card;
        Vec::new()
    }

    fn back(&mut self) -> Vec<Intent> {
        self.says = None;
        if self.only_files {
            return self.files();
        }
        if self.is_looking_ahead() {
            self.look_no_further();
            return Vec::new();
        }
        self.filter.clear();
        self.pane = Pane::Queue;
        Vec::new()
    }

    fn files(&mut self) -> Vec<Intent> {
        if self.is_looking_ahead() {
            self.look_no_further();
        }
        self.only_files = !self.only_files;
        (self.place, self.pane) = (Place::default(), Pane::Card);
        Vec::new()
    }

    /// The card as rows of its pane.
    pub(super) fn wrapped(&self) -> Vec<Wrapped> {
        let Some(card) = &self.card else { return Vec::new() };
        let text = match &self.ahead {
            Ahead::Seen { text, .. } => text.clone(),
            Ahead::Order { offer, terms } => terms.told(offer),
            Ahead::No | Ahead::Asked(_) | Ahead::OrderAsked if self.only_files => card.diff.clone(),
            Ahead::No | Ahead::Asked(_) | Ahead::OrderAsked => twins_text(&self.selected) + &card.body,
        };
        rich::wrapped(&rich::lines(&text, self.letters), self.panes().card_columns, self.letters)
    }

    fn page(&self) -> isize {
        isize::try_from(self.panes().card_rows.saturating_sub(2).max(1)).unwrap_or(1)
    }

    fn scroll(&mut self, by: isize) -> Vec<Intent> {
        let rows = self.wrapped();
        let most = rows.len().saturating_sub(self.panes().card_rows);
        let to = self.row_of(&rows).saturating_add_signed(by).min(most);
        self.place = rows.get(to).map(|row| Place { line: row.line, part: row.part }).unwrap_or_default();
        // What comes into sight is to be drawn before it counts.
        self.is_drawn &= self.has_read_twins();
        Vec::new()
    }

    /// Which row of the pane's text stands at its top: the place, however wide the pane is now.
    pub(super) fn row_of(&self, rows: &[Wrapped]) -> usize {
        let is_there = |row: &Wrapped| (Place { line: row.line, part: row.part }) <= self.place;
        rows.iter().take_while(|row| is_there(row)).count().saturating_sub(1)
    }

    /// Keeps what is chosen within what is seen of the list, and moves the list no further than that takes.
    pub(super) fn fit(&mut self) {
        let rows = self.panes().queue_items.max(1);
        let at = self.at().unwrap_or_default();
        self.top = self.top.min(self.visible().len().saturating_sub(rows)).min(at);
        if at >= self.top + rows {
            self.top = at + 1 - rows;
        }
    }
}
