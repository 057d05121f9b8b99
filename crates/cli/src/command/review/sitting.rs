//! A sitting: one person at the terminal queue. What is listed, what is looked at, what is being written, and what a stroke means now.
//!
//! Pure: no clock, no terminal, no network. Strokes, news and answers go in; intents come out, which the shell carries out.
//!
//! What holds here: a decision is about the card that was drawn, bound to its digest, and never about one that was not drawn yet
//! ([`Sitting::drawn`]); what is looked at is never exchanged, only told to have changed; a key that is held down decides
//! nothing; what was written for a refusal that did not arrive is still there.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use placet_wire::api::{InboxView, TwinView};

use super::ahead::Ahead;
use super::card::Card;
use super::decision::{Intent, Purpose, Verb};
use super::row::{Row, Subject, Unlisted, merged, rows};
use super::sure::REPEATS_WITHIN_MS;
use crate::terminal::line::Line;
use crate::terminal::rich::Letters;
use crate::terminal::screen::Size;
use crate::terminal::stroke::Stroke;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Looking,
    /// The first stroke was made. The second counts once it is sure that the key was not held down.
    Sure {
        verb: Verb,
        second_ms: Option<i64>,
    },
    Writing {
        purpose: Purpose,
        line: Line,
    },
    Keys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    Queue,
    Card,
}

/// Where a card is read: a line of it, and a row of that line. Holds at every width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) part: usize,
}

/// Whether news come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wire {
    Live,
    /// And what was said last.
    Lost(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Sitting {
    pub(super) size: Size,
    pub(super) letters: Letters,
    pub(super) now_ms: i64,
    /// Where whoever sits here is: what they mean by a time of day.
    pub(super) zone: TimeZone,
    pub(super) rows: Vec<Row>,
    /// As the control plane orders them: by risk and age.
    order: Vec<Subject>,
    pub(super) waiting: u64,
    pub(super) unlisted: Unlisted,
    /// Whether more waits than was fetched, and whether it was asked for.
    pub(super) has_more: bool,
    pub(super) is_paging: bool,
    pub(super) chosen: Option<Subject>,
    /// The first row of the list that is seen.
    pub(super) top: usize,
    pub(super) card: Option<Card>,
    /// What became of it meanwhile.
    pub(super) later: Option<Card>,
    /// Whether the card was drawn at this size, and what was typed before that is gone.
    pub(super) is_drawn: bool,
    pub(super) place: Place,
    pub(super) pane: Pane,
    pub(super) only_files: bool,
    pub(super) mode: Mode,
    pub(super) filter: String,
    /// Identical ones that are decided too.
    pub(super) selected: Vec<TwinView>,
    /// Up to which line the card was drawn since they were listed on it, without a gap.
    pub(super) read_to: usize,
    pub(super) says: Option<String>,
    pub(super) wire: Wire,
    /// A switch that is thrown: everything waits for that too.
    pub(super) switch: Option<String>,
    /// What going back would change or an order would be, where somebody asked for it.
    pub(super) ahead: Ahead,
    /// What was written and did not arrive.
    pub(super) drafts: BTreeMap<(Subject, Purpose), String>,
    pub(super) sending: bool,
    /// When a deciding key was last pressed that did not count.
    pub(super) held_ms: Option<i64>,
    /// When something was last typed after a decision could not begin.
    pub(super) deaf_ms: Option<i64>,
    /// When somebody last went to another row, and whether the card there was not asked for yet.
    moved_ms: Option<i64>,
    is_unasked: bool,
}

impl Sitting {
    pub(crate) const fn new(size: Size, letters: Letters, now_ms: i64) -> Self {
        Self {
            size,
            letters,
            now_ms,
            zone: TimeZone::UTC,
            rows: Vec::new(),
            order: Vec::new(),
            waiting: 0,
            unlisted: Unlisted { others: 0, aside: 0 },
            has_more: false,
            is_paging: false,
            chosen: None,
            top: 0,
            card: None,
            later: None,
            is_drawn: false,
            place: Place { line: 0, part: 0 },
            pane: Pane::Queue,
            only_files: false,
            mode: Mode::Looking,
            filter: String::new(),
            selected: Vec::new(),
            read_to: 0,
            says: None,
            wire: Wire::Live,
            switch: None,
            ahead: Ahead::No,
            drafts: BTreeMap::new(),
            sending: false,
            held_ms: None,
            deaf_ms: None,
            moved_ms: None,
            is_unasked: false,
        }
    }

    pub(crate) fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Opens it on one subject, whatever the list begins with.
    pub(crate) fn open(&mut self, subject: Subject) -> Vec<Intent> {
        self.pane = Pane::Card;
        self.choose(Some(subject))
    }

    /// What waits now.
    pub(crate) fn listed(&mut self, inbox: &InboxView, switch: Option<String>) -> Vec<Intent> {
        (self.waiting, self.switch, self.has_more) = (inbox.waiting, switch, inbox.next.is_some());
        let now = rows(inbox);
        self.unlisted = Unlisted::beside(&now, inbox);
        self.order = now.iter().map(|row| row.subject).collect();
        let known = self.rows.len();
        self.rows = merged(&self.rows, now, self.chosen);
        self.let_go();
        // What was behind the end of the list was there before.
        if std::mem::take(&mut self.is_paging) {
            self.rows.iter_mut().skip(known.saturating_sub(1)).for_each(|row| row.is_new = false);
        }
        let intents = if self.chosen.is_none() {
            self.choose(self.first())
        } else {
            self.chosen.filter(|_| !self.is_unasked).map(Intent::Look).into_iter().collect()
        };
        self.fit();
        intents
    }

    /// Of identical ones that were chosen too, those go that were decided or spoken about meanwhile.
    fn let_go(&mut self) {
        let chosen = self.rows.iter().find(|row| Some(row.subject) == self.chosen && !row.is_gone);
        let Some(row) = chosen else { return };
        let before = self.selected.len();
        self.selected.retain(|twin| row.twins.iter().any(|now| now.id == twin.id));
        if self.selected.len() < before {
            self.is_drawn = false;
            self.says("some of those that were identical are not any more, and left the list".to_owned());
        }
    }

    /// The card that was asked for.
    pub(crate) fn looked(&mut self, card: Card) {
        if Some(card.subject) != self.chosen {
            return;
        }
        match &self.card {
            Some(shown) if card.differs_from(shown) => self.later = Some(card),
            Some(_) => self.later = None,
            None => self.show(card),
        }
        self.fit();
    }

    pub(crate) fn not_looked(&mut self, subject: Subject, why: String) {
        if Some(subject) == self.chosen {
            self.says = Some(why);
        }
    }

    fn show(&mut self, card: Card) {
        (self.card, self.later, self.ahead) = (Some(card), None, Ahead::No);
        (self.is_drawn, self.place, self.mode) = (false, Place::default(), Mode::Looking);
    }

    pub(crate) fn wire(&mut self, wire: Wire) {
        // What was said about a connection that was lost is not so any more.
        if self.wire != Wire::Live && wire == Wire::Live {
            self.says = None;
        }
        self.wire = wire;
    }

    pub(crate) const fn now_ms(&self) -> i64 {
        self.now_ms
    }

    pub(crate) fn says(&mut self, text: String) {
        self.says = Some(text);
    }

    /// Time goes on: a second stroke that nothing followed counts now, and where somebody came to rest the card is fetched.
    pub(crate) fn tick(&mut self, now_ms: i64) -> Vec<Intent> {
        self.now_ms = now_ms;
        let decided = self.settled();
        self.rested().into_iter().chain(decided).collect()
    }

    pub(crate) fn stroke(&mut self, stroke: &Stroke, now_ms: i64) -> Vec<Intent> {
        self.now_ms = now_ms;
        let intents = match std::mem::replace(&mut self.mode, Mode::Looking) {
            Mode::Looking if self.is_deaf(stroke) => Vec::new(),
            Mode::Looking => self.look(stroke),
            Mode::Sure { verb, second_ms } => self.sure(stroke, verb, second_ms),
            Mode::Writing { purpose, line } => self.write(stroke, purpose, line),
            // Any key closes it.
            Mode::Keys => Vec::new(),
        };
        self.fit();
        intents
    }

    /// Looks at something else.
    pub(super) fn choose(&mut self, subject: Option<Subject>) -> Vec<Intent> {
        if subject == self.chosen {
            return Vec::new();
        }
        self.chosen = subject;
        (self.card, self.later, self.is_drawn, self.only_files) = (None, None, false, false);
        (self.place, self.mode) = (Place::default(), Mode::Looking);
        self.selected.clear();
        (self.ahead, self.is_unasked) = (Ahead::No, false);
        self.rows.retain(|row| !row.is_gone || Some(row.subject) == subject);
        self.fit();
        subject.map(Intent::Look).into_iter().collect()
    }

    /// Goes through the queue. A card is fetched at once for one step, and for many in a row where they end: whoever holds a key down asks for
    /// no card that they only pass.
    pub(super) fn pass_to(&mut self, subject: Option<Subject>) -> Vec<Intent> {
        let intents = self.choose(subject);
        if intents.is_empty() {
            return intents;
        }
        self.is_unasked = self.is_passing();
        self.moved_ms = Some(self.now_ms);
        if self.is_unasked { Vec::new() } else { intents }
    }

    fn is_passing(&self) -> bool {
        self.moved_ms.is_some_and(|moved_ms| self.now_ms - moved_ms < REPEATS_WITHIN_MS)
    }

    fn rested(&mut self) -> Option<Intent> {
        if !self.is_unasked || self.is_passing() {
            return None;
        }
        self.is_unasked = false;
        self.chosen.map(Intent::Look)
    }

    /// The order of the control plane, from the top.
    pub(super) fn sort_anew(&mut self) {
        let Self { rows, order, .. } = self;
        rows.sort_by_key(|row| order.iter().position(|subject| *subject == row.subject).unwrap_or(usize::MAX));
        self.rows.iter_mut().for_each(|row| row.is_new = false);
    }
}
