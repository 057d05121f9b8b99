//! Giving a worker the next thing to do.

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::command::{Command, Submission};
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::identity::Actor;
use placet_domain::refusal::Refusal;
use rusqlite::{OptionalExtension as _, Row, params};

use super::session::Session;
use super::turns::WaitingRun;
use crate::error::{StoreError, SubmitError};
use crate::receipt::{Extras, Lease, Receipt};
use crate::sqlite::place::Place;
use crate::sqlite::read;

/// Whoever waits for work waits for the writer too, so there is an end to it.
const MOST_SKIPPED: u32 = 100;
/// Limit for one run, so that its refused actions do not use up the search for other runs.
const MOST_SKIPPED_IN_RUN: u32 = 10;

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

/// Selects the next run after a given place that has approved actions, with its earliest deadline.
const NEXT_RUN: &str = "SELECT run, due_ms FROM action WHERE is_live AND status = 'APPROVED' AND run > ?1
    ORDER BY run, due_ms LIMIT 1";

/// Selects the actions of one run whose lease the domain would not refuse.
const NEXT_READY: &str = "SELECT action.id, run.id FROM action JOIN run ON run.created = action.run
    WHERE action.is_live AND action.status = 'APPROVED' AND action.run = ?6
        AND action.due_ms > ?1 AND action.policy = ?2
        AND run.status = CASE WHEN action.performing THEN 'PENDING_EXPORT' ELSE 'EXECUTING' END
        AND action.rollbacks = run.rollbacks
        AND NOT (action.performing AND EXISTS (SELECT 1 FROM action AS earlier WHERE earlier.run = action.run
            AND earlier.performing AND earlier.is_live AND earlier.created < action.created))
        AND (run.host IS NULL OR run.host = ?4 AND NOT EXISTS (SELECT 1 FROM action AS other WHERE other.run = action.run
            AND other.is_live AND other.status IN ('LEASED', 'EXECUTING')))
        AND (?3 IS NULL OR action.project IN
        (SELECT created FROM project WHERE id IN (SELECT unhex(value) FROM json_each(?3))))
    ORDER BY action.due_ms LIMIT 1 OFFSET ?5";

impl Session<'_> {
    /// Leases an action that this worker may execute now: from the agent that waited longest for a worker, from its run that waited
    /// longest, the action with the earliest deadline. The single writer selects and leases it in one transaction, so that no action
    /// is leased twice.
    pub(super) fn lease_next(&mut self, lease: &Lease) -> Result<Option<Receipt>, SubmitError> {
        let actor = Actor::Identity(lease.worker.clone());
        self.check_credential(&actor)?;
        if let Some(receipt) = self.remembered(&actor, lease.idempotency.as_ref())? {
            return Ok(Some(receipt));
        }
        let mut skipped = Skipped::default();
        for waiting in self.waiting_in_turn()? {
            let skipped_before = skipped.0;
            let found = self.lease_in(&waiting, lease, &actor, &mut skipped);
            // A run whose actions were refused has had its turn too; otherwise it would be searched first every time.
            if skipped.0 > skipped_before || matches!(found, Ok(Some(_))) {
                self.cache.turns().take(&waiting);
            }
            if let Some(receipt) = found? {
                return Ok(Some(receipt));
            }
        }
        self.cache.turns().found_nothing(&lease.worker, self.now);
        Ok(None)
    }

    /// Leases the first ready action of a run that the domain does not refuse.
    fn lease_in(
        &mut self,
        waiting: &WaitingRun,
        lease: &Lease,
        actor: &Actor,
        skipped: &mut Skipped,
    ) -> Result<Option<Receipt>, SubmitError> {
        let mut skipped_here = 0;
        while skipped_here < MOST_SKIPPED_IN_RUN
            && let Some((id, run)) = self.next_ready(waiting, lease, skipped_here)?
        {
            let command = Command::Action { id, run, command: ActionCommand::Lease { worker: lease.worker.id } };
            let (actor, terms, policy) = (actor.clone(), lease.terms, lease.policy);
            let mut submission = Submission { actor, command, terms, policy, idempotency: None };
            let receipt = match self.decide_and_write(&submission, &Extras::default()) {
                Ok(receipt) => receipt,
                Err(SubmitError::Refused(refusal)) if concerns_one(&refusal) && skipped.one_more() => {
                    skipped_here += 1;
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

    /// Lists the runs with approved actions in the order of their turns. Each run takes one index step, however many actions it has.
    fn waiting_in_turn(&mut self) -> Result<Vec<WaitingRun>, StoreError> {
        let agent = "SELECT json_extract(state, '$.agent') FROM run WHERE created = ?1";
        let (mut found, mut after) = (Vec::new(), -1);
        let (mut next, mut agent) = (self.conn.prepare_cached(NEXT_RUN)?, self.conn.prepare_cached(agent)?);
        while let Some((place, due_ms)) = next.query_row([after], read_next).optional()? {
            let text: String = agent.query_row([place], |row| row.get(0))?;
            let agent = text.parse::<IdentityId>().map_err(|error| StoreError::unreadable("agent of a run", error))?;
            found.push(WaitingRun { place, agent, due_ms });
            after = i64::try_from(place).unwrap_or(i64::MAX);
        }
        let turns = self.cache.turns();
        found.sort_by_cached_key(|waiting| turns.rank(waiting));
        Ok(found)
    }

    /// What the decision would refuse is left out here, so that it does not stand in the way of what comes after it. A run with files of
    /// its own has one action at a time in them: others wait their turn here and not on a lease. What was rehearsed is performed in the
    /// order in which it was proposed, each after the one before is over.
    fn next_ready(
        &self,
        waiting: &WaitingRun,
        lease: &Lease,
        skipped: u32,
    ) -> Result<Option<(ActionId, RunId)>, StoreError> {
        let (reach, worker) = (read::reach_as_json(&lease.worker.reach), lease.worker.id);
        let values =
            params![self.now.unix_ms(), lease.policy.as_bytes(), reach, worker.as_bytes(), skipped, waiting.place];
        let ids = |row: &Row<'_>| Ok((ActionId::from_bytes(row.get(0)?), RunId::from_bytes(row.get(1)?)));
        Ok(self.conn.prepare_cached(NEXT_READY)?.query_row(values, ids).optional()?)
    }
}

fn read_next(row: &Row<'_>) -> rusqlite::Result<(Place, i64)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Number of actions that were refused in one search.
#[derive(Debug, Default)]
struct Skipped(u32);

impl Skipped {
    /// Counts one more refused action and returns whether the search may continue.
    const fn one_more(&mut self) -> bool {
        self.0 += 1;
        self.0 <= MOST_SKIPPED
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Null;
    use rusqlite::{Connection, params_from_iter};

    use super::*;
    use crate::sqlite::migrate::migrate;

    #[test]
    fn next_action_is_found_by_index_however_many_wait() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn).unwrap();
        for sql in [NEXT_RUN, NEXT_READY] {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nothing = vec![Null; statement.parameter_count()];
            let steps = statement.query_map(params_from_iter(nothing), |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            let plan = steps.join("\n");
            assert!(plan.contains("SEARCH action USING") && plan.contains("action_ready_by_run"), "{plan}");
            assert!(!plan.contains("SCAN action") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
