//! The stranger's check: from the entries of a ledger alone, whether everything that a passkey had to sign was signed, by a passkey that its
//! person had at that moment, for exactly that. What had to be follows from the entries too: who has which passkeys, whether they were
//! demanded of everybody, how many people were asked.
//!
//! It needs no control plane, no secret and no trust in whoever wrote the entries: a false signing is found whoever put it there, and so is
//! one that was left out. What it cannot tell is who held the authenticator, whether a person's first passkey was theirs, and whether the rules
//! asked for as many people as they should have.

mod finding;

use std::collections::{BTreeMap, BTreeSet};

pub use finding::{Checked, Finding, What, Wrong};

use super::{Change, Passkey, Purpose, Question, Signing};
use crate::action::ActionEvent;
use crate::approval::{Approval, review_digest};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::identity::IdentityEvent;
use crate::organisation::OrganisationEvent;
use crate::policy::{Ruling, Verdict};
use crate::record::{Event, Record};
use crate::refusal::PasskeyFlaw;
use crate::time::Timestamp;

/// Reads entries from the first one on, in their order.
#[derive(Debug, Clone, Default)]
pub struct Checker {
    passkeys: BTreeMap<IdentityId, Vec<Passkey>>,
    /// Whether everybody signs where two people are asked.
    demanded: bool,
    /// Signatures that were seen, by their digests: each counts once.
    seen: BTreeSet<[u8; 32]>,
    /// What stands to be approved of each action: worked out from its verdict.
    asked: BTreeMap<ActionId, Asked>,
    checked: Checked,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    review: Digest,
    of_two: bool,
}

/// What the envelope of an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub seq: u64,
    pub at: Timestamp,
    /// Who did it; nobody, where the host did.
    pub by: Option<IdentityId>,
}

impl Asked {
    fn by(verdict: &Verdict) -> Self {
        let of_two = matches!(verdict.ruling(), Ruling::Ask { approvals } if approvals >= 2);
        Self { review: review_digest(verdict), of_two }
    }
}

impl Checker {
    pub fn read(&mut self, told: Told, record: &Record) {
        match &record.event {
            Event::Identity(id, event) => {
                self.check_door(told, *id, event);
                self.follow(*id, event);
            }
            Event::Action(action, ActionEvent::Judged { verdict, .. }) => {
                self.asked.insert(*action, Asked::by(verdict));
            }
            Event::Action(action, ActionEvent::Approved { approval, .. }) => {
                self.check_approval(told, *action, approval)
            }
            Event::Organisation(event) => self.follow_demand(event),
            Event::Action(..)
            | Event::Project(..)
            | Event::Run(..)
            | Event::Worktree(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::Started(_) => {}
        }
    }

    pub fn finish(self) -> Checked {
        self.checked
    }

    fn follow_demand(&mut self, event: &OrganisationEvent) {
        match event {
            OrganisationEvent::PasskeysDemanded { .. } => self.demanded = true,
            OrganisationEvent::PasskeysReleased { .. } => self.demanded = false,
            OrganisationEvent::BudgetSet { .. }
            | OrganisationEvent::Allotted { .. }
            | OrganisationEvent::Halted { .. }
            | OrganisationEvent::Released { .. }
            | OrganisationEvent::SafeModeEntered { .. }
            | OrganisationEvent::SafeModeLeft { .. } => {}
        }
    }

    fn follow(&mut self, id: IdentityId, event: &IdentityEvent) {
        let passkeys = self.passkeys.entry(id).or_default();
        match event {
            IdentityEvent::PasskeyAdded { passkey, .. } => passkeys.push((**passkey).clone()),
            IdentityEvent::PasskeyRemoved { credential, .. } => {
                passkeys.retain(|known| known.credential != *credential);
            }
            IdentityEvent::TokenReplaced { .. } | IdentityEvent::Revoked | IdentityEvent::PasskeysEnded { .. } => {
                passkeys.clear();
            }
            IdentityEvent::Registered { .. }
            | IdentityEvent::Invited { .. }
            | IdentityEvent::Entered { .. }
            | IdentityEvent::Left { .. }
            | IdentityEvent::PasswordSet { .. }
            | IdentityEvent::PasskeyUsed { .. }
            | IdentityEvent::WentAway { .. }
            | IdentityEvent::CameBack
            | IdentityEvent::StandInUnreached { .. } => {}
        }
    }

    fn has_passkeys(&self, id: IdentityId) -> bool {
        self.passkeys.get(&id).is_some_and(|passkeys| !passkeys.is_empty())
    }

    /// Where two people are asked, everybody signs of whom it is demanded.
    fn check_approval(&mut self, told: Told, action: ActionId, approval: &Approval) {
        let reviewer = approval.reviewer;
        let asked = self.asked.get(&action).copied();
        // Of what was never judged nobody knows how many people it takes.
        let of_two = asked.is_none_or(|asked| asked.of_two);
        let is_needed = of_two && (self.demanded || self.has_passkeys(reviewer));
        let Some(signing) = &approval.signing else {
            if is_needed {
                self.found(told, What::Approval { action, reviewer }, Wrong::Unsigned);
            }
            return;
        };
        let purpose = Purpose::Approve { person: reviewer, action, review: approval.review };
        // What was signed is what was judged: the harmless card of another verdict is none of this one.
        let stands = asked.is_some_and(|asked| asked.review == approval.review);
        let checked = self.check(told, reviewer, purpose, signing);
        match if stands { checked } else { checked.and(Err(PasskeyFlaw::OtherPurpose)) } {
            Ok(()) => self.checked.signed += 1,
            Err(flaw) => self.found(told, What::Approval { action, reviewer }, Wrong::False(flaw)),
        }
    }

    /// Whoever has passkeys keeps them: what could get around them was signed.
    fn check_door(&mut self, told: Told, of: IdentityId, event: &IdentityEvent) {
        let (change, signing) = match event {
            IdentityEvent::PasskeyAdded { passkey, signing, .. } => (Change::adding(passkey), signing),
            IdentityEvent::PasskeyRemoved { credential, signing } => {
                (Change::Remove { credential: credential.clone() }, signing)
            }
            IdentityEvent::Invited { signing, .. } => (Change::Link, signing),
            IdentityEvent::TokenReplaced { signing, .. } => (Change::Token, signing),
            IdentityEvent::PasswordSet { signing, .. } => (Change::Password, signing),
            IdentityEvent::PasskeysEnded { .. } => return self.check_ended(told, of),
            IdentityEvent::Registered { .. }
            | IdentityEvent::Revoked
            | IdentityEvent::Entered { .. }
            | IdentityEvent::Left { .. }
            | IdentityEvent::PasskeyUsed { .. }
            | IdentityEvent::WentAway { .. }
            | IdentityEvent::CameBack
            | IdentityEvent::StandInUnreached { .. } => return,
        };
        let what = What::Door { of, change: change.word() };
        match (signing, told.by) {
            (None, _) if self.has_passkeys(of) => self.found(told, what, Wrong::Unsigned),
            (None, _) => {}
            (Some(_), None) => self.found(told, what, Wrong::False(PasskeyFlaw::Unknown)),
            (Some(signing), Some(by)) => match self.check(told, by, Purpose::Change { by, of, change }, signing) {
                Ok(()) => self.checked.doors += 1,
                Err(flaw) => self.found(told, what, Wrong::False(flaw)),
            },
        }
    }

    /// Only the host ends passkeys without a signature; how often it did is told.
    fn check_ended(&mut self, told: Told, of: IdentityId) {
        match told.by {
            None => self.checked.ended_on_host += 1,
            Some(_) => self.found(told, What::Door { of, change: "end" }, Wrong::Unsigned),
        }
    }

    fn found(&mut self, told: Told, what: What, wrong: Wrong) {
        self.checked.findings.push(Finding { seq: told.seq, what, wrong });
    }

    fn check(&mut self, told: Told, by: IdentityId, purpose: Purpose, signing: &Signing) -> Result<(), PasskeyFlaw> {
        let Signing { asked_at, nonce, assertion } = signing;
        let question = Question { purpose, asked_at: *asked_at, nonce: nonce.clone() };
        let known = self.passkeys.get(&by).into_iter().flatten();
        let passkey = known.into_iter().find(|passkey| passkey.credential == assertion.credential);
        passkey.ok_or(PasskeyFlaw::Unknown)?.signed(&question, assertion)?;
        if !question.is_open(told.at) {
            return Err(PasskeyFlaw::Late);
        }
        // One challenge is answered once, whatever the signature looks like.
        let is_new = self.seen.insert(*Digest::of(assertion.client_data.as_bytes()).as_bytes());
        if is_new { Ok(()) } else { Err(PasskeyFlaw::Replayed) }
    }
}
