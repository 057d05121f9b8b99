//! The rows that follow from a decided command.

use placet_domain::action::ActionCommand;
use placet_domain::command::{Command, Submission};
use placet_domain::decide::{CommandOutcome, Loaded};
use placet_domain::project::ProjectEvent;
use placet_domain::record::{BlobKept, Event, Record};
use placet_domain::retention::{Removed, named_by};
use placet_domain::run::Run;

use super::entry::NewEntry;
use super::submit::CommandFlow;
use super::{RowChange, Span, Stamp, UnitOfWork};
use crate::error::StoreResult;
use crate::receipt::Extras;

impl<U: UnitOfWork> CommandFlow<'_, U> {
    /// Saves the states that the records changed, and the questions that they ended.
    pub(super) fn save_states(&mut self, before: &Loaded, decided: &CommandOutcome, first: u64) -> StoreResult<()> {
        let (records, after) = (decided.records.as_slice(), &decided.after);
        for (seq, record) in (first..).zip(records) {
            self.save_thing(records, record, after, Stamp { seq, at: self.now }, first)?;
        }
        for run in after.run.iter().chain(&after.parent).chain(&after.runs) {
            self.save_run(records, run, first)?;
        }
        for action in after.action.iter().chain(&after.successor).chain(&after.actions) {
            let is_about = |event: &Event| matches!(event, Event::Action(id, _) if *id == action.id);
            if let Some(span) = self.span(records, first, is_about) {
                self.unit.save(RowChange::Action { state: action, before: before.find_action(action.id), span })?;
            }
        }
        for (seq, record) in (first..).zip(records) {
            self.save_evidence(record, seq)?;
        }
        for (index, decision) in &decided.ended {
            self.unit.save(RowChange::Decision { decision, seq: first + *index as u64 })?;
        }
        Ok(())
    }

    /// Saves the state that a record changed, if it is one of which a command changes one at most: not a run, action or content.
    fn save_thing(
        &mut self,
        records: &[Record],
        record: &Record,
        after: &Loaded,
        stamp: Stamp,
        first: u64,
    ) -> StoreResult<()> {
        match &record.event {
            Event::Organisation(_) => {
                self.unit.save(RowChange::Organisation { state: &after.organisation, changed: stamp.seq })
            }
            Event::Project(id, ProjectEvent::ScopeLocked { name, scope }) => {
                self.unit.save(RowChange::Scope { project: *id, name, scope, locked: stamp })
            }
            Event::Project(..) => match &after.project {
                Some(state) => self.unit.save(RowChange::Project { state, created: stamp }),
                None => Ok(()),
            },
            Event::Identity(id, _) => match after.find_person(*id) {
                Some(state) => self.unit.save(RowChange::Identity { state, created: stamp.seq }),
                None => Ok(()),
            },
            Event::Worktree(news) => {
                let is_about = |event: &Event| matches!(event, Event::Worktree(of) if of.worktree == news.worktree);
                let span = self.span(records, first, is_about).unwrap_or(Span::starting(stamp));
                let mut known = after.worktree.iter().chain(&after.worktrees);
                match known.find(|worktree| worktree.id == news.worktree) {
                    Some(state) => self.unit.save(RowChange::Worktree { state, span }),
                    None => Ok(()),
                }
            }
            Event::Run(..)
            | Event::Action(..)
            | Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => Ok(()),
        }
    }

    fn save_run(&mut self, records: &[Record], run: &Run, first: u64) -> StoreResult<()> {
        let is_about = |event: &Event| matches!(event, Event::Run(id, _) if *id == run.id);
        match self.span(records, first, is_about) {
            Some(span) => self.unit.save(RowChange::Run { state: run, span }),
            None => Ok(()),
        }
    }

    fn save_evidence(&mut self, record: &Record, seq: u64) -> StoreResult<()> {
        let Some(project) = record.about.project else { return Ok(()) };
        let (digest, size_bytes, is_removed) = match &record.event {
            Event::BlobKept(BlobKept { digest, size_bytes, .. }) => (*digest, *size_bytes, false),
            Event::BlobRemoved(Removed { digest, size_bytes, .. }) => (*digest, *size_bytes, true),
            Event::Organisation(_)
            | Event::Project(..)
            | Event::Identity(..)
            | Event::Run(..)
            | Event::Action(..)
            | Event::Worktree(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => return Ok(()),
        };
        self.unit.save(RowChange::Evidence { project, digest, size_bytes, is_removed, seq })
    }

    /// The first and the last entry of one command that are about one thing.
    fn span(&self, records: &[Record], first: u64, is_about: impl Fn(&Event) -> bool) -> Option<Span> {
        let numbered = (first..).zip(records);
        let mut seqs = numbered.filter(|(_, record)| is_about(&record.event)).map(|(seq, _)| seq);
        let created = seqs.next()?;
        let changed = seqs.last().unwrap_or(created);
        let [created, changed] = [created, changed].map(|seq| Stamp { seq, at: self.now });
        Some(Span { created, changed })
    }

    /// Saves content that the ledger names by digest: the sealed bytes of an action, its agent's words, the manifest of its results, and
    /// a password verifier.
    pub(super) fn save_content(
        &mut self,
        submission: &Submission,
        decided: &CommandOutcome,
        extras: &Extras,
    ) -> StoreResult<()> {
        if let (Command::Identity { id, .. }, Some(verifier)) = (&submission.command, &extras.verifier) {
            self.unit.save(RowChange::Password { person: *id, verifier })?;
        }
        let Command::Action { id, command, .. } = &submission.command else { return Ok(()) };
        let (action, digest, bytes) = if let ActionCommand::Complete { evidence } = command {
            (*id, evidence.digest(), evidence.bytes())
        } else if let Some(sealed) = command.brings() {
            // A proposal that was not taken is not there.
            if !decided.is_final {
                return Ok(());
            }
            (command.successor().unwrap_or(*id), sealed.digest(), sealed.bytes())
        } else {
            return Ok(());
        };
        self.unit.save(RowChange::Sealed { action, digest, bytes })?;
        match &extras.advice {
            Some(words) => self.unit.save(RowChange::Advice { action, words }),
            None => Ok(()),
        }
    }

    /// Keeps track of uploads: one begins with the entry that keeps the bytes, and ends with the one that first names or removes them.
    pub(super) fn save_uploads(
        &mut self,
        submission: &Submission,
        decided: &CommandOutcome,
        entries: &[NewEntry],
        first: u64,
    ) -> StoreResult<()> {
        let Some(project) = decided.records.first().and_then(|record| record.about.project) else { return Ok(()) };
        for (seq, record) in (first..).zip(&decided.records) {
            match (&record.event, submission.actor.identity()) {
                // Content of the control plane itself is no upload: the code that makes it also names it.
                (Event::BlobKept(BlobKept { digest, size_bytes, .. }), Some(owner)) => {
                    let (digest, size_bytes, kept) = (*digest, *size_bytes, Stamp { seq, at: self.now });
                    self.unit.save(RowChange::UploadBegun { project, digest, owner: owner.id, size_bytes, kept })?;
                }
                (Event::BlobRemoved(Removed { digest, .. }), _) => {
                    self.unit.save(RowChange::UploadEnded { project, digest: *digest })?;
                }
                (
                    Event::BlobKept(_)
                    | Event::Organisation(_)
                    | Event::Project(..)
                    | Event::Identity(..)
                    | Event::Run(..)
                    | Event::Action(..)
                    | Event::Worktree(_)
                    | Event::Refused(_)
                    | Event::PlannerAsked(_)
                    | Event::PlannerAnswered(_)
                    | Event::Started(_),
                    _,
                ) => {}
            }
        }
        let entries = entries.iter().map(|entry| entry.bytes.as_slice());
        for digest in named_by(&submission.command, &decided.records, entries) {
            self.unit.save(RowChange::UploadEnded { project, digest })?;
        }
        Ok(())
    }
}
