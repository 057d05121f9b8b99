//! The screen of a sitting: the queue, the card, and all keys. What is asked below them is drawn by [`super::foot`]. Pure.
//!
//! Nothing is told by colour alone: the tier has its letter and its word, what is chosen a mark before it, what changed a sentence.

use placet_domain::text::marked;

use super::ahead::Ahead;
use super::card::question;
use super::row::{Row, Subject};
use super::sitting::{Mode, Pane, Sitting};
use crate::card::tier_word;
use crate::span::span;
use crate::terminal::rich::{cut, padded, seen};
use crate::terminal::screen::{Look, Screen, Size};

/// Narrower, and there is room for one pane at a time.
const BOTH_PANES: Size = Size { columns: 80, rows: 24 };
/// What would be done has a row for itself; whose it is and how long it waits stands below.
const ROWS_OF_ITEM: usize = 2;
/// Of a name as much as leaves room for how long it waits; the whole stands on the card.
const LONGEST_NAME: usize = 12;
/// Smaller, and nothing can be read.
pub(super) const SMALLEST: Size = Size { columns: 20, rows: 6 };
const KEYS: &[(&str, &str)] = &[
    ("j k up down", "move through the queue, or scroll the card"),
    ("g G", "the first (and the order anew), the last"),
    ("tab", "the other pane"),
    ("space PageDown b PageUp", "scroll the card"),
    ("enter", "look again at what changed; go to the card"),
    ("/", "filter by command, agent, id; Escape takes it away"),
    ("d", "the files alone"),
    ("a", "approve: a again; for two people, the tool's name"),
    ("r", "reject, with a reason that the agent reads"),
    ("a r", "what was interrupted: run it again, or give it up"),
    ("e", "change it in your editor and approve that"),
    ("x", "approve identical ones with it, each by itself"),
    ("s left right t n", "an order: its like too; width, until when, how many"),
    ("w", "who should look at it; no right changes hands"),
    ("l", "later: set it aside for yourself until then"),
    ("m p c", "at a checkpoint: go on with a note, pause, cancel"),
    ("u left right", "at a checkpoint: what going back changes; do it"),
    ("o", "where a browser shows it"),
    ("y", "copy the id"),
    ("ctrl-l ctrl-z q", "fetch anew, stop for a while, leave"),
];

/// How large the panes are, inside their frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panes {
    /// Of the queue with its frame; none if it is not seen.
    pub(super) queue_width: usize,
    /// So many of the queue are seen, each in two rows.
    pub(super) queue_items: usize,
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
        Panes { queue_width, queue_items: inner / ROWS_OF_ITEM, card_columns: card.saturating_sub(4), card_rows: inner }
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
    pub(super) fn sign(&self, text: &str) -> String {
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
        let counts = |row: &&Row| row.tier.is_some() && !row.is_gone && !row.is_aside() && !row.is_interrupted;
        let waiting = self.waiting.max(self.rows.iter().filter(counts).count() as u64);
        let runs = self.rows.iter().filter(|row| row.tier.is_none()).count();
        let lost = match self.rows.iter().filter(|row| row.is_interrupted).count() {
            0 => String::new(),
            some => format!(" · {some} interrupted"),
        };
        let unlisted: String = self.unlisted.told().iter().map(|told| format!(" · {told}")).collect();
        let title = format!("Queue {waiting}{lost}{more} · runs {runs}{filter}{unlisted}");
        self.frame(screen, (0, width), &title, self.edge_of(Pane::Queue));
        for (index, row) in visible.iter().skip(self.top).take(panes.queue_items).enumerate() {
            let is_chosen = Some(row.subject) == self.chosen;
            let (first, second) =
                if is_chosen { (Look::BOLD.chosen(), Look::PLAIN.chosen()) } else { (Look::PLAIN, Look::DIM) };
            let mark = match (is_chosen, row.is_new) {
                (true, _) => self.sign("▌"),
                (false, true) => "*".to_owned(),
                (false, false) => " ".to_owned(),
            };
            let at = 1 + index * ROWS_OF_ITEM;
            let inner = width.saturating_sub(2);
            for (line, (text, look)) in [(self.what(row), first), (self.whose(row), second)].into_iter().enumerate() {
                let shown = padded(&format!("{mark}{text}"), inner, self.letters);
                screen.put((at + line, 1), inner, &shown, look);
            }
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

    /// Tier, and what would be done: what somebody looks for in a list.
    fn what(&self, row: &Row) -> String {
        let kind = row.tier.as_ref().map_or_else(|| "run".to_owned(), |tier| format!("{tier} {}", tier_word(tier)));
        format!("{kind:<5} {}", self.sign(&marked(&row.what)))
    }

    /// Whose it is, how old, how long it may still wait, how many more ask the same; below what it is.
    fn whose(&self, row: &Row) -> String {
        let left = match (row.is_gone, row.until_ms) {
            (true, _) => Some("gone".to_owned()),
            (false, Some(until_ms)) => Some(format!("{} left", span(until_ms - self.now_ms))),
            (false, None) if row.is_interrupted => Some("interrupted".to_owned()),
            (false, None) => None,
        };
        let twins = (row.identical > 0).then(|| format!("+{}", row.identical));
        let agent = cut(&self.sign(&marked(&row.agent)), LONGEST_NAME, self.letters);
        let mark = match (&row.mark, row.subject) {
            (Some(mark), _) => Some(self.sign(&marked(mark))),
            (None, Subject::Run(_, why)) => Some(question(why).to_owned()),
            (None, Subject::Action(_)) => None,
        };
        let age = Some(span(self.now_ms - row.since_ms));
        // For whom it is, or for what a run stands, comes before anything that may be cut.
        let parts: Vec<String> = [mark, Some(agent), age, left, twins].into_iter().flatten().collect();
        format!("      {}", parts.join(&self.sign(" · ")))
    }

    fn card_title(&self) -> String {
        match (&self.card, &self.ahead, self.chosen) {
            (Some(card), Ahead::Seen { to, .. }, _) => format!("back to snapshot {to}: {}", card.title),
            (Some(card), Ahead::Order { .. }, _) => format!("an order on {}", card.title),
            (Some(card), _, _) if self.only_files => format!("files of {}", card.title),
            (Some(card), _, _) => card.title.clone(),
            (None, _, Some(_)) => "loading …".to_owned(),
            (None, _, None) => "nothing is chosen".to_owned(),
        }
    }

    fn draw_card(&self, screen: &mut Screen, panes: Panes) {
        let (left, width) = (panes.queue_width, self.size.columns - panes.queue_width);
        self.frame(screen, (left, width), &self.card_title(), self.edge_of(Pane::Card));
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

    fn draw_keys(&self, screen: &mut Screen) {
        self.frame(screen, (0, self.size.columns), "Keys · any key goes back", Look::BOLD);
        for (index, (keys, does)) in KEYS.iter().take(self.size.rows.saturating_sub(4)).enumerate() {
            screen.put((index + 1, 2), 24, keys, Look::BOLD);
            screen.put((index + 1, 27), self.size.columns.saturating_sub(29), does, Look::PLAIN);
        }
    }
}
