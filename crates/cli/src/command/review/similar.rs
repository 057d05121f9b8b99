//! A standing order from the screen: first what it would be, in the place of the card, and only then the decision. Pure.
//!
//! The first stroke asks what is offered; what would be covered is drawn, with width, time and count as they are chosen; then it is approved
//! like any other: two strokes, bound to the digest of the card. Whether an order is possible is the control plane's word.

use jiff::{Timestamp, Zoned};
use placet_wire::api::{OrderOffer, OrderRequest};

use super::ahead::Ahead;
use super::decision::{Intent, Purpose};
use super::row::Subject;
use super::sitting::{Mode, Place, Sitting};
use crate::command::order::Terms;
use crate::command::until;
use crate::error::CliError;
use crate::terminal::line::Line;

impl Sitting {
    /// Asks what an order on it could be.
    pub(super) fn ask_for_order(&mut self) -> Vec<Intent> {
        match (&self.ahead, self.chosen) {
            (Ahead::OrderAsked, _) => self.hindered("what an order could be is asked; wait for it".to_owned()),
            (Ahead::Order { .. }, _) => {
                self.hindered("a approves it and its like as it stands here, Escape shows the card".to_owned())
            }
            (Ahead::No | Ahead::Asked(_) | Ahead::Seen { .. }, Some(subject @ Subject::Action(_))) => {
                self.ahead = Ahead::OrderAsked;
                self.says = Some("asking what an order could be …".to_owned());
                vec![Intent::Offer(subject)]
            }
            (Ahead::No | Ahead::Asked(_) | Ahead::Seen { .. }, Some(Subject::Run(..)) | None) => {
                self.hindered("orders are given on actions".to_owned())
            }
        }
    }

    /// What the control plane offers, or why there is no order on it. Drawn before anything is decided on it.
    pub(crate) fn offered(&mut self, subject: Subject, said: Result<OrderOffer, String>) {
        if self.chosen != Some(subject) || self.ahead != Ahead::OrderAsked {
            return;
        }
        let refused = |offer: OrderOffer| match &offer.refused {
            Some(why) => Err(placet_domain::text::marked(why)),
            None => Ok(offer),
        };
        match said.and_then(refused) {
            Ok(offer) => {
                self.says = None;
                self.show_order(offer, Terms::default());
            }
            Err(why) => {
                self.ahead = Ahead::No;
                self.says = Some(format!("no order on this: {why}"));
            }
        }
    }

    /// Whatever is chosen anew is drawn before it counts.
    fn show_order(&mut self, offer: OrderOffer, terms: Terms) {
        self.ahead = Ahead::Order { offer, terms };
        (self.is_drawn, self.only_files, self.place) = (false, false, Place::default());
    }

    /// The next of the widths that are offered.
    pub(super) fn widen_order(&mut self) -> Vec<Intent> {
        if let Ahead::Order { offer, terms } = &self.ahead {
            let width = terms.wider(offer);
            if width == terms.width {
                self.says = Some("no other width is offered for it".to_owned());
            } else {
                let (offer, terms) = (offer.clone(), Terms { width, ..terms.clone() });
                self.show_order(offer, terms);
            }
        }
        Vec::new()
    }

    /// Time and count are typed, beginning with what stands there.
    pub(super) fn write_terms(&mut self, purpose: Purpose) -> Vec<Intent> {
        let Ahead::Order { terms, .. } = &self.ahead else { return Vec::new() };
        let line = if purpose == Purpose::Times { Line::of(&terms.times.to_string()) } else { Line::of(&terms.until) };
        self.turn(Mode::Writing { purpose, line })
    }

    /// What was typed, if it is within bounds; else it stands there to be corrected.
    pub(super) fn set_terms(&mut self, purpose: Purpose, text: &str, line: Line) -> Vec<Intent> {
        let Ahead::Order { offer, terms } = &self.ahead else { return Vec::new() };
        let text = text.trim();
        let terms = match purpose {
            Purpose::Times => Terms { times: text.parse().unwrap_or_default(), ..terms.clone() },
            Purpose::Until
            | Purpose::Name
            | Purpose::Reason(_)
            | Purpose::EditReason
            | Purpose::Assignee
            | Purpose::Aside
            | Purpose::Filter => Terms { until: text.to_owned(), ..terms.clone() },
        };
        match self.now().and_then(|now| terms.request(offer, &now)) {
            Ok(_) => {
                self.says = None;
                let offer = offer.clone();
                self.show_order(offer, terms);
                Vec::new()
            }
            Err(error) => {
                self.says = Some(said(&error));
                self.turn(Mode::Writing { purpose, line })
            }
        }
    }

    /// The order on the screen, if there is one: a time of day is counted from now.
    pub(super) fn order(&self) -> Result<Option<OrderRequest>, String> {
        let Ahead::Order { offer, terms } = &self.ahead else { return Ok(None) };
        let request = self.now().and_then(|now| terms.request(offer, &now));
        request.map(Some).map_err(|error| said(&error))
    }

    pub(super) fn now(&self) -> Result<Zoned, CliError> {
        let now =
            Timestamp::from_millisecond(self.now_ms).map_err(|_| CliError::usage("this clock is out of bounds"))?;
        Ok(now.to_zoned(self.zone.clone()))
    }

    /// What would be approved, in short.
    pub(super) fn order_in_short(&self) -> Option<String> {
        let Ahead::Order { terms, .. } = &self.ahead else { return None };
        Some(format!("this and {} more, {}, {}", terms.times, terms.width, until::said(&terms.until)))
    }

    pub(super) const fn is_at_order(&self) -> bool {
        matches!(self.ahead, Ahead::Order { .. })
    }
}

pub(super) fn said(error: &CliError) -> String {
    match &error.hint {
        Some(hint) => format!("{}: {hint}", error.message),
        None => error.message.clone(),
    }
}
