//! Giving a worker the next thing to do.

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::command::{Command, Submission};
use placet_domain::decide::{AdmittedSubmission, check_credential};
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::identity::Actor;

use super::submit::CommandFlow;
use super::{UnitOfWork, WaitingRun};
use crate::error::{StoreResult, SubmitError};
use crate::receipt::{Extras, Lease, Receipt};

/// Whoever waits for work waits for the writer too, so there is an end to it.
const MOST_SKIPPED: u32 = 100;
/// Limit for one run, so that its refused actions do not use up the search for other runs.
const MOST_SKIPPED_IN_RUN: u32 = 10;

impl<U: UnitOfWork> CommandFlow<'_, U> {
    /// Leases an action that this worker may execute now: from the agent that waited longest for a worker, from its run that waited
    /// longest, the action with the earliest deadline. It is selected and leased in one transaction, so that no action is leased twice.
    pub(crate) fn lease_next(&mut self, lease: &Lease) -> Result<Option<Receipt>, SubmitError> {
        let actor = Actor::Identity(lease.worker.clone());
        let valid = self.valid_credential(&actor)?;
        check_credential(&actor, valid)?;
        if let Some(receipt) = self.recall(&actor, lease.idempotency.as_ref())? {
            return Ok(Some(receipt));
        }
        let mut skipped = Skipped::default();
        for waiting in self.waiting_in_turn()? {
            let skipped_before = skipped.0;
            let found = self.lease_in(waiting.id, lease, valid, &mut skipped);
            // A run whose actions were refused has had its turn too; otherwise it would be searched first every time.
            if skipped.0 > skipped_before || matches!(found, Ok(Some(_))) {
                self.turns.take(&waiting);
            }
            if let Some(receipt) = found? {
                return Ok(Some(receipt));
            }
        }
        self.turns.found_nothing(&lease.worker, self.now);
        Ok(None)
    }

    /// Leases the first ready action of a run that the domain does not refuse.
    fn lease_in(
        &mut self,
        run: RunId,
        lease: &Lease,
        valid: Option<Digest>,
        skipped: &mut Skipped,
    ) -> Result<Option<Receipt>, SubmitError> {
        let mut skipped_here = 0;
        while skipped_here < MOST_SKIPPED_IN_RUN
            && let Some(id) = self.unit.next_ready(run, lease, skipped_here)?
        {
            let command = Command::Action { id, run, command: ActionCommand::Lease { worker: lease.worker.id } };
            let (actor, terms, policy) = (Actor::Identity(lease.worker.clone()), lease.terms, lease.policy);
            let submission = Submission { actor, command, terms, policy, idempotency: None };
            let receipt = match self.carry_out(&AdmittedSubmission::check(&submission, valid)?, &Extras::default()) {
                Ok(receipt) => receipt,
                Err(SubmitError::Refused(refusal)) if refusal.concerns_one_action() && skipped.one_more() => {
                    skipped_here += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let status = receipt.loaded.action.as_ref().map(|action| action.status);
            // A run whose budget does not cover it was paused instead: on to the next.
            if status == Some(ActionStatus::Leased) {
                self.remember(&submission.actor, lease.idempotency.as_ref(), &receipt.seqs)?;
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    /// Lists the runs with approved actions in the order of their turns.
    fn waiting_in_turn(&mut self) -> StoreResult<Vec<WaitingRun>> {
        let mut found = self.unit.waiting_runs()?;
        found.sort_by_cached_key(|waiting| self.turns.rank(waiting));
        Ok(found)
    }
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
