//! Idempotency: a request that comes again under the same key has no second effect and gets the same answer.
//!
//! Only the numbers of the entries are remembered. What was known after them is computed from the ledger, so the answer
//! is the first one even when much has happened since. Refusals are not remembered: what was refused may be tried again.

use std::ops::Range;

use placet_domain::action::ActionState;
use placet_domain::command::IdempotencyKey;
use placet_domain::decide::Loaded;
use placet_domain::id::ActionId;
use placet_domain::identity::Actor;
use placet_domain::record::{Event, Record};
use placet_domain::time::Timestamp;

use super::entry::{Thing, read_record};
use super::submit::CommandFlow;
use super::{RowChange, UnitOfWork};
use crate::error::{StoreResult, SubmitError};
use crate::receipt::Receipt;

impl<U: UnitOfWork> CommandFlow<'_, U> {
    /// The answer that was given under this key, if one was.
    pub(crate) fn recall(
        &mut self,
        actor: &Actor,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Receipt>, SubmitError> {
        let Some(IdempotencyKey { key, request }) = key else { return Ok(None) };
        match self.unit.answered(actor, key)? {
            None => Ok(None),
            Some((asked, _)) if asked != *request => Err(SubmitError::KeyReused),
            Some((_, seqs)) => Ok(Some(self.replay(seqs)?)),
        }
    }

    /// Remembers which entries answered a request.
    pub(super) fn remember(
        &mut self,
        actor: &Actor,
        key: Option<&IdempotencyKey>,
        seqs: &Range<u64>,
    ) -> StoreResult<()> {
        let Some(IdempotencyKey { key, request }) = key else { return Ok(()) };
        self.unit.save(RowChange::Answer { actor, key, request: *request, seqs: seqs.clone() })
    }

    fn replay(&mut self, seqs: Range<u64>) -> StoreResult<Receipt> {
        let (at, record) = self.recorded(seqs.start)?;
        let mut before = |thing| self.known_before(thing, seqs.end);
        let loaded = match &record.event {
            Event::Project(id, _) => before(Thing::Project(*id))?,
            Event::Identity(id, _) => before(Thing::Identity(*id))?,
            Event::Run(id, _) => before(Thing::Run(*id))?,
            Event::Action(id, _) => {
                let run = record.about.run.map(|run| before(Thing::Run(run))).transpose()?.and_then(|known| known.run);
                let loaded = before(Thing::Action(*id))?;
                Loaded { run, successor: self.made_of(*id, &seqs)?, ..loaded }
            }
            Event::Worktree(news) => {
                let project = record.about.project.map(|id| before(Thing::Project(id))).transpose()?;
                let project = project.and_then(|known| known.project);
                Loaded { project, ..before(Thing::Worktree(news.worktree))? }
            }
            Event::BlobKept(_) | Event::BlobRemoved(_) => {
                let project = record.about.project.map(|id| self.unit.project(id)).transpose()?.flatten();
                Loaded { project, ..Loaded::default() }
            }
            Event::Organisation(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => Loaded::default(),
        };
        let records = seqs.clone().map(|seq| Ok(self.recorded(seq)?.1)).collect::<StoreResult<_>>()?;
        Ok(Receipt { seqs, records, at, loaded, ended: Vec::new(), replayed: true })
    }

    /// What was put in an action's place by these entries, as they left it.
    fn made_of(&mut self, id: ActionId, seqs: &Range<u64>) -> StoreResult<Option<ActionState>> {
        for seq in seqs.clone() {
            if let Some(other) = self.recorded(seq)?.1.about.action.filter(|other| *other != id) {
                return Ok(self.known_before(Thing::Action(other), seqs.end)?.action);
            }
        }
        Ok(None)
    }

    fn recorded(&mut self, seq: u64) -> StoreResult<(Timestamp, Record)> {
        let line = self.unit.entry(seq)?;
        Ok((line.at, read_record(seq, &line.bytes)?))
    }

    /// Computes what was known of a thing before the entry `end`.
    fn known_before(&mut self, thing: Thing, end: u64) -> StoreResult<Loaded> {
        let mut loaded = Loaded::default();
        for line in self.unit.entries_of(thing, end)? {
            loaded.apply(&read_record(line.seq, &line.bytes)?, line.at);
        }
        Ok(loaded)
    }
}
