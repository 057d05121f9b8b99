//! Giving a worker the next thing to do.

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::command::{Command, Submission};
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Actor;
use placet_domain::refusal::Refusal;
use rusqlite::{OptionalExtension as _, Row, params};

use super::session::Session;
use crate::error::{StoreError, SubmitError};
use crate::receipt::{Extras, Lease, Receipt};
use crate::sqlite::read;

/// Whoever waits for work waits for the writer too, so there is an end to it.
const MOST_SKIPPED: u32 = 100;

/// Whether another action may still be leased where this one is refused: it is about the action or its run, not about the worker
/// or everything.
const fn concerns_one(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Budget { .. }
            | Refusal::NotNow { .. }
            | Refusal::RunNotActive { .. }
            | Refusal::Invalid { .. }
            // What only looks is leased on.
            | Refusal::SafeMode { .. }
            | Refusal::Expired
    )
}

impl Session<'_> {
    /// Leases the action whose time runs out first, of those that this worker may execute now. Chosen and leased in one transaction of the one writer,
    /// so that no action is ever given twice.
    pub(super) fn lease_next(&mut self, lease: &Lease) -> Result<Option<Receipt>, SubmitError> {
        let actor = Actor::Identity(lease.worker.clone());
        self.check_credential(&actor)?;
        if let Some(receipt) = self.remembered(&actor, lease.idempotency.as_ref())? {
            return Ok(Some(receipt));
        }
        let mut skipped = 0;
        while let Some((id, run)) = self.next_ready(lease, skipped)? {
            let command = Command::Action { id, run, command: ActionCommand::Lease { worker: lease.worker.id } };
            let (actor, terms, policy) = (actor.clone(), lease.terms, lease.policy);
            let mut submission = Submission { actor, command, terms, policy, idempotency: None };
            let receipt = match self.decide_and_write(&submission, &Extras::default()) {
                Ok(receipt) => receipt,
                Err(SubmitError::Refused(refusal)) if concerns_one(&refusal) && skipped < MOST_SKIPPED => {
                    skipped += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let status = receipt.loaded.action.as_ref().map(|action| action.status);
            // A run whose budget does not cover it was paused instead: on to the next.
            if status == Some(ActionStatus::Leased) {
                submission.idempotency.clone_from(&lease.idempotency);
                self.remember(&submission, &receipt.seqs)?;
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    /// What the decision would refuse is left out here, so that it does not stand in the way of what comes after it. A run with files of
    /// its own has one action at a time in them: others wait their turn here and not on a lease. What was rehearsed is performed in the
    /// order in which it was proposed, each after the one before is over.
    fn next_ready(&self, lease: &Lease, skipped: u32) -> Result<Option<(ActionId, RunId)>, StoreError> {
        let sql = "SELECT action.id, run.id FROM action JOIN run ON run.created = action.run
            WHERE action.is_live AND action.status = 'APPROVED' AND action.due_ms > ?1 AND action.policy = ?2
                AND run.status = CASE WHEN action.performing THEN 'PENDING_EXPORT' ELSE 'EXECUTING' END
                AND action.rollbacks = run.rollbacks
                AND NOT (action.performing AND EXISTS (SELECT 1 FROM action AS earlier WHERE earlier.run = action.run
                    AND earlier.performing AND earlier.is_live AND earlier.created < action.created))
                AND (run.host IS NULL OR run.host = ?4 AND NOT EXISTS (SELECT 1 FROM action AS other WHERE other.run = action.run
                    AND other.is_live AND other.status IN ('LEASED', 'EXECUTING')))
                AND (?3 IS NULL OR action.project IN
                (SELECT created FROM project WHERE id IN (SELECT unhex(value) FROM json_each(?3))))
            ORDER BY action.due_ms LIMIT 1 OFFSET ?5";
        let (reach, worker) = (read::reach_as_json(&lease.worker.reach), lease.worker.id);
        let values = params![self.now.unix_ms(), lease.policy.as_bytes(), reach, worker.as_bytes(), skipped];
        let ids = |row: &Row<'_>| Ok((ActionId::from_bytes(row.get(0)?), RunId::from_bytes(row.get(1)?)));
        Ok(self.conn.prepare_cached(sql)?.query_row(values, ids).optional()?)
    }
}
