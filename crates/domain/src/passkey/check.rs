//! The stranger's check: from the entries of a ledger alone, whether everything that a passkey had to sign was signed, by a passkey that its
//! person had at that moment, for exactly that; whether whoever did it was there and might do it; and whether as many people approved what was
//! executed, once for each time, as its verdict asks for. What had to be follows from the entries too: who there is, who has which passkeys, whether they were
//! demanded of everybody, how many people were asked.
//!
//! It needs no control plane, no secret and no trust in whoever wrote the entries: a false signing is found whoever put it there, and so is
//! one that was left out. What it cannot tell is who held the authenticator, whether a person's first passkey was theirs, whether the rules
//! asked for as many people as they should have, and whether those were independent of whoever proposed it.

mod finding;
mod people;
mod reviews;

use std::collections::{BTreeMap, BTreeSet};

pub use finding::{Checked, Finding, What, Wrong};
use people::People;
use reviews::Review;

use super::{Purpose, Question, Signing};
use crate::action::ActionEvent;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::organisation::OrganisationEvent;
use crate::record::{Event, Record};
use crate::refusal::PasskeyFlaw;
use crate::time::Timestamp;

/// Reads entries from the first one on, in their order.
#[derive(Debug, Clone, Default)]
pub struct Checker {
    people: People,
    /// Whether everybody signs where two people are asked.
    demanded: bool,
    /// Signatures that were seen, by their digests: each counts once.
    seen: BTreeSet<[u8; 32]>,
    /// The bytes of each action, by their digest.
    proposed: BTreeMap<ActionId, Digest>,
    /// What stands to be approved of each action, and who did.
    reviews: BTreeMap<ActionId, Review>,
    checked: Checked,
}

/// What the envelope of an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub seq: u64,
    pub at: Timestamp,
    /// Who did it; nobody, where the host did.
    pub by: Option<IdentityId>,
}

impl Checker {
    pub fn read(&mut self, told: Told, record: &Record) {
        match &record.event {
            Event::Identity(id, event) => self.read_person(told, *id, event),
            Event::Action(action, event) => self.read_action(told, *action, event),
            Event::Organisation(event) => self.follow_demand(event),
            Event::Project(..)
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

    fn read_action(&mut self, told: Told, action: ActionId, event: &ActionEvent) {
        if let ActionEvent::Approved { approval, .. } = event {
            self.check_approval(told, action, approval);
        }
        self.check_bytes(told, action, event);
        self.follow_review(action, event);
        self.check_permission(told, action, event);
        self.end_review(action, event);
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

    fn found(&mut self, told: Told, what: What, wrong: Wrong) {
        self.checked.findings.push(Finding { seq: told.seq, what, wrong });
    }

    fn check(&mut self, told: Told, by: IdentityId, purpose: Purpose, signing: &Signing) -> Result<(), PasskeyFlaw> {
        let Signing { asked_at, nonce, assertion } = signing;
        let question = Question { purpose, asked_at: *asked_at, nonce: nonce.clone() };
        let passkey = self.people.get(by).and_then(|person| person.doors.passkey(&assertion.credential));
        passkey.ok_or(PasskeyFlaw::Unknown)?.signed(&question, assertion)?;
        if !question.is_open(told.at) {
            return Err(PasskeyFlaw::Late);
        }
        // One challenge is answered once, whatever the signature looks like.
        let is_new = self.seen.insert(*Digest::of(assertion.client_data.as_bytes()).as_bytes());
        if is_new { Ok(()) } else { Err(PasskeyFlaw::Replayed) }
    }
}
