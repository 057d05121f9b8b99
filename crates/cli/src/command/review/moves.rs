//! What a stroke means while somebody looks or writes: moving, scrolling, and the beginnings of decisions. Pure.

use placet_wire::api::StandsFor;

use super::card::{May, twins_text};
use super::row::{Row, Subject};
use super::sitting::{Intent, Mode, Pane, Place, Purpose, Sitting, Verb};
use crate::terminal::line::{Line, Wrote};
use crate::terminal::rich::{self, Wrapped};
use crate::terminal::stroke::Stroke;

/// How many are approved at once at most, as on the pages.
pub(super) const MOST_AT_ONCE: usize = 50;

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
            Stroke::Left
            | Stroke::Right
            | Stroke::Backspace
            | Stroke::Delete
            | Stroke::Control(_)
            | Stroke::Unknown => Vec::new(),
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
            'a' | 'r' | 'e' | 'x' | 'm' | 'p' | 'c' => self.begin(letter),
            _ => Vec::new(),
        }
    }

    fn turn(&mut self, mode: Mode) -> Vec<Intent> {
        self.mode = mode;
        Vec::new()
    }

    /// The first stroke of a decision. Only on a card that was drawn; what hinders it is said.
    fn begin(&mut self, letter: char) -> Vec<Intent> {
        if self.is_held() {
            return Vec::new();
        }
        if let Some(why) = self.hindrance() {
            return self.hindered(why);
        }
        self.says = None;
        let at_checkpoint = matches!(self.chosen, Some(Subject::Run(_, StandsFor::Checkpoint)));
        match (letter, &self.card) {
            ('a', _) if !self.has_read_twins() => {
                self.hindered("press space: more are approved with it than you saw".to_owned())
            }
            ('a', Some(card)) => match card.may {
                May::Decide { typed: Some(_) } => self.write_for(Purpose::Name),
                May::Decide { typed: None } | May::Not(_) | May::Settled(_) => self.ask(Verb::Approve),
            },
            ('r', _) => self.write_for(Purpose::Reason(Verb::Reject)),
            ('e', _) if matches!(self.chosen, Some(Subject::Action(_))) => self.write_for(Purpose::EditReason),
            ('x', _) => self.select(),
            ('m', _) if at_checkpoint => self.write_for(Purpose::Reason(Verb::Modify)),
            ('p', _) if at_checkpoint => self.ask(Verb::Pause),
            ('c', _) if at_checkpoint => self.write_for(Purpose::Reason(Verb::Cancel)),
            _ => self.hindered(format!("`{letter}` is not for this")),
        }
    }

    fn ask(&mut self, verb: Verb) -> Vec<Intent> {
        self.turn(Mode::Sure { verb, second_ms: None })
    }

    fn write_for(&mut self, purpose: Purpose) -> Vec<Intent> {
        let line = self.chosen.map(|subject| self.draft(subject, purpose)).unwrap_or_default();
        self.turn(Mode::Writing { purpose, line })
    }

    /// Identical ones, as they are listed now: what comes later is not among them. They stand on the card, and count once that was
    /// drawn.
    fn select(&mut self) -> Vec<Intent> {
        let listed = self.rows.iter().find(|row| Some(row.subject) == self.chosen);
        let twins = listed.map(|row| row.twins.as_slice()).unwrap_or_default();
        let taken = twins.iter().take(MOST_AT_ONCE - 1).cloned().collect::<Vec<_>>();
        let says = match (self.selected.is_empty(), taken.len(), twins.len()) {
            (true, 0, _) => "no other is identical".to_owned(),
            (true, some, all) if some < all => {
                format!("with {some} of {all} identical, listed above: a approves these")
            }
            (true, _, all) => format!("with {all} identical, listed above: a approves all of them, each by itself"),
            (false, _, _) => "this one alone".to_owned(),
        };
        self.selected = if self.selected.is_empty() { taken } else { Vec::new() };
        (self.is_drawn, self.only_files, self.place, self.read_to) = (false, false, Place::default(), 0);
        self.says(says);
        Vec::new()
    }

    pub(super) fn write(&mut self, stroke: &Stroke, purpose: Purpose, mut line: Line) -> Vec<Intent> {
        let wrote = line.stroke(stroke);
        let text = line.text();
        match (wrote, purpose) {
            (Wrote::Going, Purpose::Filter) => {
                self.filter = text;
                self.turn(Mode::Writing { purpose, line })
            }
            (Wrote::Going, _) => self.turn(Mode::Writing { purpose, line }),
            (Wrote::GivenUp, Purpose::Filter) => {
                self.filter.clear();
                Vec::new()
            }
            (Wrote::Done, Purpose::Filter) => Vec::new(),
            (Wrote::GivenUp, Purpose::Name | Purpose::Reason(_) | Purpose::EditReason) => {
                self.keep_draft(purpose, text);
                self.says = Some("nothing was decided; what you wrote is kept".to_owned());
                Vec::new()
            }
            (Wrote::Done, Purpose::Name) => self.named(text, line),
            (Wrote::Done, Purpose::Reason(verb)) => self.reasoned(verb, text),
            (Wrote::Done, Purpose::EditReason) => self.edit(text),
        }
    }

    fn keep_draft(&mut self, purpose: Purpose, text: String) {
        if let Some(subject) = self.chosen.filter(|_| !text.is_empty() && purpose != Purpose::Name) {
            self.keep(subject, purpose, text);
        }
    }

    /// Where two people are asked, each types what it is.
    fn named(&mut self, text: String, line: Line) -> Vec<Intent> {
        let wanted = match self.card.as_ref().map(|card| &card.may) {
            Some(May::Decide { typed: Some(tool) }) => tool.clone(),
            Some(May::Decide { typed: None } | May::Not(_) | May::Settled(_)) | None => return Vec::new(),
        };
        if text.trim() == wanted {
            return self.decide(Verb::Approve, String::new());
        }
        self.says = Some(format!("two people are asked: type `{wanted}` to approve, or Escape"));
        self.turn(Mode::Writing { purpose: Purpose::Name, line })
    }

    fn reasoned(&mut self, verb: Verb, text: String) -> Vec<Intent> {
        if text.trim().is_empty() {
            self.says = Some("say why: the agent reads it".to_owned());
            return self.write_for(Purpose::Reason(verb));
        }
        // Kept until it has arrived.
        self.keep_draft(Purpose::Reason(verb), text.clone());
        self.decide(verb, text)
    }

    fn edit(&mut self, reason: String) -> Vec<Intent> {
        if reason.trim().is_empty() {
            self.says = Some("say why you change it: the agent reads it".to_owned());
            return self.write_for(Purpose::EditReason);
        }
        self.keep_draft(Purpose::EditReason, reason.clone());
        if let Some(why) = self.hindrance() {
            self.says = Some(why);
            return Vec::new();
        }
        let card = self.card.as_ref();
        card.map(|card| Intent::Edit { subject: card.subject, seen: card.seen.clone(), reason }).into_iter().collect()
    }

    fn step(&mut self, by: isize) -> Vec<Intent> {
        if self.pane == Pane::Card {
            return self.scroll(by);
        }
        let visible = self.visible();
        let at = self.at().unwrap_or_default();
        let to = at.saturating_add_signed(by).min(visible.len().saturating_sub(1));
        let subject = visible.get(to).map(|row| row.subject);
        self.says = None;
        self.choose(subject.or(self.chosen))
    }

    fn first_of_all(&mut self) -> Vec<Intent> {
        match self.pane {
            Pane::Card => {
                self.place = Place::default();
                Vec::new()
            }
            Pane::Queue => {
                self.sort_anew();
                self.choose(self.first())
            }
        }
    }

    fn last_of_all(&mut self) -> Vec<Intent> {
        match self.pane {
            Pane::Card => self.scroll(isize::MAX / 2),
            Pane::Queue => {
                let last = self.visible().last().map(|row| row.subject);
                self.choose(last)
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
            if !is_settled && !self.has_card_pane() {
                self.pane = Pane::Card;
            }
            if is_settled && self.rows.iter().any(|row| Some(row.subject) == self.chosen && row.is_gone) {
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
        self.filter.clear();
        self.pane = Pane::Queue;
        Vec::new()
    }

    fn files(&mut self) -> Vec<Intent> {
        self.only_files = !self.only_files;
        (self.place, self.pane) = (Place::default(), Pane::Card);
        Vec::new()
    }

    /// The card as rows of its pane.
    pub(super) fn wrapped(&self) -> Vec<Wrapped> {
        let Some(card) = &self.card else { return Vec::new() };
        let text = if self.only_files { card.diff.clone() } else { twins_text(&self.selected) + &card.body };
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
        let rows = self.panes().queue_rows.max(1);
        let at = self.at().unwrap_or_default();
        self.top = self.top.min(self.visible().len().saturating_sub(rows)).min(at);
        if at >= self.top + rows {
            self.top = at + 1 - rows;
        }
    }
}
