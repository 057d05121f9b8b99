//! Idempotency: a request that comes again under the same key has no second effect and gets the same answer.
//!
//! Only the numbers of the entries are remembered. What was known after them is computed from the ledger, so the answer
//! is the first one even when much has happened since. Refusals are not remembered: what was refused may be tried again.

use std::ops::Range;

use placet_domain::action::ActionState;
use placet_domain::command::{IdempotencyKey, Submission};
use placet_domain::decide::Loaded;
use placet_domain::id::ActionId;
use placet_domain::identity::Actor;
use placet_domain::record::{Event, Record};
use placet_domain::time::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::session::Session;
use crate::error::{StoreError, SubmitError};
use crate::receipt::Receipt;
use crate::sqlite::history::{known_before, record};
use crate::sqlite::place::Thing;
use crate::sqlite::read;

impl Session<'_> {
    /// The answer that was given under this key, if one was.
    pub(super) fn remembered(
        &self,
        actor: &Actor,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Receipt>, SubmitError> {
        let Some(IdempotencyKey { key, request }) = key else { return Ok(None) };
        let sql = "SELECT request, first_seq, end_seq FROM idempotency WHERE actor = ?1 AND key = ?2";
        let mut statement = self.conn.prepare_cached(sql).map_err(StoreError::from)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?..row.get(2)?));
        let found: Option<([u8; 32], Range<u64>)> =
            statement.query_row(params![actor.to_string(), key], read).optional().map_err(StoreError::from)?;
        match found {
            None => Ok(None),
            Some((asked, _)) if asked != *request.as_bytes() => Err(SubmitError::KeyReused),
            Some((_, seqs)) => Ok(Some(self.replay(seqs)?)),
        }
    }

    pub(super) fn remember(&self, submission: &Submission, seqs: &Range<u64>) -> Result<(), StoreError> {
        let Some(IdempotencyKey { key, request }) = &submission.idempotency else { return Ok(()) };
        let sql = "INSERT INTO idempotency (actor, key, request, first_seq, end_seq) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![submission.actor.to_string(), key, request.as_bytes(), seqs.start, seqs.end];
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn replay(&self, seqs: Range<u64>) -> Result<Receipt, StoreError> {
        let (at, record) = self.recorded(seqs.start)?;
        let before = |thing| known_before(self.conn, thing, seqs.end);
        let loaded = match &record.event {
            Event::Project(id, _) => before(Thing::Project(*id))?,
            Event::Identity(id, _) => before(Thing::Identity(*id))?,
            Event::Run(id, _) => before(Thing::Run(*id))?,
            Event::Action(id, _) => {
                let run = record.about.run.map(|run| before(Thing::Run(run))).transpose()?.and_then(|known| known.run);
                let successor = self.made_of(*id, &seqs)?;
                Loaded { run, successor, ..before(Thing::Action(*id))? }
            }
            Event::Worktree(news) => {
                let project = record.about.project.map(|id| before(Thing::Project(id))).transpose()?;
                let project = project.and_then(|known| known.project);
                Loaded { project, ..before(Thing::Worktree(news.worktree))? }
            }
            Event::BlobKept(_) | Event::BlobRemoved(_) => {
                let project = record.about.project.map(|id| read::project(self.conn, id)).transpose()?.flatten();
                Loaded { project, ..Loaded::default() }
            }
            Event::Organisation(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => Loaded::default(),
        };
        let records = seqs.clone().map(|seq| Ok(self.recorded(seq)?.1)).collect::<Result<_, StoreError>>()?;
        Ok(Receipt { seqs, records, at, loaded, ended: Vec::new(), replayed: true })
    }

    /// What was put in an action's place by these entries, as they left it.
    fn made_of(&self, id: ActionId, seqs: &Range<u64>) -> Result<Option<ActionState>, StoreError> {
        for seq in seqs.clone() {
            if let Some(other) = self.recorded(seq)?.1.about.action.filter(|other| *other != id) {
                return Ok(known_before(self.conn, Thing::Action(other), seqs.end)?.action);
            }
        }
        Ok(None)
    }

    fn recorded(&self, seq: u64) -> Result<(Timestamp, Record), StoreError> {
        let sql = "SELECT at_ms, bytes FROM ledger WHERE seq = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (at_ms, bytes): (i64, Vec<u8>) = self.conn.prepare_cached(sql)?.query_row([seq], read)?;
        Ok((Timestamp::from_unix_ms(at_ms), record(seq, &bytes)?))
    }
}
