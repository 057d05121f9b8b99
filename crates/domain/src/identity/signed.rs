//! Changes of doors are signed: whoever has passkeys keeps them against whoever has a cookie, a token or a password of theirs, and against
//! administrators who have no passkey themselves. And whoever has the token of an administrator with passkeys lets nobody in as another
//! administrator, who could sign in their place.
//!
//! What is not signed is that somebody is registered, an administrator included: that entry is what shows it.
//!
//! The first passkey of a person is not signed, because there is nothing to sign it with. Where all are lost, another administrator signs, or
//! whoever keeps the files of the host ends them there, which is an entry of its own kind.

use super::{Actor, Identity, IdentityEvent, Role};
use crate::passkey::{Change, Proof, Purpose, Signing};
use crate::prose::check_reason;
use crate::refusal::{Obstacle, PasskeyFlaw, Refusal};
use crate::time::Timestamp;

/// Whether a change of somebody's doors takes a passkey of whoever makes it.
pub fn is_guarded(identity: &Identity, by: Option<&Identity>) -> bool {
    let has_passkeys = |person: &Identity| !person.doors.passkeys().is_empty();
    has_passkeys(identity) || (identity.has(Role::Admin) && by.is_some_and(has_passkeys))
}

/// What is recorded of the signature of a change. Nothing, where nobody has a passkey that it could get around.
pub(super) fn signing(
    identity: &Identity,
    change: Change,
    proof: Option<&Proof>,
    actor: &Actor,
    now: Timestamp,
) -> Result<Option<Box<Signing>>, Refusal> {
    let Some(proof) = proof else {
        return if is_guarded(identity, actor.identity()) { Err(Refusal::DoorUnsigned) } else { Ok(None) };
    };
    let by = actor.identity().ok_or(PasskeyFlaw::Unknown)?;
    proof.counts_for(by, now)?;
    if proof.question().purpose != (Purpose::Change { by: by.id, of: identity.id, change }) {
        return Err(PasskeyFlaw::OtherChallenge.into());
    }
    Ok(Some(Box::new(proof.signing())))
}

/// By the host alone: nobody who asks from elsewhere is the runtime.
pub(super) fn end(identity: &Identity, reason: &str, actor: &Actor) -> Result<IdentityEvent, Refusal> {
    if *actor != Actor::Runtime {
        return Err(Refusal::DoorUnsigned);
    }
    check_reason(reason)?;
    if identity.doors.passkeys().is_empty() {
        return Err(Refusal::not_now("ended", Obstacle::WithoutPasskeys));
    }
    Ok(IdentityEvent::PasskeysEnded { reason: reason.to_owned() })
}
