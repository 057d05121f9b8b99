//! The beginnings of decisions, and what is written for them: a name, a reason, a note, a filter. Pure.

use placet_wire::api::StandsFor;

use super::card::{Card, May, Typed};
use super::decision::{Intent, Purpose, Verb};
use super::row::Subject;
use super::sitting::{Mode, Place, Sitting};
use crate::terminal::line::{Line, Wrote};
use crate::terminal::stroke::Stroke;

/// How many are approved at once at most, as on the pages.
pub(super) const MOST_AT_ONCE: usize = 50;

impl Sitting {
    /// The first stroke of a decision. Only on a card that was drawn; what hinders it is said.
    pub(super) fn begin(&mut self, letter: char) -> Vec<Intent> {
        if self.is_held() {
            return Vec::new();
        }
        if let Some(why) = self.hindrance() {
            return self.hindered(why);
        }
        self.says = None;
        let at_checkpoint = matches!(self.chosen, Some(Subject::Run(_, StandsFor::Checkpoint)));
        match (letter, &self.card) {
            (_, Some(card)) if card.is_interrupted => self.settle(letter),
            ('u', _) if at_checkpoint => self.go_back(),
            ('s' | 'x', Some(card)) if is_braked(card) => {
                self.hindered("you have decided a lot lately: look at each by itself for a while".to_owned())
            }
            ('s', _) => self.ask_for_order(),
            ('a', _) if self.is_at_order() => self.ask(Verb::Approve),
            (_, _) if self.is_at_order() => self.hindered(
                "this is what an order would be: a approves it and its like, Escape shows the card".to_owned(),
            ),
            (_, _) if self.is_looking_ahead() => {
                self.hindered("this is what going back would change: u goes back, Escape shows the card".to_owned())
            }
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

    /// What was interrupted is run again or given up, each with a reason; and where two people are asked, run again with the tool's name.
    fn settle(&mut self, letter: char) -> Vec<Intent> {
        let takes_name = self.card.as_ref().is_some_and(|card| matches!(card.may, May::Decide { typed: Some(_) }));
        match letter {
            'a' if takes_name => self.write_for(Purpose::Name),
            'a' => self.write_for(Purpose::Reason(Verb::Retry)),
            'r' => self.write_for(Purpose::Reason(Verb::GiveUp)),
            _ => self.hindered("it was interrupted: a runs it again, r gives it up".to_owned()),
        }
    }

    fn ask(&mut self, verb: Verb) -> Vec<Intent> {
        self.turn(Mode::Sure { verb, second_ms: None })
    }

    pub(super) fn write_for(&mut self, purpose: Purpose) -> Vec<Intent> {
        let line = self.chosen.map(|subject| self.draft(subject, purpose)).unwrap_or_default();
        self.turn(Mode::Writing { purpose, line })
    }

    /// Identical ones, as they are listed now: what comes later is not among them. They stand on the card, and count once that was
    /// drawn.
    fn select(&mut self) -> Vec<Intent> {
        let listed = self.rows.iter().find(|row| Some(row.subject) == self.chosen);
        let twins = listed.map(|row| row.twins.as_slice()).unwrap_or_default();
        let taken = twins.iter().take(MOST_AT_ONCE - 1).cloned().collect::<Vec<_>>();
        let says = match (self.selected.is_empty(), taken.len() as u64, listed.map_or(0, |row| row.identical)) {
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
            (Wrote::Done, Purpose::Filter)
            | (Wrote::GivenUp, Purpose::Until | Purpose::Times | Purpose::Assignee | Purpose::Aside) => Vec::new(),
            (Wrote::Done, Purpose::Assignee | Purpose::Aside) => self.attended_to(purpose, &text, line),
            (Wrote::Done, Purpose::Until | Purpose::Times) => self.set_terms(purpose, &text, line),
            (Wrote::GivenUp, Purpose::Name | Purpose::Reason(_) | Purpose::EditReason) => {
                let kept = if text.is_empty() || purpose == Purpose::Name { "" } else { "; what you wrote is kept" };
                self.says = Some(format!("nothing was decided{kept}"));
                self.keep_draft(purpose, text);
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

    /// Where two people are asked, and by whoever has decided a lot, what it is is typed.
    fn named(&mut self, text: String, line: Line) -> Vec<Intent> {
        let Some(card) = &self.card else { return Vec::new() };
        let May::Decide { typed: Some(Typed { word: wanted, why, .. }) } = &card.may else { return Vec::new() };
        let (wanted, why) = (wanted.clone(), *why);
        let does = if card.is_interrupted { "run it again" } else { "approve" };
        if text.trim() == wanted && card.is_interrupted {
            return self.write_for(Purpose::Reason(Verb::Retry));
        }
        if text.trim() == wanted {
            return self.decide(Verb::Approve, String::new());
        }
        self.says = Some(format!("{why}: type `{wanted}` to {does}, or Escape"));
        self.turn(Mode::Writing { purpose: Purpose::Name, line })
    }

    fn reasoned(&mut self, verb: Verb, text: String) -> Vec<Intent> {
        if text.trim().is_empty() {
            self.says = Some("say why: it is recorded, and the agent reads it".to_owned());
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
        let Some(Card { subject, seen, may, .. }) = &self.card else { return Vec::new() };
        let slowly = match may {
            May::Decide { typed: Some(Typed { word, is_brake: true, .. }) } => Some(word.clone()),
            May::Decide { .. } | May::Not(_) | May::Settled(_) => None,
        };
        vec![Intent::Edit { subject: *subject, seen: seen.clone(), reason, slowly }]
    }
}

/// Whether whoever sits here has decided a lot lately. Many at once are never slow.
const fn is_braked(card: &Card) -> bool {
    matches!(&card.may, May::Decide { typed: Some(Typed { is_brake: true, .. }) })
}
