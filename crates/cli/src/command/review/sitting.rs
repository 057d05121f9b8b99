//! A sitting: one person at the terminal queue. What is listed, what is looked at, what is being written, and what a stroke means now.
//!
//! Pure: no clock, no terminal, no network. Strokes, news and answers go in; intents come out, which the shell carries out.
//!
//! What holds here: a decision is about the card that was drawn, bound to its digest, and never about one that was not drawn yet
//! ([`Sitting::drawn`]); what is looked at is never exchanged, only told to have changed; a key that is held down decides
//! nothing; what was written for a refusal that did not arrive is still there.

use std::collections::BTreeMap;

use placet_wire::api::{InboxView, TwinView};

use super::card::Card;
use super::row::{Row, Subject, merged, rows};
use crate::terminal::line::Line;
use crate::terminal::rich::Letters;
use crate::terminal::screen::Size;
use crate::terminal::stroke::Stroke;

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Fetch what waits.
    List,
    /// Fetch a card.
    Look(Subject),
    Decide(Decision),
    /// Let somebody edit it and approve what they made of it; the terminal is theirs meanwhile.
    Edit {
        subject: Subject,
        seen: String,
        reason: String,
    },
    Copy(String),
    Open(String),
    Stop,
    Quit,
}

/// A decision, bound to what was on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) subject: Subject,
    pub(crate) number: Option<u32>,
    pub(crate) verb: Verb,
    pub(crate) seen: String,
    /// A reason or a note.
    pub(crate) words: String,
    /// Identical ones that were listed with it.
    pub(crate) twins: Vec<TwinView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    Approve,
    Reject,
    /// Let it go on from its checkpoint with a note.
    Modify,
    Pause,
    Cancel,
}

impl Verb {
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Modify => "sent on with your note",
            Self::Pause => "paused",
            Self::Cancel => "cancelled",
        }
    }
}

/// What somebody writes a line for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// The name of the tool, where two people are asked.
    Name,
    Reason(Verb),
    /// Why it is changed, before it is.
    EditReason,
    Filter,
}

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

/// A decision that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) why: String,
    /// Whether something else stands there now.
    pub(crate) is_stale: bool,
}

/// Whoever writes on although nothing was opened for it is not heard until they have paused for so long: what was meant as a
/// reason must not act as keys.
const WRITES_ON_WITHIN_MS: i64 = 600;
/// A key that is held down repeats faster than this.
pub(super) const REPEATS_WITHIN_MS: i64 = 250;

#[derive(Debug, Clone)]
pub(crate) struct Sitting {
    pub(super) size: Size,
    pub(super) letters: Letters,
    pub(super) now_ms: i64,
    pub(super) rows: Vec<Row>,
    /// As the control plane orders them: by risk and age.
    order: Vec<Subject>,
    pub(super) waiting: u64,
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
    /// What was written and did not arrive.
    drafts: BTreeMap<(Subject, Purpose), String>,
    pub(super) sending: bool,
    /// When a deciding key was last pressed that did not count.
    held_ms: Option<i64>,
    /// When something was last typed after a decision could not begin.
    deaf_ms: Option<i64>,
}

impl Sitting {
    pub(crate) const fn new(size: Size, letters: Letters, now_ms: i64) -> Self {
        Self {
            size,
            letters,
            now_ms,
            rows: Vec::new(),
            order: Vec::new(),
            waiting: 0,
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
            drafts: BTreeMap::new(),
            sending: false,
            held_ms: None,
            deaf_ms: None,
        }
    }

    /// Opens it on one subject, whatever the list begins with.
    pub(crate) fn open(&mut self, subject: Subject) -> Vec<Intent> {
        self.pane = Pane::Card;
        self.choose(Some(subject))
    }

    /// What waits now.
    pub(crate) fn listed(&mut self, inbox: &InboxView, switch: Option<String>) -> Vec<Intent> {
        (self.waiting, self.switch) = (inbox.waiting, switch);
        let now = rows(inbox);
        self.order = now.iter().map(|row| row.subject).collect();
        self.rows = merged(&self.rows, now, self.chosen);
        let intents = if self.chosen.is_none() {
            self.choose(self.first())
        } else {
            self.chosen.map(Intent::Look).into_iter().collect()
        };
        self.fit();
        intents
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
        (self.card, self.later) = (Some(card), None);
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

    /// Time goes on: a second stroke that nothing followed counts now.
    pub(crate) fn tick(&mut self, now_ms: i64) -> Vec<Intent> {
        self.now_ms = now_ms;
        match self.mode {
            Mode::Sure { verb, second_ms: Some(second_ms) } if now_ms - second_ms >= REPEATS_WITHIN_MS => {
                self.mode = Mode::Looking;
                self.decide(verb, String::new())
            }
            Mode::Sure { .. } | Mode::Looking | Mode::Writing { .. } | Mode::Keys => Vec::new(),
        }
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

    /// The second stroke: the same key again, and then nothing for a moment, or another key, which says that it was let go. What is
    /// no plain key takes it back.
    fn sure(&mut self, stroke: &Stroke, verb: Verb, second_ms: Option<i64>) -> Vec<Intent> {
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
    fn is_deaf(&mut self, stroke: &Stroke) -> bool {
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
        let Some(card) = &self.card else { return Vec::new() };
        self.sending = true;
        self.says = Some("sending …".to_owned());
        let twins = if verb == Verb::Approve { self.selected.clone() } else { Vec::new() };
        let (subject, number, seen) = (card.subject, card.number, card.seen.clone());
        vec![Intent::Decide(Decision { subject, number, verb, seen, words, twins })]
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

    /// Looks at something else.
    pub(super) fn choose(&mut self, subject: Option<Subject>) -> Vec<Intent> {
        if subject == self.chosen {
            return Vec::new();
        }
        self.chosen = subject;
        (self.card, self.later, self.is_drawn, self.only_files) = (None, None, false, false);
        (self.place, self.mode) = (Place::default(), Mode::Looking);
        self.selected.clear();
        self.rows.retain(|row| !row.is_gone || Some(row.subject) == subject);
        self.fit();
        subject.map(Intent::Look).into_iter().collect()
    }

    /// The order of the control plane, from the top.
    pub(super) fn sort_anew(&mut self) {
        let Self { rows, order, .. } = self;
        rows.sort_by_key(|row| order.iter().position(|subject| *subject == row.subject).unwrap_or(usize::MAX));
        self.rows.iter_mut().for_each(|row| row.is_new = false);
    }
}

/// Which key a decision is made with, twice.
pub(super) const fn key_of(verb: Verb) -> Stroke {
    match verb {
        Verb::Approve => Stroke::Letter('a'),
        Verb::Reject => Stroke::Letter('r'),
        Verb::Modify => Stroke::Letter('m'),
        Verb::Pause => Stroke::Letter('p'),
        Verb::Cancel => Stroke::Letter('c'),
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
