//! Who there is, as the entries tell it, and whether what was done to them was signed where it had to be, by somebody who might do it.

use std::collections::BTreeMap;

use super::{Checker, Told, What, Wrong};
use crate::id::IdentityId;
use crate::identity::{Actor, Identity, IdentityEvent, could_be, evolve, is_guarded};
use crate::passkey::{Change, Purpose, Signing};
use crate::refusal::PasskeyFlaw;

#[derive(Debug, Clone, Default)]
pub(super) struct People(BTreeMap<IdentityId, Identity>);

impl People {
    pub(super) fn get(&self, id: IdentityId) -> Option<&Identity> {
        self.0.get(&id)
    }

    /// Somebody who was registered, and not revoked.
    pub(super) fn standing(&self, id: IdentityId) -> Option<&Identity> {
        self.get(id).filter(|person| !person.revoked)
    }

    pub(super) fn has_passkeys(&self, id: IdentityId) -> bool {
        self.get(id).is_some_and(|person| !person.doors.passkeys().is_empty())
    }

    /// Who is said to have done something, if there ever was such a one.
    fn actor(&self, by: Option<IdentityId>) -> Option<Actor> {
        by.map_or(Some(Actor::Runtime), |by| self.get(by).cloned().map(Actor::Identity))
    }

    /// As the runtime itself follows them.
    fn follow(&mut self, id: IdentityId, event: &IdentityEvent) {
        if let Some(after) = evolve(id, self.0.remove(&id), event) {
            self.0.insert(id, after);
        }
    }
}

impl Checker {
    pub(super) fn read_person(&mut self, told: Told, of: IdentityId, event: &IdentityEvent) {
        let wrong = self.door_flaw(told, of, event).or_else(|| self.unlawful(told, of, event));
        if let Some(wrong) = wrong {
            self.found(told, what(of, event), wrong);
        }
        self.people.follow(of, event);
        // The approvals of a revoked identity are void from here on, regardless of the entries that follow.
        if *event == IdentityEvent::Revoked {
            self.reviews.values_mut().for_each(|review| review.void(of));
        }
    }

    /// Whoever has passkeys keeps them: what could get around them was signed.
    fn door_flaw(&mut self, told: Told, of: IdentityId, event: &IdentityEvent) -> Option<Wrong> {
        if let IdentityEvent::PasskeysEnded { .. } = event {
            return self.ended_elsewhere(told);
        }
        let (change, signing) = change(event)?;
        match (signing, told.by) {
            (None, by) => {
                let by = by.and_then(|by| self.people.get(by));
                self.people.get(of).is_some_and(|of| is_guarded(of, by)).then_some(Wrong::Unsigned)
            }
            (Some(_), None) => Some(Wrong::False(PasskeyFlaw::Unknown)),
            (Some(signing), Some(by)) => match self.check(told, by, Purpose::Change { by, of, change }, signing) {
                Ok(()) => {
                    self.checked.doors += 1;
                    None
                }
                Err(flaw) => Some(Wrong::False(flaw)),
            },
        }
    }

    /// Only the host ends passkeys without a signature; how often it did is told.
    fn ended_elsewhere(&mut self, told: Told) -> Option<Wrong> {
        if told.by.is_some() {
            return Some(Wrong::Unsigned);
        }
        self.checked.ended_on_host += 1;
        None
    }

    /// Whether there is nobody whom it could be of or by, or somebody who may not do it.
    fn unlawful(&self, told: Told, of: IdentityId, event: &IdentityEvent) -> Option<Wrong> {
        let is_new = matches!(event, IdentityEvent::Registered { .. });
        if !is_new && self.people.standing(of).is_none() {
            return Some(Wrong::Nobody);
        }
        let Some(actor) = self.people.actor(told.by) else { return Some(Wrong::Nobody) };
        let is_over = actor.identity().is_some_and(|by| by.revoked);
        let wrong = if is_over { Wrong::Nobody } else { Wrong::MayNot };
        could_be(event, self.people.get(of), &actor).is_err().then_some(wrong)
    }
}

fn what(of: IdentityId, event: &IdentityEvent) -> What {
    match (change(event), event) {
        (Some((change, _)), _) => What::Door { of, change: change.word() },
        (None, IdentityEvent::PasskeysEnded { .. }) => What::Door { of, change: "end" },
        (None, other) => What::Person { of, kind: other.meta().kind },
    }
}

/// What an event changes of somebody's doors, and how it was signed; nothing, where it changes none that a passkey guards.
fn change(event: &IdentityEvent) -> Option<(Change, Option<&Signing>)> {
    let (change, signing) = match event {
        IdentityEvent::PasskeyAdded { passkey, signing, .. } => (Change::adding(passkey), signing),
        IdentityEvent::PasskeyRemoved { credential, signing } => {
            (Change::Remove { credential: credential.clone() }, signing)
        }
        IdentityEvent::Invited { signing, .. } => (Change::Link, signing),
        IdentityEvent::TokenReplaced { signing, .. } => (Change::Token, signing),
        IdentityEvent::PasswordSet { signing, .. } => (Change::Password, signing),
        IdentityEvent::Registered { .. }
        | IdentityEvent::Revoked
        | IdentityEvent::Entered { .. }
        | IdentityEvent::Left { .. }
        | IdentityEvent::PasskeyUsed { .. }
        | IdentityEvent::PasskeysEnded { .. }
        | IdentityEvent::WentAway { .. }
        | IdentityEvent::CameBack
        | IdentityEvent::StandInUnreached { .. }
        | IdentityEvent::Declared { .. } => return None,
    };
    Some((change, signing.as_deref()))
}
