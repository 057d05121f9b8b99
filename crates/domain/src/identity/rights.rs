//! Who may do what to somebody: one rule for what is decided here, and for what a stranger finds recorded.
//!
//! What is not here: whether a passkey had to sign it ([`super::signed`]).

use super::{Actor, Identity, IdentityEvent, Lineage, Reach, Role};
use crate::refusal::{Obstacle, Refusal};

/// Somebody who was not revoked.
pub(super) fn standing(state: Option<&Identity>) -> Result<&Identity, Refusal> {
    state.filter(|identity| !identity.revoked).ok_or(Refusal::Unknown { what: "identity" })
}

/// Whether there is somebody whom the actor may change.
pub(super) fn administered<'a>(state: Option<&'a Identity>, actor: &Actor) -> Result<&'a Identity, Refusal> {
    may_administer(actor)?;
    // Whoever could give it a new token would reach as far: to them it does not exist.
    let within = |identity: &&Identity| check_reach(&identity.reach, actor).is_ok();
    match state.filter(within) {
        None => Err(Refusal::Unknown { what: "identity" }),
        Some(identity) if identity.revoked => Err(Refusal::not_now("changed", Obstacle::IdentityRevoked)),
        Some(identity) => Ok(identity),
    }
}

pub(super) fn may_administer(actor: &Actor) -> Result<(), Refusal> {
    match actor {
        Actor::Runtime => Ok(()),
        Actor::Identity(identity) if identity.has(Role::Admin) => Ok(()),
        Actor::Identity(_) => Err(Refusal::Role { needed: Role::Admin }),
    }
}

/// Nobody hands out more than they have.
pub(super) fn check_reach(reach: &Reach, actor: &Actor) -> Result<(), Refusal> {
    match actor.identity() {
        Some(admin) if !reach.is_within(&admin.reach) => {
            Err(Refusal::invalid("name the projects it may see, and none that you do not see yourself"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Whoever could set somebody's password, or come in as them, would decide as them.
pub(super) fn self_alone(identity: &Identity, actor: &Actor) -> Result<(), Refusal> {
    match actor {
        Actor::Identity(actor) if actor.id == identity.id => Ok(()),
        Actor::Identity(_) | Actor::Runtime => Err(Refusal::Unknown { what: "identity" }),
    }
}

/// An administrator who sees everything that the person sees could give them a new token as well.
pub(super) fn self_or_admin(identity: &Identity, actor: &Actor) -> Result<(), Refusal> {
    match actor {
        Actor::Runtime => Ok(()),
        Actor::Identity(actor) if actor.id == identity.id => Ok(()),
        Actor::Identity(actor) if actor.has(Role::Admin) && identity.reach.is_within(&actor.reach) => Ok(()),
        Actor::Identity(_) => Err(Refusal::Unknown { what: "identity" }),
    }
}

/// Whether this could have been decided for whoever is said to have done it, to somebody as they were before.
pub(crate) fn could_be(event: &IdentityEvent, of: Option<&Identity>, actor: &Actor) -> Result<(), Refusal> {
    if is_agent_of_a_run(event, actor) {
        return if of.is_none() { Ok(()) } else { Err(Refusal::Exists { what: "identity" }) };
    }
    if actor.identity().is_some_and(|by| by.revoked) {
        return Err(Refusal::Revoked);
    }
    match event {
        IdentityEvent::Registered { .. } if of.is_some() => Err(Refusal::Exists { what: "identity" }),
        IdentityEvent::Registered { reach, .. } => may_administer(actor).and(check_reach(reach, actor)),
        IdentityEvent::TokenReplaced { .. } | IdentityEvent::Revoked => administered(of, actor).map(drop),
        IdentityEvent::Invited { .. }
        | IdentityEvent::Left { .. }
        | IdentityEvent::PasskeyRemoved { .. }
        | IdentityEvent::PasskeysEnded { .. }
        | IdentityEvent::WentAway { .. }
        | IdentityEvent::CameBack
        | IdentityEvent::StandInUnreached { .. } => self_or_admin(standing(of)?, actor),
        IdentityEvent::Entered { .. }
        | IdentityEvent::PasswordSet { .. }
        | IdentityEvent::PasskeyAdded { .. }
        | IdentityEvent::PasskeyUsed { .. }
        | IdentityEvent::Declared { .. } => self_alone(standing(of)?, actor),
    }
}

/// Whoever makes a run makes its agent with it, whatever else they may. A run is made by whoever was let in a moment ago: that they were
/// revoked meanwhile is no lie.
fn is_agent_of_a_run(event: &IdentityEvent, actor: &Actor) -> bool {
    let comes_from = |lineage: &Lineage| actor.identity().is_none_or(|by| lineage.includes(by.id));
    match event {
        IdentityEvent::Registered { roles, lineage, .. } => {
            roles.len() == 1 && roles.contains(&Role::Agent) && comes_from(lineage)
        }
        IdentityEvent::TokenReplaced { .. }
        | IdentityEvent::Revoked
        | IdentityEvent::Invited { .. }
        | IdentityEvent::Entered { .. }
        | IdentityEvent::Left { .. }
        | IdentityEvent::PasswordSet { .. }
        | IdentityEvent::PasskeyAdded { .. }
        | IdentityEvent::PasskeyUsed { .. }
        | IdentityEvent::PasskeyRemoved { .. }
        | IdentityEvent::PasskeysEnded { .. }
        | IdentityEvent::WentAway { .. }
        | IdentityEvent::CameBack
        | IdentityEvent::StandInUnreached { .. }
        | IdentityEvent::Declared { .. } => false,
    }
}
