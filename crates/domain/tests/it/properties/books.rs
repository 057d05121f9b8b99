//! The books: what must be true of a ledger, kept from its records alone and written down without looking at the code.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::{ActionEvent, Resolution};
use placet_domain::approval::{Approval, review_digest};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::policy::{Tier, Verdict};
use placet_domain::project::Separation;
use placet_domain::record::{Event, Record};
use placet_domain::run::RunStatus;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::walk::Before;
use crate::people::Who;
use crate::scenario::World;

#[derive(Debug, Default)]
pub(super) struct Books {
    pages: BTreeMap<ActionId, Page>,
}

/// One action's page.
#[derive(Debug)]
struct Page {
    digest: Digest,
    verdict: Option<Verdict>,
    approvals: Vec<Approval>,
    leased: Vec<IdentityId>,
    redeemed: BTreeSet<u32>,
    completed: u32,
}

impl Books {
    /// Enters a record that was accepted in the world as it stands now; `before` is how it stood when it was decided.
    pub(super) fn enter(&mut self, record: &Record, world: &World, before: &Before) -> Result<(), TestCaseError> {
        let Event::Action(id, event) = &record.event else { return Ok(()) };
        prop_assert_eq!(record.about.action, Some(*id));
        if let ActionEvent::Proposed { digest, .. } = event {
            let page = Page {
                digest: *digest,
                verdict: None,
                approvals: Vec::new(),
                leased: Vec::new(),
                redeemed: BTreeSet::new(),
                completed: 0,
            };
            prop_assert!(self.pages.insert(*id, page).is_none(), "proposed once");
            return Ok(());
        }
        let page = self.pages.get_mut(id).expect("proposed before anything else");
        let run = &before.runs[&world.actions[id].run];
        page.enter(event, world, run.status, run.separation)
    }
}

impl Page {
    fn enter(
        &mut self,
        event: &ActionEvent,
        world: &World,
        run: RunStatus,
        separation: Separation,
    ) -> Result<(), TestCaseError> {
        match event {
            ActionEvent::Judged { verdict, .. } => {
                self.verdict = Some(verdict.clone());
                self.approvals.clear();
            }
            ActionEvent::Resolved { resolution: Resolution::Retry, .. } => self.approvals.clear(),
            ActionEvent::Approved { approval, .. } => {
                self.may_approve(approval, separation)?;
                self.approvals.push(approval.clone());
            }
            ActionEvent::Leased { worker, attempt, .. } => {
                self.leased.push(*worker);
                prop_assert_eq!(usize::try_from(*attempt).ok(), Some(self.leased.len()), "attempts count up by one");
                prop_assert_eq!(run, RunStatus::Executing);
            }
            ActionEvent::Redeemed { worker, attempt, digest, .. } => {
                prop_assert_eq!(run, RunStatus::Executing);
                self.may_execute(*worker, *attempt, *digest, world)?;
            }
            ActionEvent::Completed { attempt, executed, .. } => {
                self.completed += 1;
                prop_assert_eq!(self.completed, 1, "completed once");
                prop_assert!(self.redeemed.contains(attempt), "completed without having started");
                prop_assert_eq!(*executed, self.digest);
            }
            ActionEvent::Quarantined { worker, attempt, .. } => prop_assert!(self.held_by(*worker, *attempt)),
            ActionEvent::Proposed { .. }
            | ActionEvent::Rejected { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::DeadlineLapsed
            | ActionEvent::Resolved { resolution: Resolution::Abandon, .. } => {}
        }
        Ok(())
    }

    fn verdict(&self) -> &Verdict {
        self.verdict.as_ref().expect("judged in the same breath as proposed")
    }

    fn held_by(&self, worker: IdentityId, attempt: u32) -> bool {
        usize::try_from(attempt).is_ok_and(|attempt| attempt >= 1 && self.leased.get(attempt - 1) == Some(&worker))
    }

    /// The agent of all walks is the same one, so its family is known by name.
    fn may_approve(&self, approval: &Approval, separation: Separation) -> Result<(), TestCaseError> {
        let who = Who::from_id(approval.reviewer);
        let stranger = matches!(who, Some(Who::Reviewer | Who::SecondReviewer | Who::Creator));
        let above = matches!(who, Some(Who::Parent | Who::Grandparent));
        let alone = separation == Separation::SingleOperator && self.verdict().tier() == Tier::B;
        prop_assert!(stranger || (above && alone && approval.single_operator), "{who:?} approved");
        prop_assert!(
            self.approvals.iter().all(|earlier| earlier.reviewer != approval.reviewer),
            "the same person twice"
        );
        prop_assert_eq!(approval.review, review_digest(self.verdict()));
        Ok(())
    }

    fn may_execute(
        &mut self,
        worker: IdentityId,
        attempt: u32,
        digest: Digest,
        world: &World,
    ) -> Result<(), TestCaseError> {
        let needed = self.verdict().tier().approvals_needed();
        prop_assert_eq!(Some(self.approvals.len()), needed, "as many approvals as the tier needs");
        prop_assert!(self.approvals.iter().all(|approval| world.now < approval.expires_at), "an expired approval");
        prop_assert_eq!(self.verdict().policy(), world.policy, "judged by the policy in force");
        prop_assert_eq!(digest, self.digest, "the bytes that were approved");
        prop_assert_eq!(self.verdict().action(), self.digest);
        prop_assert!(self.held_by(worker, attempt), "by the worker that leased it");
        prop_assert_eq!(usize::try_from(attempt).ok(), Some(self.leased.len()), "in the current attempt");
        prop_assert!(self.redeemed.insert(attempt), "once per attempt");
        Ok(())
    }
}
