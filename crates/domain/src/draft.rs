//! DRAFT: the events that a command has caused so far, and the state after them. Each event is evolved here once, and nowhere again on
//! its way into the ledger.

use crate::action::{ActionEvent, ActionState};
use crate::command::About;
use crate::deciding::{Decision, decision};
use crate::id::{ActionId, RunId};
use crate::loaded::Loaded;
use crate::record::{Event, Record};
use crate::refusal::Refusal;
use crate::run::{Consequence, Run, RunEvent, clock_event, follow, question};
use crate::time::Timestamp;

/// An accepted command: its records and the state after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    pub records: Vec<Record>,
    /// The loaded state, evolved by the records.
    pub after: Loaded,
    /// Questions to people that the records end, each with the index of its record.
    pub ended: Vec<(usize, Decision)>,
    /// Whether a repeated request gets this answer again. False for a proposal that was not taken: it may be made again under the same key.
    pub is_final: bool,
}

/// Events so far, with the states before and after them.
pub(crate) struct CommandDraft<'a> {
    pub(crate) before: &'a Loaded,
    pub(crate) after: Loaded,
    pub(crate) now: Timestamp,
    events: Vec<Event>,
    ended: Vec<(usize, Decision)>,
}

impl<'a> CommandDraft<'a> {
    pub(crate) fn new(before: &'a Loaded, now: Timestamp) -> Self {
        Self { before, after: before.clone(), now, events: Vec::new(), ended: Vec::new() }
    }

    pub(crate) fn record(&mut self, event: Event) {
        self.ended.extend(self.end_by(&event).map(|ended| (self.events.len(), ended)));
        self.after.evolve(&event, self.now);
        self.events.push(event);
    }

    pub(crate) fn record_all(&mut self, events: impl IntoIterator<Item = Event>) {
        events.into_iter().for_each(|event| self.record(event));
    }

    pub(crate) fn record_run(&mut self, id: RunId, events: impl IntoIterator<Item = RunEvent>) {
        self.record_all(events.into_iter().map(|event| Event::Run(id, event)));
    }

    /// Finds the question to people that an event ends, by the action as it is before it.
    fn end_by(&self, event: &Event) -> Option<Decision> {
        let Event::Action(id, event) = event else { return None };
        decision(self.after.find_action(*id)?, event, self.now)
    }

    /// Records the events of an action with their consequences for its run, or the consequences alone where the run does something else
    /// instead. `action` is the state before the events. `may_move` is false if the number of open actions stays as it is, and was
    /// not loaded.
    pub(crate) fn record_action(
        &mut self,
        run: &Run,
        action: Option<&ActionState>,
        events: Vec<(ActionId, ActionEvent)>,
        may_move: bool,
    ) -> Result<ActionOutcome, Refusal> {
        let also = match follow(run, action, &events)? {
            Consequence::Also(also) => also,
            Consequence::Instead(instead) => {
                self.record_run(run.id, instead);
                return Ok(ActionOutcome::Replaced);
            }
        };
        self.record_all(events.into_iter().map(|(id, event)| Event::Action(id, event)));
        let mut is_run_changed = !also.is_empty();
        self.record_run(run.id, also);
        let clock = self.after.find_run(run.id).filter(|_| may_move);
        if let Some(event) = clock.and_then(|after| clock_event(after, self.after.count_beside(after))) {
            self.record_run(run.id, [event]);
            is_run_changed = true;
        }
        if is_run_changed {
            self.record_question(run.id);
        }
        Ok(ActionOutcome::Recorded)
    }

    /// Records what a run that is at work after its events so far must stop for: something is used up, or a person is to be asked because
    /// most of it is. It is asked whenever the run goes on, so that what was spent while nobody could be asked is asked about then.
    pub(crate) fn record_question(&mut self, id: RunId) {
        let question = self.after.find_run(id).and_then(question);
        self.record_run(id, question);
    }

    /// Names what each event is about, and ends the draft.
    pub(crate) fn finish(self, about: impl Fn(&Event) -> About, is_final: bool) -> CommandOutcome {
        let Self { after, events, ended, .. } = self;
        let records = events.into_iter().map(|event| Record { about: about(&event), event }).collect();
        CommandOutcome { records, after, ended, is_final }
    }
}

/// Whether the events of an action were recorded, or something else in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActionOutcome {
    Recorded,
    Replaced,
}
