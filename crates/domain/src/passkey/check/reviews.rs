//! Who approved what, as the entries tell it: signed where it had to be, by somebody who decides, and by as many people as its verdict asks for
//! before anything is executed; what was judged and executed is what was proposed, and what was approved is executed once.

use std::collections::BTreeSet;

use super::people::People;
use super::{Checker, Told, What, Wrong};
use crate::action::{ActionEvent, Resolution};
use crate::approval::{Approval, review_digest};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::identity::Role;
use crate::passkey::Purpose;
use crate::policy::{Ruling, Verdict};
use crate::refusal::PasskeyFlaw;

/// What stands to be approved: worked out from its verdict.
#[derive(Debug, Clone)]
pub(super) struct Review {
    /// What a passkey signs.
    card: Digest,
    /// What approvals name.
    named: Digest,
    ruling: Ruling,
    /// Who said yes to it since it was asked: each is one person, however often they said so.
    by: BTreeSet<IdentityId>,
    /// Whether it was begun, rejected or otherwise ended: then nothing more comes of it, unless somebody has it tried again.
    is_over: bool,
}

impl Review {
    fn of(verdict: &Verdict, named: Digest) -> Self {
        Self { card: review_digest(verdict), named, ruling: verdict.ruling(), by: BTreeSet::new(), is_over: false }
    }

    const fn is_of_two(&self) -> bool {
        matches!(self.ruling, Ruling::Ask { approvals } if approvals >= 2)
    }

    fn permits(&self) -> bool {
        let suffices = match self.ruling {
            Ruling::Allow => true,
            Ruling::Ask { approvals } => self.by.len() >= approvals,
            Ruling::Deny => false,
        };
        suffices && !self.is_over
    }

    /// Counts an approval, unless the reviewer is a relative of an earlier approver and therefore not a second person.
    fn take_yes(&mut self, reviewer: IdentityId, people: &People) {
        let lineage = |id: IdentityId| people.get(id).map(|person| person.lineage.clone()).unwrap_or_default();
        let is_kin =
            |other: &IdentityId| people.get(reviewer).is_some_and(|person| person.is_kin_of(*other, &lineage(*other)));
        if !self.by.iter().any(is_kin) {
            self.by.insert(reviewer);
        }
    }

    /// Removes the approval of a revoked reviewer, unless the action was started or its review has ended.
    pub(super) fn void(&mut self, reviewer: IdentityId) {
        if !self.is_over {
            self.by.remove(&reviewer);
        }
    }

    /// It is asked once more: whoever said yes said it to what was before.
    fn ask_again(&mut self) {
        self.by.clear();
        self.is_over = false;
    }
}

impl Checker {
    /// Where two people are asked, everybody signs of whom it is demanded.
    pub(super) fn check_approval(&mut self, told: Told, action: ActionId, approval: &Approval) {
        let what = What::Approval { action, reviewer: approval.reviewer };
        let wrong = self.approval_flaw(told, action, approval).or_else(|| self.no_reviewer(told, approval));
        if let Some(wrong) = wrong {
            self.found(told, what, wrong);
        }
    }

    fn approval_flaw(&mut self, told: Told, action: ActionId, approval: &Approval) -> Option<Wrong> {
        let (reviewer, review) = (approval.reviewer, self.reviews.get(&action));
        // Of what was never judged nobody knows how many people it takes.
        let of_two = review.is_none_or(Review::is_of_two);
        // What was signed is what was judged: the harmless card of another verdict is none of this one.
        let stands = review.is_some_and(|review| review.card == approval.review);
        let Some(signing) = &approval.signing else {
            let is_needed = of_two && (self.demanded || self.people.has_passkeys(reviewer));
            return is_needed.then_some(Wrong::Unsigned);
        };
        let purpose = Purpose::Approve { person: reviewer, action, review: approval.review };
        let checked = self.check(told, reviewer, purpose, signing);
        match if stands { checked } else { checked.and(Err(PasskeyFlaw::OtherPurpose)) } {
            Ok(()) => {
                self.checked.signed += 1;
                None
            }
            Err(flaw) => Some(Wrong::False(flaw)),
        }
    }

    /// An approval is by whoever it names, a reviewer who is there. By an order it is recorded when an agent proposes something.
    fn no_reviewer(&self, told: Told, approval: &Approval) -> Option<Wrong> {
        let Some(reviewer) = self.people.standing(approval.reviewer) else { return Some(Wrong::Nobody) };
        let is_theirs = approval.order.is_some() || told.by == Some(reviewer.id);
        (!is_theirs || !reviewer.has(Role::Reviewer)).then_some(Wrong::MayNot)
    }

    /// What is judged, begun and done is what was proposed: the digest of its bytes stands in each of these entries.
    pub(super) fn check_bytes(&mut self, told: Told, action: ActionId, event: &ActionEvent) {
        let named = match event {
            ActionEvent::Proposed { digest, .. } => {
                self.proposed.entry(action).or_insert(*digest);
                *digest
            }
            ActionEvent::Judged { verdict, .. } => verdict.action(),
            ActionEvent::Redeemed { digest, .. } => *digest,
            ActionEvent::Completed { executed, .. } => *executed,
            ActionEvent::Rehearsed
            | ActionEvent::ToBePerformed { .. }
            | ActionEvent::Approved { .. }
            | ActionEvent::ApprovalsVoided { .. }
            | ActionEvent::Rejected { .. }
            | ActionEvent::Superseded { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::Leased { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::Postponed { .. }
            | ActionEvent::Quarantined { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::DeadlineLapsed
            | ActionEvent::Resolved { .. }
            | ActionEvent::Assigned { .. }
            | ActionEvent::Deferred { .. } => return,
        };
        if self.proposed.get(&action) != Some(&named) {
            self.found(told, What::Permission { action, kind: event.meta().kind }, Wrong::OtherBytes);
        }
    }

    /// As the runtime itself does: whatever is judged, performed or tried again is approved anew. To judge brings nothing back that is over.
    pub(super) fn follow_review(&mut self, action: ActionId, event: &ActionEvent) {
        match event {
            ActionEvent::Judged { verdict, review, .. } => {
                let is_over = self.reviews.get(&action).is_some_and(|before| before.is_over);
                self.reviews.insert(action, Review { is_over, ..Review::of(verdict, *review) });
            }
            ActionEvent::Approved { approval, .. } => {
                let review = self.reviews.get_mut(&action).filter(|review| review.named == approval.review);
                let people = &self.people;
                review.into_iter().for_each(|review| review.take_yes(approval.reviewer, people));
            }
            ActionEvent::ApprovalsVoided { of, .. } => {
                self.reviews.get_mut(&action).into_iter().for_each(|review| review.void(*of));
            }
            ActionEvent::Resolved { resolution: Resolution::Retry, .. } => {
                self.reviews.get_mut(&action).into_iter().for_each(Review::ask_again);
            }
            ActionEvent::ToBePerformed { .. } => {
                self.reviews.get_mut(&action).into_iter().for_each(|review| review.by.clear());
            }
            ActionEvent::Proposed { .. }
            | ActionEvent::Rehearsed
            | ActionEvent::Rejected { .. }
            | ActionEvent::Superseded { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::Leased { .. }
            | ActionEvent::Redeemed { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::Postponed { .. }
            | ActionEvent::Completed { .. }
            | ActionEvent::Quarantined { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::DeadlineLapsed
            | ActionEvent::Resolved { resolution: Resolution::Abandon, .. }
            // Who should look at it changes nothing of what is asked.
            | ActionEvent::Assigned { .. }
            | ActionEvent::Deferred { .. } => {}
        }
    }

    /// What was begun is not begun again, and what was refused, replaced or too late not at all.
    pub(super) fn end_review(&mut self, action: ActionId, event: &ActionEvent) {
        let ends = match event {
            ActionEvent::Redeemed { .. }
            | ActionEvent::Rejected { .. }
            | ActionEvent::Superseded { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::DeadlineLapsed => true,
            ActionEvent::Proposed { .. }
            | ActionEvent::Judged { .. }
            | ActionEvent::Rehearsed
            | ActionEvent::ToBePerformed { .. }
            | ActionEvent::Approved { .. }
            | ActionEvent::ApprovalsVoided { .. }
            | ActionEvent::Leased { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::Postponed { .. }
            | ActionEvent::Completed { .. }
            | ActionEvent::Quarantined { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::Resolved { .. }
            | ActionEvent::Assigned { .. }
            | ActionEvent::Deferred { .. } => false,
        };
        self.reviews.get_mut(&action).filter(|_| ends).into_iter().for_each(|review| review.is_over = true);
    }

    /// Nothing is called approved, handed to a worker or begun that fewer people approved than were asked.
    pub(super) fn check_permission(&mut self, told: Told, action: ActionId, event: &ActionEvent) {
        let says_so = match event {
            ActionEvent::Approved { complete, .. } => *complete,
            ActionEvent::Leased { .. } | ActionEvent::Redeemed { .. } => true,
            ActionEvent::Proposed { .. }
            | ActionEvent::Judged { .. }
            | ActionEvent::Rehearsed
            | ActionEvent::ToBePerformed { .. }
            | ActionEvent::ApprovalsVoided { .. }
            | ActionEvent::Rejected { .. }
            | ActionEvent::Superseded { .. }
            | ActionEvent::Withdrawn { .. }
            | ActionEvent::Renewed { .. }
            | ActionEvent::Postponed { .. }
            | ActionEvent::Completed { .. }
            | ActionEvent::Quarantined { .. }
            | ActionEvent::LeaseLapsed { .. }
            | ActionEvent::DeadlineLapsed
            | ActionEvent::Resolved { .. }
            | ActionEvent::Assigned { .. }
            | ActionEvent::Deferred { .. } => false,
        };
        let is_permitted = self.reviews.get(&action).is_some_and(Review::permits);
        if says_so && !is_permitted {
            self.found(told, What::Permission { action, kind: event.meta().kind }, Wrong::Unapproved);
        }
    }
}
