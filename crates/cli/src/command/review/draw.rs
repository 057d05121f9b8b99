//! The screen of a sitting: the queue, the card, what is asked, and the keys of the pane. Pure.
//!
//! Nothing is told by colour alone: the tier has its letter and its word, what is chosen a mark before it, what changed a sentence.

use placet_domain::text::marked;
use placet_wire::api::StandsFor;

use super::card::{May, named};
use super::row::{Row, Subject};
use super::sitting::{Mode, Pane, Purpose, Sitting, Verb, Wire};
use crate::terminal::rich::{Letters, seen};
use crate::terminal::screen::{Look, Screen, Size, columns};

/// Narrower, and there is room for one pane at a time.
const BOTH_PANES: Size = Size { columns: 80, rows: 24 };
/// Smaller, and nothing can be read.
pub(super) const SMALLEST: Size = Size { columns: 20, rows: 6 };
const KEYS: &[(&str, &str)] = &[
    ("j k up down", "move through the queue, or scroll the card"),
    ("g G", "the first (and the order anew), the last"),
    ("tab", "the other pane"),
    ("space PageDown b PageUp", "scroll the card"),
    ("enter", "look again at what changed; go to the card"),
    ("/", "filter by tool, agent or id; Escape takes it away"),
    ("d", "the files alone"),
    ("a", "approve: a again; for two people, the tool's name"),
    ("r", "reject, with a reason that the agent reads"),
    ("e", "change it in your editor and approve that"),
    ("x", "approve identical ones with it, each by itself"),
    ("m p c", "at a checkpoint: go on with a note, pause, cancel"),
    ("o", "where a browser shows it"),
    ("y", "copy the id"),
    ("ctrl-l ctrl-z q", "fetch anew, stop for a while, leave"),
];

/// How large the panes are, inside their frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panes {
    /// Of the queue with its frame; none if it is not seen.
    pub(super) queue_width: usize,
    pub(super) queue_rows: usize,
    pub(super) card_columns: usize,
    pub(super) card_rows: usize,
}

impl Sitting {
    pub(super) fn panes(&self) -> Panes {
        let Size { columns, rows } = self.size;
        let inner = rows.saturating_sub(4);
        let both = columns >= BOTH_PANES.columns && rows >= BOTH_PANES.rows;
        let queue_width = match (both, self.pane) {
            (true, _) => (columns * 2 / 5).clamp(38, 64),
            (false, Pane::Queue) => columns,
            (false, Pane::Card) => 0,
        };
        let card = if queue_width == columns { columns } else { columns - queue_width };
        Panes { queue_width, queue_rows: inner, card_columns: card.saturating_sub(4), card_rows: inner }
    }

    pub(crate) fn draw(&self) -> Screen {
        let mut screen = Screen::new(self.size);
        if self.is_too_small() {
            screen.put((0, 0), self.size.columns, "the window is too small", Look::PLAIN);
            return screen;
        }
        let panes = self.panes();
        if self.mode == Mode::Keys {
            self.draw_keys(&mut screen);
        } else {
            if panes.queue_width > 0 {
                self.draw_queue(&mut screen, panes);
            }
            if self.has_card_pane() {
                self.draw_card(&mut screen, panes);
            }
        }
        self.draw_foot(&mut screen);
        screen
    }

    /// A text with our own signs, as the terminal can show them.
    fn sign(&self, text: &str) -> String {
        seen(text, self.letters)
    }

    /// A frame with a title in its upper edge.
    fn frame(&self, screen: &mut Screen, (left, width): (usize, usize), title: &str, look: Look) {
        let bottom = self.size.rows - 3;
        let bar = self.sign("─");
        let edge = |ends: (&str, &str)| self.sign(ends.0) + &bar.repeat(width.saturating_sub(2)) + &self.sign(ends.1);
        screen.put((0, left), width, &edge(("┌", "┐")), Look::DIM);
        screen.put((bottom, left), width, &edge(("└", "┘")), Look::DIM);
        for row in 1..bottom {
            screen.put((row, left), 1, &self.sign("│"), Look::DIM);
            screen.put((row, left + width - 1), 1, &self.sign("│"), Look::DIM);
        }
        let title = cut(&self.sign(title), width.saturating_sub(6), self.letters);
        screen.put((0, left + 2), width.saturating_sub(4), &format!(" {title} "), look);
    }

    fn draw_queue(&self, screen: &mut Screen, panes: Panes) {
        let (visible, width) = (self.visible(), panes.queue_width);
        let new = self.rows.iter().filter(|row| row.is_new).count();
        let more = if new > 0 { format!(" · {new} new *: g") } else { String::new() };
        let filter = if self.filter.is_empty() { String::new() } else { format!(" · /{}", self.filter) };
        let waiting =
            self.waiting.max(self.rows.iter().filter(|row| row.tier.is_some() && !row.is_gone).count() as u64);
        let runs = self.rows.iter().filter(|row| row.tier.is_none()).count();
        let title = format!("Queue {waiting}{more} · runs {runs}{filter}");
        self.frame(screen, (0, width), &title, self.edge_of(Pane::Queue));
        for (index, row) in visible.iter().skip(self.top).take(panes.queue_rows).enumerate() {
            let is_chosen = Some(row.subject) == self.chosen;
            let look = if is_chosen { Look::BOLD.chosen() } else { Look::PLAIN };
            let text = self.row(row, width.saturating_sub(2));
            let mark = match (is_chosen, row.is_new) {
                (true, _) => self.sign("▌"),
                (false, true) => "*".to_owned(),
                (false, false) => " ".to_owned(),
            };
            screen.put((index + 1, 1), width - 2, &format!("{mark}{text}"), look);
        }
        if visible.is_empty() {
            let says = "nothing waits for you; what needs a person appears here";
            screen.put((1, 2), width.saturating_sub(4), &cut(says, width.saturating_sub(4), self.letters), Look::DIM);
        }
    }

    const fn edge_of(&self, pane: Pane) -> Look {
        match (self.pane, pane) {
            (Pane::Queue, Pane::Queue) | (Pane::Card, Pane::Card) => Look::BOLD.chosen(),
            (Pane::Queue, Pane::Card) | (Pane::Card, Pane::Queue) => Look::BOLD,
        }
    }

    /// Tier or kind, what, whose, how old, how long still, how many more.
    fn row(&self, row: &Row, width: usize) -> String {
        let kind = match (&row.tier, row.subject) {
            (Some(tier), _) => format!("{tier} {}", tier_word(tier)),
            (None, Subject::Run(_, why)) => named(why).chars().take(6).collect(),
            (None, Subject::Action(_)) => String::new(),
        };
        let age = span(self.now_ms - row.since_ms);
        let left = match (row.is_gone, row.until_ms) {
            (true, _) => "gone".to_owned(),
            (false, Some(until_ms)) => span(until_ms - self.now_ms),
            (false, None) => String::new(),
        };
        let twins = if row.twins.is_empty() { String::new() } else { format!("+{}", row.twins.len()) };
        let tail = format!("{age:>3} {left:>4} {twins:<3}");
        let room = width.saturating_sub(columns(&tail) + 9);
        let agent_room = room * 2 / 5;
        let what = padded(&self.sign(&marked(&row.what)), room - agent_room, self.letters);
        let agent = padded(&self.sign(&marked(&row.agent)), agent_room, self.letters);
        format!("{kind:<6} {what} {agent} {tail}")
    }

    fn draw_card(&self, screen: &mut Screen, panes: Panes) {
        let (left, width) = (panes.queue_width, self.size.columns - panes.queue_width);
        let title = match (&self.card, self.chosen) {
            (Some(card), _) if self.only_files => format!("files of {}", card.title),
            (Some(card), _) => card.title.clone(),
            (None, Some(_)) => "loading …".to_owned(),
            (None, None) => "nothing is chosen".to_owned(),
        };
        self.frame(screen, (left, width), &title, self.edge_of(Pane::Card));
        let rows = self.wrapped();
        let from = self.row_of(&rows);
        for (index, row) in rows.iter().skip(from).take(panes.card_rows).enumerate() {
            let mut at = left + 2;
            for span in &row.spans {
                at = screen.put((index + 1, at), (left + width).saturating_sub(at + 2), &span.text, span.look);
            }
        }
        let below = rows.len().saturating_sub(from + panes.card_rows);
        if below > 0 {
            let more = format!(" {below} more rows: space ");
            screen.put((self.size.rows - 3, left + 2), width.saturating_sub(4), &more, Look::ASK);
        }
    }

    /// What is asked or said, and the keys.
    fn draw_foot(&self, screen: &mut Screen) {
        let (rows, columns) = (self.size.rows, self.size.columns);
        let (text, look) = self.told();
        let text = self.sign(&text);
        if let Mode::Writing { purpose, line } = &self.mode {
            let label = self.sign(&self.asks_for(*purpose));
            let at = screen.put((rows - 2, 0), columns, &label, Look::ASK);
            let (written, before) = (self.sign(&line.text()), line.columns_before());
            // The end of what is written is seen, not its beginning.
            let room = columns.saturating_sub(at + 1);
            let skipped = before.saturating_sub(room);
            screen.put((rows - 2, at), room, &skip_columns(&written, skipped), Look::PLAIN);
            screen.cursor = Some((rows - 2, (at + before - skipped).min(columns - 1)));
            let hint =
                if self.says.is_some() { text } else { "enter sends it, Escape keeps it and goes back".to_owned() };
            screen.put((rows - 1, 0), columns, &cut(&hint, columns, self.letters), look);
            return;
        }
        screen.put((rows - 2, 0), columns, &cut(&text, columns, self.letters), look);
        screen.put((rows - 1, 0), columns, &cut(&self.sign(&self.keys()), columns, self.letters), Look::DIM);
    }

    fn asks_for(&self, purpose: Purpose) -> String {
        let title = self.card.as_ref().map(|card| card.title.clone()).unwrap_or_default();
        let title = cut(&title, self.size.columns / 3, self.letters);
        match purpose {
            Purpose::Name => format!("type the tool's name to approve {title}: "),
            Purpose::Reason(Verb::Reject) => format!("reject {title}: why? "),
            Purpose::Reason(Verb::Modify) => "go on, with this note: ".to_owned(),
            Purpose::Reason(Verb::Cancel) => "cancel the run for good: why? ".to_owned(),
            Purpose::Reason(Verb::Approve | Verb::Pause) => "why? ".to_owned(),
            Purpose::EditReason => format!("change {title}: why? "),
            Purpose::Filter => "/".to_owned(),
        }
    }

    /// The one thing that matters most now.
    fn told(&self) -> (String, Look) {
        if let (Mode::Sure { verb, .. }, Some(card)) = (&self.mode, &self.card) {
            return (self.asked(*verb, &card.title, &card.digest()), Look::ASK);
        }
        if let Wire::Lost(why) = &self.wire {
            return (
                format!("the control plane is not there ({why}); trying again. Nothing can be decided"),
                Look::BAD,
            );
        }
        if let Some(later) = &self.later {
            let what = match &later.may {
                May::Settled(how) => format!("decided elsewhere: {how}. Press enter to look again"),
                May::Decide { .. } | May::Not(_) => "changed: press enter to look again".to_owned(),
            };
            return (what, Look::BAD);
        }
        match (&self.says, &self.switch, self.card.as_ref().map(|card| &card.may)) {
            (Some(says), _, _) => (says.clone(), Look::BOLD),
            (None, Some(switch), _) => (switch.clone(), Look::BAD),
            (None, None, Some(May::Not(why))) => (format!("you cannot decide: {why}"), Look::ASK),
            (None, None, Some(May::Settled(how))) => (format!("decided: {how}"), Look::ASK),
            (None, None, Some(May::Decide { .. }) | None) => (String::new(), Look::PLAIN),
        }
    }

    fn asked(&self, verb: Verb, title: &str, digest: &str) -> String {
        let title = cut(title, self.size.columns / 3, self.letters);
        match (verb, self.selected.len()) {
            (Verb::Pause, _) => "p again to pause the run; Escape: no".to_owned(),
            (_, 0) => format!("a again to approve {title} {digest}; Escape: no"),
            (_, others) => format!("a again to approve {} actions: {title} {digest}; Escape: no", others + 1),
        }
    }

    /// The keys of this pane.
    fn keys(&self) -> String {
        let decide = match self.chosen {
            Some(Subject::Action(_)) => "a approve  r reject  e edit  d files  x same",
            Some(Subject::Run(_, StandsFor::Checkpoint)) => "a go on  r reject  m note  p pause  c cancel",
            Some(Subject::Run(_, StandsFor::Plan | StandsFor::Results | StandsFor::Wish)) => "a approve  r reject",
            None => "",
        };
        let moves = match self.pane {
            Pane::Queue => "j k move  / filter",
            Pane::Card => "j k space scroll",
        };
        format!("{decide} │ ? all keys  {moves}  tab pane  q quit")
    }

    fn draw_keys(&self, screen: &mut Screen) {
        self.frame(screen, (0, self.size.columns), "Keys · any key goes back", Look::BOLD);
        for (index, (keys, does)) in KEYS.iter().take(self.size.rows.saturating_sub(4)).enumerate() {
            screen.put((index + 1, 2), 24, keys, Look::BOLD);
            screen.put((index + 1, 27), self.size.columns.saturating_sub(29), does, Look::PLAIN);
        }
    }
}

/// The tier in a word.
pub(crate) fn tier_word(tier: &str) -> &'static str {
    match tier {
        "A" => "passes",
        "B" => "one",
        "C" => "two",
        _ => "refused",
    }
}

/// A span of time in four columns.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..=0 => "0s".to_owned(),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

/// The beginning of a text; that there is more is marked.
pub(crate) fn cut(text: &str, most: usize, letters: Letters) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mark = seen("…", letters);
    let (mut shown, mut used) = (String::new(), columns(&mark));
    for c in text.chars() {
        used += crate::terminal::screen::width(c).unwrap_or(1);
        if used > most {
            break;
        }
        shown.push(c);
    }
    if most < columns(&mark) { String::new() } else { shown + &mark }
}

/// Cut or filled up to so many columns.
pub(crate) fn padded(text: &str, most: usize, letters: Letters) -> String {
    let shown = cut(text, most, letters);
    let missing = most.saturating_sub(columns(&shown));
    shown + &" ".repeat(missing)
}

fn skip_columns(text: &str, mut skipped: usize) -> String {
    let rest = text.chars().skip_while(|c| {
        let wide = crate::terminal::screen::width(*c).unwrap_or(1);
        let skips = skipped > 0;
        skipped = skipped.saturating_sub(wide);
        skips
    });
    rest.collect()
}
