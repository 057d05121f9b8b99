//! Going back to what was saved at a checkpoint: first what that would change, in the place of the card, and only then the decision. Pure.
//!
//! The first stroke asks the host of the run; what it says is drawn; the second stroke asks why, and enter sends it. What is gone by it is
//! gone, so nothing of that can happen unseen.

use placet_wire::api::OrderOffer;

use super::decision::{Intent, Purpose, Verb};
use super::row::Subject;
use super::sitting::{Place, Sitting};
use crate::command::order::Terms;

/// What is shown in the place of the card: what going back would change, or what an order would be ([`super::similar`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Nobody asked.
    No,
    /// The host of the run was asked about this snapshot.
    Asked(u32),
    /// What it said, in the place of the card.
    Seen { to: u32, text: String },
    /// The control plane was asked what an order could be.
    OrderAsked,
    /// What it said, in the place of the card, and what is chosen of it.
    Order { offer: OrderOffer, terms: Terms },
}

/// Which of the snapshots of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Older,
    Newer,
}

impl Sitting {
    /// The first stroke asks, the second one decides on what was drawn.
    pub(super) fn go_back(&mut self) -> Vec<Intent> {
        let Some(newest) = self.card.as_ref().and_then(|card| card.back_to.first().copied()) else {
            return self.hindered("nothing was saved that it could go back to".to_owned());
        };
        match self.ahead {
            Ahead::Seen { .. } => self.write_for(Purpose::Reason(Verb::RollBack)),
            Ahead::Asked(_) => self.hindered("the host of the run is asked; wait for what it says".to_owned()),
            Ahead::No | Ahead::OrderAsked | Ahead::Order { .. } => self.ask_ahead(newest),
        }
    }

    /// What going back further, or less far, would change.
    pub(super) fn go_back_to(&mut self, other: Other) -> Vec<Intent> {
        let (Ahead::Seen { to, .. }, Some(card)) = (&self.ahead, &self.card) else { return Vec::new() };
        let at = card.back_to.iter().position(|number| number == to).unwrap_or_default();
        let next = match other {
            Other::Older => card.back_to.get(at + 1),
            Other::Newer => at.checked_sub(1).and_then(|at| card.back_to.get(at)),
        };
        match next.copied() {
            Some(next) => self.ask_ahead(next),
            None => Vec::new(),
        }
    }

    fn ask_ahead(&mut self, to: u32) -> Vec<Intent> {
        if self.is_looking_ahead() {
            self.look_no_further();
        }
        self.ahead = Ahead::Asked(to);
        self.says = Some(format!("asking what going back to snapshot {to} would change …"));
        self.chosen.map(|subject| Intent::Foresee(subject, to)).into_iter().collect()
    }

    /// What the host of a run says about it. Drawn before anything is decided on it.
    pub(crate) fn foreseen(&mut self, subject: Subject, to: u32, said: Result<String, String>) {
        if self.chosen != Some(subject) || self.ahead != Ahead::Asked(to) {
            return;
        }
        match said {
            Ok(text) => {
                self.ahead = Ahead::Seen { to, text };
                (self.is_drawn, self.only_files, self.place, self.says) = (false, false, Place::default(), None);
            }
            Err(why) => {
                self.ahead = Ahead::No;
                self.says = Some(format!("what would change is not known: {why}"));
            }
        }
    }

    /// Back to the card, which is to be drawn again before anything is decided.
    pub(super) fn look_no_further(&mut self) {
        (self.ahead, self.is_drawn, self.place) = (Ahead::No, false, Place::default());
    }

    /// The snapshot whose going back to is on the screen.
    pub(super) const fn looks_ahead_to(&self) -> Option<u32> {
        match self.ahead {
            Ahead::Seen { to, .. } => Some(to),
            Ahead::No | Ahead::Asked(_) | Ahead::OrderAsked | Ahead::Order { .. } => None,
        }
    }

    /// Whether something stands in the place of the card.
    pub(super) const fn is_looking_ahead(&self) -> bool {
        match self.ahead {
            Ahead::Seen { .. } | Ahead::Order { .. } => true,
            Ahead::No | Ahead::Asked(_) | Ahead::OrderAsked => false,
        }
    }
}
