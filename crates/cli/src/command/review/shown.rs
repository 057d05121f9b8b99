//! Whether the card is really on the screen, and what else hinders a decision. Pure.
//!
//! A decision is about what somebody could read: in a window that has room for the queue alone, or for nothing, a card that was
//! fetched was not shown.

use super::card::{Card, May};
use super::draw::SMALLEST;
use super::sitting::{Mode, Sitting, Wire};
use crate::terminal::screen::Size;

impl Sitting {
    /// Everything that is to be seen was written to the terminal, and what was typed before is gone. Counts for the card only if it
    /// was a part of that, whole: its files alone are not the card.
    pub(crate) fn drawn(&mut self) {
        if self.awaits_drawing() {
            self.is_drawn = true;
            self.read_on();
        }
    }

    /// What is seen now was read, if it follows what was read before: whoever leaps to the end has not seen what is between.
    fn read_on(&mut self) {
        let (rows, most) = (self.wrapped(), self.panes().card_rows);
        let from = self.row_of(&rows);
        let seen = rows.iter().skip(from).take(most).map(|row| row.line);
        if seen.clone().min().is_some_and(|first| first <= self.read_to) {
            self.read_to = seen.max().unwrap_or_default().max(self.read_to);
        }
    }

    /// Whether all that are approved with it were on the screen: a heading, one line for each, and what comes after them.
    pub(super) const fn has_read_twins(&self) -> bool {
        self.selected.is_empty() || self.read_to > self.selected.len()
    }

    /// Whether a card is about to be seen for which nothing was typed yet.
    pub(crate) fn awaits_drawing(&self) -> bool {
        self.card.is_some() && !self.is_drawn && self.has_card_pane() && !self.only_files
    }

    /// Another size is another screen: what was drawn before says nothing about it.
    pub(crate) fn resize(&mut self, size: Size) {
        self.is_drawn &= size == self.size;
        self.size = size;
        self.fit();
    }

    /// Whether nothing can be read at this size.
    pub(super) const fn is_too_small(&self) -> bool {
        self.size.columns < SMALLEST.columns || self.size.rows < SMALLEST.rows
    }

    /// Whether the card has a place on the screen now.
    pub(super) fn has_card_pane(&self) -> bool {
        let is_covered = self.mode == Mode::Keys || self.is_too_small();
        !is_covered && self.panes().queue_width < self.size.columns
    }

    /// Why nothing can be decided now, if so.
    pub(super) fn hindrance(&self) -> Option<String> {
        if let Wire::Lost(_) = self.wire {
            return Some("the control plane is not there: nothing can be decided".to_owned());
        }
        let Some(card) = &self.card else { return Some("it is not shown yet".to_owned()) };
        let unseen = self.unseen().map(str::to_owned);
        unseen.or_else(|| self.not_now().map(str::to_owned)).or_else(|| cannot(card))
    }

    /// What shows the card that cannot have been read. The smallest windows must have room for it.
    fn unseen(&self) -> Option<&'static str> {
        match (self.is_too_small(), self.has_card_pane(), self.is_drawn) {
            (true, _, _) => Some("make the window larger to look at the card"),
            (false, false, _) => Some("press tab or enter to look at the card first"),
            (false, true, false) if self.only_files => Some("press d to look at the card, not its files alone"),
            (false, true, false) => Some("it is not shown yet"),
            (false, true, true) => None,
        }
    }

    const fn not_now(&self) -> Option<&'static str> {
        match (&self.later, self.sending) {
            (Some(_), _) => Some("it changed: press enter to look again"),
            (None, true) => Some("a decision is on its way"),
            (None, false) => None,
        }
    }
}

fn cannot(card: &Card) -> Option<String> {
    match &card.may {
        May::Decide { .. } => None,
        May::Not(why) => Some(format!("you cannot decide: {why}")),
        May::Settled(how) => Some(format!("decided: {how}")),
    }
}
