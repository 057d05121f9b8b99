//! A person's passkeys: added and given up by whoever has just come in, counted whenever they sign.
//!
//! Whoever has a passkey is let near them by a passkey only: a link or a password that fell into wrong hands neither adds one nor takes one
//! away. Who lost theirs asks an administrator, and that is on the record.

use super::{Actor, Doors, Entrance, Identity, IdentityEvent};
use crate::digest::Digest;
use crate::passkey::{Attested, Encoded, Proof, Purpose};
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

pub(super) fn add(
    identity: &Identity,
    attested: &Attested,
    name: &str,
    visit: Digest,
    now: Timestamp,
) -> Result<IdentityEvent, Refusal> {
    has_just_come_in(identity, visit, now)?;
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
    Ok(IdentityEvent::PasskeyAdded { passkey: Box::new(passkey), visit })
}

/// One's own, from a visit that a passkey has just begun; or somebody's, by an administrator.
pub(super) fn remove(
    identity: &Identity,
    credential: &Encoded,
    visit: Option<Digest>,
    actor: &Actor,
    now: Timestamp,
) -> Result<IdentityEvent, Refusal> {
    identity.doors.passkey(credential).ok_or(Refusal::Unknown { what: "passkey" })?;
    if actor.identity().is_some_and(|actor| actor.id == identity.id) {
        has_just_come_in(identity, visit.ok_or(Refusal::StaleVisit)?, now)?;
    }
    Ok(IdentityEvent::PasskeyRemoved { credential: credential.clone() })
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

/// Whether this visit has just begun, by a passkey where they have one.
pub fn has_just_come_in(identity: &Identity, visit: Digest, now: Timestamp) -> Result<(), Refusal> {
    let visit = identity.doors.visit(visit, now).ok_or(Refusal::Unknown { what: "visit" })?;
    let is_fresh = visit.entered_at.is_some_and(|at| now < at.plus_ms(FRESH_VISIT_MS));
    let by_passkey = visit.by_passkey || identity.doors.passkeys().is_empty();
    if is_fresh && by_passkey { Ok(()) } else { Err(Refusal::StaleVisit) }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| !c.is_control() && !crate::text::is_invisible(c);
    if !name.is_empty() && name.trim() == name && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        return Ok(());
    }
    Err(Refusal::invalid("a passkey has a name of 1 to 60 bytes of visible text"))
}
