//! The last two rows of a sitting: what is asked, said or written, and the keys of the pane. Pure.

use placet_wire::api::StandsFor;

use super::card::May;
use super::decision::{Purpose, Verb};
use super::row::Subject;
use super::sitting::{Mode, Pane, Sitting, Wire};
use crate::terminal::rich::cut;
use crate::terminal::screen::{Look, Screen};

impl Sitting {
    /// What is asked or said, and the keys.
    pub(super) fn draw_foot(&self, screen: &mut Screen) {
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
            Purpose::Name if self.is_interrupted() => format!("type the tool's name to run {title} again: "),
            Purpose::Name => format!("type the tool's name to approve {title}: "),
            Purpose::Reason(Verb::Retry) => format!("run {title} again: why? "),
            Purpose::Reason(Verb::GiveUp) => format!("give {title} up: why? "),
            Purpose::Reason(Verb::Reject) => format!("reject {title}: why? "),
            Purpose::Reason(Verb::Modify) => "go on, with this note: ".to_owned(),
            Purpose::Reason(Verb::Cancel) => "cancel the run for good: why? ".to_owned(),
            Purpose::Reason(Verb::RollBack) => "go back, and lose what is listed: why? ".to_owned(),
            Purpose::Reason(Verb::Approve | Verb::Pause) => "why? ".to_owned(),
            Purpose::EditReason => format!("change {title}: why? "),
            Purpose::Until => "until when (18:00), or for how long (90m, 2h)? ".to_owned(),
            Purpose::Times => "for how many more at most? ".to_owned(),
            Purpose::Assignee => "who should look at it (eve: what they should know; nobody: empty)? ".to_owned(),
            Purpose::Aside => "set aside until when (18:00, 90m; empty: bring it back)? ".to_owned(),
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
        if let Some(order) = self.order_in_short() {
            return format!("a again: {order} {digest}; Escape: no");
        }
        match (verb, self.selected.len()) {
            (Verb::Pause, _) => "p again to pause the run; Escape: no".to_owned(),
            (_, 0) => format!("a again to approve {title} {digest}; Escape: no"),
            (_, others) => format!("a again to approve {} actions: {title} {digest}; Escape: no", others + 1),
        }
    }

    /// Only what would do something: who may not decide, and what has no twins, is offered less.
    fn keys_of_action(&self) -> &'static str {
        let may = self.card.as_ref().map(|card| &card.may);
        let has_twins = self.rows.iter().any(|row| Some(row.subject) == self.chosen && !row.twins.is_empty());
        match (may, has_twins) {
            (Some(May::Decide { .. }), _) if self.is_interrupted() => "a run again  r give up  d files",
            (Some(May::Decide { typed: None }), true) => "a approve  s similar  r reject  e edit  d files  x same",
            (Some(May::Decide { typed: None }), false) => "a approve  s similar  r reject  e edit  d files",
            (Some(May::Decide { typed: Some(_) }), _) => "a approve  r reject  e edit  d files",
            (Some(May::Not(_) | May::Settled(_)) | None, _) => "d files",
        }
    }

    fn is_interrupted(&self) -> bool {
        self.card.as_ref().is_some_and(|card| card.is_interrupted)
    }

    /// The keys of this pane.
    fn keys(&self) -> String {
        let decide = match self.chosen {
            Some(_) if self.is_at_order() => "a give it  left right width  t until  n how many  Escape the card",
            Some(_) if self.is_looking_ahead() => "u go back  left older  right newer  Escape the card",
            Some(Subject::Action(_)) => self.keys_of_action(),
            Some(Subject::Run(_, StandsFor::Checkpoint)) => "a go on  r reject  m note  p pause  c cancel  u back",
            Some(Subject::Run(_, StandsFor::Plan | StandsFor::Results | StandsFor::Wish)) => "a approve  r reject",
            None => "",
        };
        let moves = match self.pane {
            Pane::Queue => "j k move  / filter",
            Pane::Card => "j k space scroll",
        };
        format!("{decide} │ ? all keys  {moves}  tab pane  q quit")
    }
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
