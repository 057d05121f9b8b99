//! Giving a worker the next thing to do.

use placet_domain::action::ActionCommand;
use placet_domain::command::{Command, Submission};
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Actor;
use rusqlite::{OptionalExtension as _, params};

use super::session::Session;
use crate::error::{StoreError, SubmitError};
use crate::receipt::{Extras, Lease, Receipt};
use crate::sqlite::read;

impl Session<'_> {
    /// Leases the oldest action that this worker may execute now. Chosen and leased in one transaction of the one writer,
    /// so that no action is ever given twice.
    pub(super) fn lease_next(&mut self, lease: &Lease) -> Result<Option<Receipt>, SubmitError> {
        let actor = Actor::Identity(lease.worker.clone());
        if let Some(receipt) = self.remembered(&actor, lease.idempotency.as_ref())? {
            return Ok(Some(receipt));
        }
        let Some((id, run)) = self.next_ready(lease)? else { return Ok(None) };
        let command = Command::Action { id, run, command: ActionCommand::Lease { worker: lease.worker.id } };
        let (terms, policy, idempotency) = (lease.terms, lease.policy, lease.idempotency.clone());
        let submission = Submission { actor, command, terms, policy, idempotency };
        self.decide_and_write(&submission, &Extras::default()).map(Some)
    }

    /// What the decision would refuse is left out here, so that it does not stand in the way of what comes after it.
    fn next_ready(&self, lease: &Lease) -> Result<Option<(ActionId, RunId)>, StoreError> {
        let sql = "SELECT action.id, action.run FROM action JOIN run ON run.id = action.run
            WHERE action.status = 'APPROVED' AND run.status = 'EXECUTING' AND action.due_ms > ?1 AND action.policy = ?2
                AND (?3 IS NULL OR action.project IN (SELECT value FROM json_each(?3)))
            ORDER BY action.created LIMIT 1";
        let values = params![self.now.unix_ms(), lease.policy.as_bytes(), read::reach_as_json(&lease.worker.reach)];
        let found: Option<(String, String)> =
            self.conn.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        found.map(|(action, run)| Ok((read::parse_id(&action)?, read::parse_id(&run)?))).transpose()
    }
}
