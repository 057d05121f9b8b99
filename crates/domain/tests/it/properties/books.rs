//! The books: what must be true of a ledger, kept from its records alone and written down without looking at the code.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::{ActionEvent, Amendment, Resolution};
use placet_domain::approval::{Approval, review_digest};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::policy::{Tier, Verdict};
use placet_domain::project::Separation;
use placet_domain::record::{Event, Record};
use placet_domain::run::{OrderEvent, RunEvent, RunStatus};
use placet_domain::time::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::walk::Before;
use crate::people::Who;
use crate::scenario::World;

#[derive(Debug, Default)]
pub(super) struct Books {
    pages: BTreeMap<ActionId, Page>,
    orders: BTreeMap<(RunId, u32), Standing>,
}

/// One standing order.
#[derive(Debug)]
struct Standing {
    giver: IdentityId,
    policy: Digest,
    until: Timestamp,
    left: u32,
    rollbacks: u32,
    over: bool,
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
    superseded: bool,
    /// Rehearsed first; a reviewer wants it to be done.
    performing: bool,
    authors: Authors,
}

/// Who wrote a part of an action by amending it, as far as that matters for a yes of theirs.
#[derive(Debug, Clone, Default)]
struct Authors {
    all: BTreeSet<IdentityId>,
    /// Those whose changes made it no riskier, by the policy in force.
    trusted: BTreeSet<IdentityId>,
    /// What the last of them was asked about.
    replaced: Option<Verdict>,
}

impl Authors {
    /// The authors of what somebody makes of this page.
    fn and(page: &Page, amender: IdentityId) -> Self {
        let mut authors = Self { replaced: page.verdict.clone(), ..page.authors.clone() };
        authors.all.insert(amender);
        authors.trusted.insert(amender);
        authors
    }

    /// The first verdict is compared with what was replaced; after any other one nobody knows.
    fn judged(&mut self, amender: Option<IdentityId>, verdict: &Verdict) {
        match self.replaced.take() {
            Some(was) if verdict.tier() <= was.tier() && verdict.risk() <= was.risk() => {}
            Some(_) => self.trusted.retain(|author| Some(*author) != amender),
            None => self.trusted.clear(),
        }
    }

    fn may_approve(&self, reviewer: IdentityId) -> bool {
        let family = [Who::Parent.id(), Who::Grandparent.id()];
        let is_family = |id: IdentityId| family.contains(&Some(id));
        let kin_wrote = self.all.iter().any(|author| *author != reviewer && is_family(*author) && is_family(reviewer));
        !kin_wrote && (self.trusted.contains(&reviewer) || !self.all.contains(&reviewer))
    }
}

impl Books {
    /// Enters a record that was accepted in the world as it stands now; `before` is how it stood when it was decided.
    pub(super) fn enter(&mut self, record: &Record, world: &World, before: &Before) -> Result<(), TestCaseError> {
        if let Event::Run(id, event) = &record.event {
            return self.enter_order(*id, event, world, before);
        }
        let Event::Action(id, event) = &record.event else { return Ok(()) };
        prop_assert_eq!(record.about.action, Some(*id));
        if let ActionEvent::Proposed { digest, amendment, .. } = event {
            let authors = match amendment {
                None => Authors::default(),
                Some(amendment) => {
                    let replaced = &self.pages[&amendment.of];
                    prop_assert!(replaced.superseded, "closed in the same breath");
                    prop_assert!(replaced.digest != *digest, "something was changed");
                    Authors::and(replaced, amendment.amender().expect("somebody amended it"))
                }
            };
            let page = Page {
                digest: *digest,
                verdict: None,
                approvals: Vec::new(),
                leased: Vec::new(),
                redeemed: BTreeSet::new(),
                completed: 0,
                superseded: false,
                performing: false,
                authors,
            };
            prop_assert!(self.pages.insert(*id, page).is_none(), "proposed once");
            return Ok(());
        }
        let page = self.pages.get_mut(id).expect("proposed before anything else");
        prop_assert!(!page.superseded, "nothing happens to what was superseded");
        let run = &before.runs[&world.actions[id].run];
        let amender = world.actions[id].amendment.as_ref().and_then(Amendment::amender);
        if let ActionEvent::Judged { verdict, .. } = event {
            prop_assert!(
                amender.is_none() || page.verdict.is_some() || verdict.tier() < Tier::D,
                "amended to a refusal"
            );
            page.authors.judged(amender, verdict);
        }
        page.enter(event, world, run.status, run.separation)
    }
}

impl Books {
    /// An order is used as often as was said and no longer, by the action that names it, in the run it was given in.
    fn enter_order(
        &mut self,
        run: RunId,
        event: &RunEvent,
        world: &World,
        before: &Before,
    ) -> Result<(), TestCaseError> {
        if let RunEvent::Order(OrderEvent::Given { number, giver, policy, until, times, .. }) = event {
            let (rollbacks, left, over) = (before.runs[&run].rollbacks, *times, false);
            let given = Standing { giver: *giver, policy: *policy, until: *until, left, rollbacks, over };
            prop_assert!(self.orders.insert((run, *number), given).is_none(), "given once");
        }
        if let RunEvent::Order(OrderEvent::Used { number, action }) = event {
            let order = self.orders.get_mut(&(run, *number)).expect("given before");
            prop_assert!(!order.over && order.left > 0 && world.now < order.until, "it stands");
            prop_assert_eq!((order.policy, order.rollbacks), (world.policy, before.runs[&run].rollbacks));
            prop_assert!(!before.actions.contains_key(action), "only what is just proposed");
            let approvals = &self.pages[action].approvals;
            prop_assert_eq!(approvals.len(), 1);
            prop_assert_eq!((approvals[0].order, approvals[0].reviewer), (Some(*number), order.giver));
            order.left -= 1;
        }
        if let RunEvent::Order(OrderEvent::Revoked { number, .. }) = event {
            self.orders.get_mut(&(run, *number)).expect("given before").over = true;
        }
        Ok(())
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
            ActionEvent::Rehearsed => self.performing = false,
            ActionEvent::ToBePerformed { reviewer, review, .. } => {
                prop_assert_eq!(run, RunStatus::PendingExport, "decided at the results");
                prop_assert_eq!(*review, review_digest(self.verdict()), "what was seen");
                prop_assert!(Who::from_id(*reviewer).is_some_and(Who::reviews), "by a reviewer");
                self.performing = true;
            }
            ActionEvent::Resolved { resolution: Resolution::Retry, .. } => self.approvals.clear(),
            ActionEvent::ApprovalsVoided { of, .. } => self.approvals.retain(|approval| approval.reviewer != *of),
            ActionEvent::Approved { approval, .. } => {
                self.may_approve(approval, separation)?;
                self.approvals.push(approval.clone());
            }
            ActionEvent::Superseded { reviewer, .. } => {
                prop_assert!(self.authors.may_approve(*reviewer), "amended by its author");
                self.superseded = true;
            }
            ActionEvent::Leased { worker, attempt, .. } => {
                self.leased.push(*worker);
                prop_assert_eq!(usize::try_from(*attempt).ok(), Some(self.leased.len()), "attempts count up by one");
                prop_assert_eq!(run, self.place());
            }
            ActionEvent::Redeemed { worker, attempt, digest, .. } => {
                prop_assert_eq!(run, self.place());
                self.may_execute(*worker, *attempt, *digest, world)?;
            }
            ActionEvent::Completed { attempt, executed, exit, .. } => {
                self.completed += 1;
                prop_assert_eq!(self.completed, 1, "completed once");
                let started = self.redeemed.contains(attempt);
                prop_assert!(started || exit.is_not_started(), "completed without having started");
                prop_assert_eq!(*executed, self.digest);
            }
            ActionEvent::Quarantined { worker, attempt, .. } => prop_assert!(self.held_by(*worker, *attempt)),
            ActionEvent::Proposed { .. }
            | ActionEvent::Rejected { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::Postponed { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::DeadlineLapsed
            | ActionEvent::Resolved { resolution: Resolution::Abandon, .. }
            | ActionEvent::Assigned { .. }
            | ActionEvent::Deferred { .. } => {}
        }
        Ok(())
    }

    /// Where its run stands when it is executed.
    const fn place(&self) -> RunStatus {
        if self.performing { RunStatus::PendingExport } else { RunStatus::Executing }
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
        prop_assert!(self.authors.may_approve(approval.reviewer), "{who:?} wrote it");
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
