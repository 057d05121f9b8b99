//! A person's passkeys: what lets in by one, what may become one, and how often each has signed. Who may change them is in [`super::signed`].

use super::{Doors, Entrance, Identity, IdentityEvent};
use crate::digest::Digest;
use crate::passkey::{Attested, Encoded, Passkey, Proof, Purpose};
use crate::refusal::{PasskeyFlaw, Refusal};
use crate::time::Timestamp;

/// A screen that somebody left is not one where they have just come in.
pub const FRESH_VISIT_MS: u64 = 10 * 60 * 1_000;
/// More than anybody carries around.
const MOST_PASSKEYS: usize = 8;
const LONGEST_NAME: usize = 60;

/// What lets in whoever proved that their passkey signed that.
pub(super) fn entrance(identity: &Identity, proof: &Proof, now: Timestamp) -> Result<Entrance, Refusal> {
    proof.counts_for(identity, now)?;
    if proof.question().purpose != Purpose::Enter {
        return Err(PasskeyFlaw::OtherPurpose.into());
    }
    Ok(Entrance::Passkey { credential: proof.credential().clone(), sign_count: proof.sign_count() })
}

/// A passkey that somebody could have: made for them a moment ago, and not theirs already.
pub(super) fn new(identity: &Identity, attested: &Attested, name: &str, now: Timestamp) -> Result<Passkey, Refusal> {
    check_name(name)?;
    if attested.question().purpose != (Purpose::Register { person: identity.id }) {
        return Err(PasskeyFlaw::OtherPurpose.into());
    }
    if !attested.question().is_open(now) {
        return Err(PasskeyFlaw::Late.into());
    }
    let passkey = attested.named(name);
    if identity.doors.passkey(&passkey.credential).is_some() {
        return Err(Refusal::Exists { what: "passkey" });
    }
    if identity.doors.passkeys().len() >= MOST_PASSKEYS {
        return Err(Refusal::invalid("a person has at most 8 passkeys; remove one that you do not use"));
    }
    Ok(passkey)
}

/// That a passkey signed something else than a visit. Keys that do not count leave nothing to remember.
pub(crate) fn used(identity: &Identity, proof: &Proof, now: Timestamp) -> Result<Option<IdentityEvent>, Refusal> {
    proof.counts_for(identity, now)?;
    let (credential, sign_count) = (proof.credential().clone(), proof.sign_count());
    Ok((sign_count > 0).then_some(IdentityEvent::PasskeyUsed { credential, sign_count }))
}

/// What is known of a passkey after it signed.
pub(super) fn count(doors: &mut Doors, credential: &Encoded, sign_count: u32) {
    if let Some(passkey) = doors.passkeys.iter_mut().find(|passkey| passkey.credential == *credential) {
        passkey.sign_count = sign_count;
    }
}

/// Whether somebody is in who may change a door from there: whoever has no passkey has just come in, and whoever has one signs.
pub fn has_come_in(identity: &Identity, visit: Digest, now: Timestamp) -> Result<(), Refusal> {
    let visit = identity.doors.visit(visit, now).ok_or(Refusal::Unknown { what: "visit" })?;
    let is_fresh = visit.entered_at.is_some_and(|at| now < at.plus_ms(FRESH_VISIT_MS));
    if is_fresh || !identity.doors.passkeys().is_empty() { Ok(()) } else { Err(Refusal::StaleVisit) }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| !crate::text::is_unseen(c);
    if !name.is_empty() && name.trim() == name && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        return Ok(());
    }
    Err(Refusal::invalid("a passkey has a name of 1 to 60 bytes of visible text"))
}
