//! The stranger's check: from the entries of a ledger alone, whether every approval that says a passkey signed it was signed by a passkey
//! that its person had at that moment, for exactly that action and review.
//!
//! It needs no control plane, no secret and no trust in whoever wrote the entries: a false signing is found whoever put it there. What it
//! cannot tell is who held the authenticator, and whether a passkey that was added belonged to its person.

use std::collections::{BTreeMap, BTreeSet};

use super::{Passkey, Purpose, Question, Signing};
use crate::action::ActionEvent;
use crate::approval::review_digest;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::identity::IdentityEvent;
use crate::record::{Event, Record};
use crate::refusal::PasskeyFlaw;

/// Reads entries from the first one on, in their order.
#[derive(Debug, Clone, Default)]
pub struct Checker {
    passkeys: BTreeMap<IdentityId, Vec<Passkey>>,
    /// Signatures that were seen, by their digests: each counts once.
    seen: BTreeSet<[u8; 32]>,
    /// What stands to be approved of each action: the digest of its verdict, worked out from the verdict itself.
    reviews: BTreeMap<ActionId, Digest>,
    checked: Checked,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Approvals that a passkey signed, each checked.
    pub signed: u64,
    pub false_signings: Vec<FalseSigning>,
}

/// An approval that says a passkey signed it, and none did.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: the approval of {action} by {reviewer} is not signed as it says: {flaw}")]
pub struct FalseSigning {
    pub seq: u64,
    pub action: ActionId,
    pub reviewer: IdentityId,
    pub flaw: PasskeyFlaw,
}

impl Checker {
    pub fn read(&mut self, seq: u64, record: &Record) {
        match &record.event {
            Event::Identity(id, event) => self.follow(*id, event),
            Event::Action(action, ActionEvent::Judged { verdict, .. }) => {
                self.reviews.insert(*action, review_digest(verdict));
            }
            Event::Action(action, ActionEvent::Approved { approval, .. }) => {
                let Some(signing) = &approval.signing else { return };
                let purpose = Purpose::Approve { action: *action, review: approval.review };
                // What was signed is what was judged: the harmless card of another verdict is none of this one.
                let stands = self.reviews.get(action) == Some(&approval.review);
                let checked = self.check(approval.reviewer, purpose, signing);
                match if stands { checked } else { checked.and(Err(PasskeyFlaw::OtherPurpose)) } {
                    Ok(()) => self.checked.signed += 1,
                    Err(flaw) => {
                        let (action, reviewer) = (*action, approval.reviewer);
                        self.checked.false_signings.push(FalseSigning { seq, action, reviewer, flaw });
                    }
                }
            }
            Event::Action(..)
            | Event::Organisation(_)
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

    fn follow(&mut self, id: IdentityId, event: &IdentityEvent) {
        let passkeys = self.passkeys.entry(id).or_default();
        match event {
            IdentityEvent::PasskeyAdded { passkey, .. } => passkeys.push((**passkey).clone()),
            IdentityEvent::PasskeyRemoved { credential } => passkeys.retain(|known| known.credential != *credential),
            IdentityEvent::TokenReplaced { .. } | IdentityEvent::Revoked => passkeys.clear(),
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

    fn check(&mut self, reviewer: IdentityId, purpose: Purpose, signing: &Signing) -> Result<(), PasskeyFlaw> {
        let Signing { asked_at, nonce, assertion } = signing;
        let question = Question { purpose, asked_at: *asked_at, nonce: nonce.clone() };
        let known = self.passkeys.get(&reviewer).into_iter().flatten();
        let passkey = known.into_iter().find(|passkey| passkey.credential == assertion.credential);
        passkey.ok_or(PasskeyFlaw::Unknown)?.signed(&question, assertion)?;
        // One challenge is answered once, whatever the signature looks like.
        let is_new = self.seen.insert(*Digest::of(assertion.client_data.as_bytes()).as_bytes());
        if is_new { Ok(()) } else { Err(PasskeyFlaw::Replayed) }
    }
}
