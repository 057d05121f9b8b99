//! From a stroke to a decision and what came of it: the second stroke, keys that are held down, what is written on although nothing was
//! opened for it, and what was written and did not arrive. Pure.

use super::decision::{Decision, Intent, Purpose, Refused, Verb, key_of};
use super::row::Subject;
use super::sitting::{Mode, Sitting};
use crate::terminal::line::Line;
use crate::terminal::stroke::Stroke;

/// Whoever writes on although nothing was opened for it is not heard until they have paused for so long: what was meant as a
/// reason must not act as keys.
const WRITES_ON_WITHIN_MS: i64 = 600;
/// A key that is held down repeats faster than this.
pub(super) const REPEATS_WITHIN_MS: i64 = 250;

impl Sitting {
    /// A second stroke that nothing followed counts now.
    pub(super) fn settled(&mut self) -> Vec<Intent> {
        match self.mode {
            Mode::Sure { verb, second_ms: Some(second_ms) } if self.now_ms - second_ms >= REPEATS_WITHIN_MS => {
                self.mode = Mode::Looking;
                self.decide(verb, String::new())
            }
            Mode::Sure { .. } | Mode::Looking | Mode::Writing { .. } | Mode::Keys => Vec::new(),
        }
    }

    /// The second stroke: the same key again, and then nothing for a moment, or another key, which says that it was let go. What is
    /// no plain key takes it back.
    pub(super) fn sure(&mut self, stroke: &Stroke, verb: Verb, second_ms: Option<i64>) -> Vec<Intent> {
        let is_same = *stroke == key_of(verb);
        match (is_same, second_ms) {
            (true, None) => {
                self.mode = Mode::Sure { verb, second_ms: Some(self.now_ms) };
                Vec::new()
            }
            (true, Some(_)) => {
                self.held_ms = Some(self.now_ms);
                self.says = Some("a key that is held down decides nothing: press it twice".to_owned());
                Vec::new()
            }
            (false, Some(_)) if lets_go(stroke) => self.decide(verb, String::new()),
            (false, _) => {
                self.says = Some("nothing was decided".to_owned());
                Vec::new()
            }
        }
    }

    /// Whether a deciding key is still held down from before.
    pub(super) fn is_held(&mut self) -> bool {
        let is_held = self.held_ms.is_some_and(|held_ms| self.now_ms - held_ms < REPEATS_WITHIN_MS);
        self.held_ms = is_held.then_some(self.now_ms);
        is_held
    }

    /// Whether a letter is a part of what somebody writes for a decision that could not begin.
    pub(super) fn is_deaf(&mut self, stroke: &Stroke) -> bool {
        let is_deaf = self.deaf_ms.is_some_and(|deaf_ms| self.now_ms - deaf_ms < WRITES_ON_WITHIN_MS);
        self.deaf_ms = is_deaf.then_some(self.now_ms);
        is_deaf && matches!(stroke, Stroke::Letter(_))
    }

    /// Says why a decision cannot begin.
    pub(super) fn hindered(&mut self, why: String) -> Vec<Intent> {
        self.says = Some(why);
        self.deaf_ms = Some(self.now_ms);
        Vec::new()
    }

    /// The decision about exactly what is on the screen.
    pub(super) fn decide(&mut self, verb: Verb, words: String) -> Vec<Intent> {
        if let Some(why) = self.hindrance() {
            self.says = Some(why);
            return Vec::new();
        }
        let order = match self.order() {
            Ok(order) => order.filter(|_| verb == Verb::Approve),
            Err(why) => return self.hindered(why),
        };
        let Some(card) = &self.card else { return Vec::new() };
        self.sending = true;
        self.says = Some("sending …".to_owned());
        // An order is on the action that was looked at, whichever others were chosen before.
        let twins = if verb == Verb::Approve && order.is_none() { self.selected.clone() } else { Vec::new() };
        let number = if verb == Verb::RollBack { self.looks_ahead_to() } else { card.number };
        let (subject, seen) = (card.subject, card.seen.clone());
        vec![Intent::Decide(Decision { subject, number, verb, seen, words, twins, order })]
    }

    /// It was taken: on to the next. What was written for it is not needed any more.
    pub(crate) fn decided(&mut self, decision: &Decision, told: &str) -> Vec<Intent> {
        self.sending = false;
        self.says = Some(told.to_owned());
        self.drafts.retain(|(subject, _), _| *subject != decision.subject);
        if self.chosen != Some(decision.subject) {
            return vec![Intent::List];
        }
        let next = self.neighbour();
        self.rows.retain(|row| row.subject != decision.subject);
        let mut intents = self.choose(next);
        intents.push(Intent::List);
        intents
    }

    /// It was not taken. What was written stays.
    pub(crate) fn refused(&mut self, decision: &Decision, refused: &Refused) -> Vec<Intent> {
        self.sending = false;
        self.says = Some(refused.why.clone());
        if !decision.words.is_empty() {
            self.keep(decision.subject, Purpose::Reason(decision.verb), decision.words.clone());
        }
        if refused.is_stale { vec![Intent::Look(decision.subject), Intent::List] } else { Vec::new() }
    }

    /// It was edited, or not; what stands there now is looked at.
    pub(crate) fn edited(&mut self, told: String) -> Vec<Intent> {
        self.says = Some(told);
        // Their own change is no surprise: what stands there now is shown at once.
        (self.card, self.later) = (None, None);
        let again = self.chosen.map(Intent::Look);
        again.into_iter().chain([Intent::List]).collect()
    }

    pub(super) fn keep(&mut self, subject: Subject, purpose: Purpose, words: String) {
        self.drafts.insert((subject, purpose), words);
    }

    pub(super) fn draft(&self, subject: Subject, purpose: Purpose) -> Line {
        self.drafts.get(&(subject, purpose)).map(|words| Line::of(words)).unwrap_or_default()
    }
}

/// Whether a stroke after the second only says that the key was let go. Whoever interrupts, pastes or presses what nobody knows did
/// not mean to decide.
const fn lets_go(stroke: &Stroke) -> bool {
    match stroke {
        Stroke::Escape | Stroke::Control(_) | Stroke::Pasted(_) | Stroke::Unknown => false,
        Stroke::Letter(_)
        | Stroke::Enter
        | Stroke::Tab
        | Stroke::BackTab
        | Stroke::Backspace
        | Stroke::Delete
        | Stroke::Up
        | Stroke::Down
        | Stroke::Left
        | Stroke::Right
        | Stroke::Home
        | Stroke::End
        | Stroke::PageUp
        | Stroke::PageDown => true,
    }
}
