//! Decides and records one command after the other.

use placet_domain::command::Submission;
use placet_domain::decide::{AdmittedSubmission, decide, recorded};
use placet_domain::digest::Digest;
use placet_domain::identity::Actor;
use placet_domain::record::Record;
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;

use super::UnitOfWork;
use super::entry::NewEntry;
use super::turns::Turns;
use crate::error::{StoreResult, SubmitError};
use crate::receipt::{Extras, Noting, Receipt};

/// The one flow of commands, above an open transaction of a backend.
pub(crate) struct CommandFlow<'a, U> {
    pub(crate) unit: &'a mut U,
    pub(crate) turns: &'a mut Turns,
    pub(crate) now: Timestamp,
    /// The same moment, as entries write it.
    pub(crate) at: &'a str,
}

impl<U: UnitOfWork> CommandFlow<'_, U> {
    pub(crate) fn submit(&mut self, submission: &Submission, extras: &Extras) -> Result<Receipt, SubmitError> {
        let admitted = AdmittedSubmission::check(submission, self.valid_credential(&submission.actor)?)?;
        match self.recall(&submission.actor, submission.idempotency.as_ref())? {
            Some(receipt) => Ok(receipt),
            None => self.carry_out(&admitted, extras),
        }
    }

    /// Digest of the token by which the caller is known now.
    pub(super) fn valid_credential(&mut self, actor: &Actor) -> StoreResult<Option<Digest>> {
        Ok(match actor.identity() {
            Some(identity) => self.unit.credential(identity.id)?,
            None => None,
        })
    }

    /// Decides a command and records what follows. The receipt counts only when the transaction is committed.
    pub(super) fn carry_out(
        &mut self,
        admitted: &AdmittedSubmission<'_>,
        extras: &Extras,
    ) -> Result<Receipt, SubmitError> {
        let submission = admitted.submission();
        let before = self.load(submission)?;
        let mut decided = match decide(&before, admitted, self.now) {
            Ok(decided) => decided,
            Err(refusal) => {
                if extras.refusal == Noting::Recorded
                    && let Some(record) = recorded(&before, &submission.command, &refusal)
                {
                    let entries = self.entries(&[record], &submission.actor)?;
                    self.unit.append(&entries)?;
                }
                return Err(refusal.into());
            }
        };
        submission.command.check_attached(extras.advice.as_deref(), extras.verifier.as_deref())?;
        let first = self.unit.size();
        let entries = self.entries(&decided.records, &submission.actor)?;
        self.unit.append(&entries)?;
        self.save_states(&before, &decided, first)?;
        self.save_content(submission, &decided, extras)?;
        self.save_uploads(submission, &decided, &entries, first)?;
        let seqs = first..self.unit.size();
        if decided.is_final {
            self.remember(&submission.actor, submission.idempotency.as_ref(), &seqs)?;
        }
        // Who asked is no part of the answer, which is the same when it is asked for again.
        decided.after.actor = None;
        let ended = decided.ended.into_iter().map(|(_, decision)| decision).collect();
        Ok(Receipt { seqs, records: decided.records, at: self.now, loaded: decided.after, ended, replayed: false })
    }

    /// Writes records as entries, numbered from the end of the ledger on.
    fn entries(&self, records: &[Record], actor: &Actor) -> Result<Vec<NewEntry>, Refusal> {
        let actor = actor.to_string();
        let numbered = (self.unit.size()..).zip(records);
        numbered.map(|(seq, record)| NewEntry::new(record, seq, (self.now, self.at), &actor)).collect()
    }
}
