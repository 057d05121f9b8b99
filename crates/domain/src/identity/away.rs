//! Being away: a person names a stand-in, who is told what they would be told.
//!
//! It hands over attention and no right: a stand-in decides what they may decide by their own rights, and is recorded as themselves. It ends
//! in time, or when the person is back. Whoever is away stands in for nobody, so that nothing is handed on and on.

use serde::{Deserialize, Serialize};

use super::rights::self_or_admin;
use super::{Actor, Identity, IdentityEvent, Role};
use crate::id::IdentityId;
use crate::refusal::{Obstacle, Refusal};
use crate::time::Timestamp;

/// Whoever is away longer than this should not be asked at all.
pub const LONGEST_AWAY_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// Who is told instead, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Away {
    pub to: IdentityId,
    pub until: Timestamp,
    /// Whether the stand-in could not be told something, so that they were told it themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreached: bool,
}

/// What a person says, or an administrator for them; and what only the runtime finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwayCommand {
    Leave {
        to: Box<Identity>,
        until: Timestamp,
    },
    Return,
    /// A mailbox of the stand-in refused what was for them.
    NoteUnreached {
        to: IdentityId,
    },
}

impl Identity {
    /// Who is told instead of them at this moment, if they are away.
    pub fn away_at(&self, now: Timestamp) -> Option<Away> {
        self.away.filter(|away| away.until > now && !self.revoked)
    }

    /// Whether somebody could be told instead of them, if they went away now.
    pub fn can_be_stood_in_by(&self, other: &Self, now: Timestamp) -> bool {
        can_stand_in(self, other, now).is_ok()
    }
}

pub(super) fn decide(
    identity: &Identity,
    command: &AwayCommand,
    actor: &Actor,
    now: Timestamp,
) -> Result<IdentityEvent, Refusal> {
    self_or_admin(identity, actor)?;
    match command {
        AwayCommand::Leave { to, until } => {
            if !(now < *until && *until <= now.plus_ms(LONGEST_AWAY_MS)) {
                return Err(Refusal::invalid("say until when, in the future and within 90 days"));
            }
            can_stand_in(identity, to, now)?;
            Ok(IdentityEvent::WentAway { to: to.id, until: *until })
        }
        AwayCommand::Return => match identity.away_at(now) {
            Some(_) => Ok(IdentityEvent::CameBack),
            None => Err(Refusal::not_now("ended", Obstacle::NotAway)),
        },
        AwayCommand::NoteUnreached { to } => noted(identity, *to, actor, now),
    }
}

/// Once for each time that somebody is away: a mailbox that refuses everything fills no ledger.
fn noted(identity: &Identity, to: IdentityId, actor: &Actor, now: Timestamp) -> Result<IdentityEvent, Refusal> {
    let is_news = identity.away_at(now).is_some_and(|away| away.to == to && !away.unreached);
    match actor {
        Actor::Runtime if is_news => Ok(IdentityEvent::StandInUnreached { to }),
        Actor::Runtime => Err(Refusal::not_now("noted", Obstacle::AbsenceKnown)),
        Actor::Identity(_) => Err(Refusal::Unknown { what: "identity" }),
    }
}

/// Whoever is named decides by their own rights: without any that matter here, nobody would be asked at all.
fn can_stand_in(identity: &Identity, to: &Identity, now: Timestamp) -> Result<(), Refusal> {
    // To those who share no project they do not exist.
    if to.revoked || !to.reach.meets(&identity.reach) {
        return Err(Refusal::Unknown { what: "identity" });
    }
    if to.id == identity.id || identity.is_caged() || to.is_caged() {
        return Err(Refusal::invalid("a stand-in is another person"));
    }
    let deciding = [Role::Reviewer, Role::Operator, Role::Admin];
    if !deciding.iter().any(|role| identity.has(*role) && to.has(*role)) {
        return Err(Refusal::invalid("a stand-in has a role that you decide with; nobody gets one by standing in"));
    }
    match to.away_at(now) {
        Some(_) => Err(Refusal::invalid("who is away stands in for nobody; name somebody who is there")),
        None => Ok(()),
    }
}

/// Whether somebody is away after an event.
pub(super) fn evolve(away: Option<Away>, event: &IdentityEvent) -> Option<Away> {
    match event {
        IdentityEvent::WentAway { to, until } => Some(Away { to: *to, until: *until, unreached: false }),
        IdentityEvent::StandInUnreached { to } => {
            away.map(|away| Away { unreached: away.unreached || away.to == *to, ..away })
        }
        IdentityEvent::CameBack | IdentityEvent::Revoked => None,
        IdentityEvent::Registered { .. }
        | IdentityEvent::TokenReplaced { .. }
        | IdentityEvent::Invited { .. }
        | IdentityEvent::Entered { .. }
        | IdentityEvent::Left { .. }
        | IdentityEvent::PasswordSet { .. }
        | IdentityEvent::PasskeyAdded { .. }
        | IdentityEvent::PasskeyUsed { .. }
        | IdentityEvent::PasskeyRemoved { .. }
        | IdentityEvent::PasskeysEnded { .. }
        | IdentityEvent::Declared { .. } => away,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::identity;
    use super::super::{IdentityCommand, Reach, decide as decide_identity, evolve as evolve_identity};
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn ask(person: &Identity, command: AwayCommand, actor: &Identity, now: Timestamp) -> Result<Identity, Refusal> {
        let command = IdentityCommand::Away(command);
        let events = decide_identity(Some(person), &command, &Actor::Identity(actor.clone()), now)?;
        let after =
            events.iter().try_fold(person.clone(), |state, event| evolve_identity(person.id, Some(state), event));
        Ok(after.unwrap())
    }

    fn leave(to: &Identity) -> AwayCommand {
        AwayCommand::Leave { to: Box::new(to.clone()), until: NOW.plus_ms(60_000) }
    }

    #[test]
    fn a13_who_is_away_names_somebody_who_is_told_until_it_ends() {
        let (ada, bob) = (identity(1, &[Role::Reviewer]), identity(2, &[Role::Reviewer]));
        let away = ask(&ada, leave(&bob), &ada, NOW).unwrap();
        assert_eq!(away.away_at(NOW).unwrap().to, bob.id);
        assert_eq!(away.away_at(NOW.plus_ms(60_000)), None, "it ends by itself");
        let back = ask(&away, AwayCommand::Return, &ada, NOW).unwrap();
        assert_eq!(back.away_at(NOW), None);
        assert!(ask(&back, AwayCommand::Return, &ada, NOW).is_err(), "nothing to end");
        assert_eq!((away.roles, away.reach), (ada.roles, ada.reach), "and no right was handed over");
    }

    #[test]
    fn a13_a_stand_in_is_another_person_who_decides_there_by_their_own_rights() {
        let ada = identity(1, &[Role::Reviewer]);
        for role in [Role::Agent, Role::Worker, Role::Operator, Role::Auditor] {
            assert!(ask(&ada, leave(&identity(2, &[role])), &ada, NOW).is_err(), "{role}");
            assert!(!ada.can_be_stood_in_by(&identity(2, &[role]), NOW), "nor is {role} offered");
        }
        assert!(ask(&ada, leave(&ada), &ada, NOW).is_err(), "oneself");
        let bob = identity(2, &[Role::Reviewer]);
        let gone = Identity { revoked: true, ..bob.clone() };
        assert_eq!(ask(&ada, leave(&gone), &ada, NOW), Err(Refusal::Unknown { what: "identity" }));
        let project = |number| crate::id::ProjectId::from_uuid(uuid::Uuid::from_u128(number));
        let within = |who: &Identity, number| Identity { reach: Reach::Only([project(number)].into()), ..who.clone() };
        let apart = ask(&within(&ada, 1), leave(&within(&bob, 2)), &ada, NOW);
        assert_eq!(apart, Err(Refusal::Unknown { what: "identity" }), "who shares no project does not exist");
        let away = ask(&bob, leave(&identity(3, &[Role::Reviewer])), &bob, NOW).unwrap();
        assert!(ask(&ada, leave(&away), &ada, NOW).is_err(), "nothing is handed on and on");
    }

    #[test]
    fn a13_that_a_stand_in_was_not_reached_is_noted_once_for_each_time_by_the_runtime_alone() {
        let (ada, bob) = (identity(1, &[Role::Reviewer]), identity(2, &[Role::Reviewer]));
        let note = |person: &Identity, to: &Identity, actor: &Actor| {
            let command = IdentityCommand::Away(AwayCommand::NoteUnreached { to: to.id });
            let events = decide_identity(Some(person), &command, actor, NOW)?;
            let noted =
                events.iter().try_fold(person.clone(), |state, event| evolve_identity(person.id, Some(state), event));
            Ok::<_, Refusal>(noted.unwrap())
        };
        assert!(note(&ada, &bob, &Actor::Runtime).is_err(), "she is there");
        let away = ask(&ada, leave(&bob), &ada, NOW).unwrap();
        assert!(note(&away, &bob, &Actor::Identity(ada.clone())).is_err(), "nobody says so but the runtime");
        assert!(note(&away, &ada, &Actor::Runtime).is_err(), "somebody else stands in");
        let noted = note(&away, &bob, &Actor::Runtime).unwrap();
        assert!(noted.away.unwrap().unreached && noted.away_at(NOW).is_some(), "she is away as before");
        assert!(note(&noted, &bob, &Actor::Runtime).is_err(), "once");
        let again = ask(&noted, leave(&bob), &ada, NOW).unwrap();
        assert!(!again.away.unwrap().unreached, "the next time is another");
    }

    #[test]
    fn a13_nobody_sends_others_away_but_an_administrator_who_sees_all_they_see() {
        let (ada, bob) = (identity(1, &[Role::Reviewer]), identity(2, &[Role::Reviewer]));
        assert_eq!(ask(&ada, leave(&bob), &bob, NOW), Err(Refusal::Unknown { what: "identity" }));
        let admin = identity(3, &[Role::Admin]);
        assert!(ask(&ada, leave(&bob), &admin, NOW).is_ok());
        let narrow = Identity { reach: Reach::Only([].into()), ..admin };
        assert!(ask(&ada, leave(&bob), &narrow, NOW).is_err());
    }

    #[test]
    fn a13_being_away_has_an_end_within_ninety_days() {
        let (ada, bob) = (identity(1, &[Role::Reviewer]), identity(2, &[Role::Reviewer]));
        for until in [NOW, NOW.plus_ms(LONGEST_AWAY_MS + 1), Timestamp::from_unix_ms(0)] {
            let command = AwayCommand::Leave { to: Box::new(bob.clone()), until };
            assert!(ask(&ada, command, &ada, NOW).is_err(), "{until:?}");
        }
    }
}
