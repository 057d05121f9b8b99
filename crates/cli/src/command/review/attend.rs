//! Saying who should look at an action, or when one looks oneself. Nothing is decided by it, so it takes no second stroke. Pure.

use super::card::May;
use super::decision::{Attend, Intent, Purpose};
use super::row::Subject;
use super::similar::said;
use super::sitting::{Mode, Sitting, Wire};
use crate::command::until;
use crate::terminal::line::Line;

impl Sitting {
    /// Opens a line for it, where a question is looked at.
    pub(super) fn attend(&mut self, purpose: Purpose) -> Vec<Intent> {
        let may = self.card.as_ref().filter(|card| !card.is_interrupted).map(|card| &card.may);
        match (self.chosen, may, &self.wire) {
            (_, _, Wire::Lost(_)) => self.hindered("the control plane is not there".to_owned()),
            (Some(Subject::Action(_)), Some(May::Decide { .. } | May::Not(_)), Wire::Live) => {
                self.says = None;
                self.turn(Mode::Writing { purpose, line: Line::default() })
            }
            (Some(Subject::Action(_)), Some(May::Settled(_)) | None, Wire::Live)
            | (Some(Subject::Run(..)) | None, _, Wire::Live) => {
                self.hindered("only actions that wait are set aside and assigned".to_owned())
            }
        }
    }

    /// What was typed: a name and after a colon a note, or a time. Nothing takes back what was said.
    pub(super) fn attended_to(&mut self, purpose: Purpose, text: &str, line: Line) -> Vec<Intent> {
        let (Some(subject), text) = (self.chosen, text.trim()) else { return Vec::new() };
        let wanted = match (purpose, text.is_empty()) {
            (Purpose::Aside, true) => Ok(Attend::Defer { lasts_ms: None }),
            (Purpose::Aside, false) => {
                let lasts_ms = self.now().and_then(|now| until::lasts_ms(text, &now));
                lasts_ms.map(|lasts_ms| Attend::Defer { lasts_ms: Some(lasts_ms) })
            }
            (
                Purpose::Assignee
                | Purpose::Name
                | Purpose::Reason(_)
                | Purpose::EditReason
                | Purpose::Until
                | Purpose::Times
                | Purpose::Filter,
                _,
            ) => Ok(assignment(text)),
        };
        match wanted {
            Ok(attend) => {
                self.says = Some("sending …".to_owned());
                vec![Intent::Attend(subject, attend)]
            }
            Err(error) => {
                self.says = Some(said(&error));
                self.turn(Mode::Writing { purpose, line })
            }
        }
    }

    /// It was said, or why not. The card is fetched anew: what one said oneself is no surprise.
    pub(crate) fn attended(&mut self, subject: Subject, said: Result<String, String>) -> Vec<Intent> {
        let told = match said {
            Ok(told) => told,
            Err(why) => {
                self.says = Some(format!("not said: {why}"));
                return Vec::new();
            }
        };
        self.says = Some(told);
        if self.chosen != Some(subject) {
            return vec![Intent::List];
        }
        (self.card, self.later, self.is_drawn) = (None, None, false);
        vec![Intent::Look(subject), Intent::List]
    }
}

/// `eve: you know this tool`.
fn assignment(text: &str) -> Attend {
    let (to, note) = text.split_once(':').unwrap_or((text, ""));
    let to = Some(to.trim().to_owned()).filter(|to| !to.is_empty());
    Attend::Assign { to, note: note.trim().to_owned() }
}
