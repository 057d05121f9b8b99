//! What may happen to an identity: registered, given a new token, let in by a browser, away for a while, described by itself, revoked. Never renamed, never given other
//! roles: a different right is a different identity, so that the ledger's "who" keeps its meaning.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::away::{self, AwayCommand};
use super::declaration::{self, Declaration};
use super::doors::{self, DoorCommand, Entrance};
use super::rights::{administered, check_reach, may_administer, standing};
use super::{Actor, Identity, Lineage, Reach, Role, signed};
use crate::digest::Digest;
use crate::event_meta::EventMeta;
use crate::id::IdentityId;
use crate::passkey::{Change, Encoded, Passkey, Proof, Signing};
use crate::refusal::Refusal;
use crate::time::Timestamp;

const LONGEST_NAME: usize = 80;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityCommand {
    Register {
        name: String,
        roles: BTreeSet<Role>,
        reach: Reach,
        parent: Option<Box<Identity>>,
        token: Digest,
    },
    ReplaceToken {
        token: Digest,
        proof: Option<Box<Proof>>,
    },
    Revoke,
    Door(DoorCommand),
    Away(AwayCommand),
    /// A worker says what it is.
    Declare(Box<Declaration>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum IdentityEvent {
    Registered {
        name: String,
        roles: BTreeSet<Role>,
        reach: Reach,
        lineage: Lineage,
        token: Digest,
    },
    TokenReplaced {
        token: Digest,
        /// How a passkey of whoever did it signed it: here and below, where its person had passkeys.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing: Option<Box<Signing>>,
    },
    Revoked,
    Invited {
        link: Digest,
        expires_at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing: Option<Box<Signing>>,
    },
    Entered {
        visit: Digest,
        by: Entrance,
        expires_at: Timestamp,
        /// Not in entries of before there were passkeys.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    Left {
        visit: Digest,
    },
    PasswordSet {
        verifier: Digest,
        visit: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing: Option<Box<Signing>>,
    },
    PasskeyAdded {
        passkey: Box<Passkey>,
        visit: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing: Option<Box<Signing>>,
    },
    /// A passkey that counts signed something else than a visit: how often it has by now.
    PasskeyUsed {
        credential: Encoded,
        sign_count: u32,
    },
    PasskeyRemoved {
        credential: Encoded,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing: Option<Box<Signing>>,
    },
    /// On the host, by whoever keeps its files: all of them are lost, and every door is closed.
    PasskeysEnded {
        reason: String,
    },
    WentAway {
        to: IdentityId,
        until: Timestamp,
    },
    CameBack,
    /// Whoever stands in could not be told, so that they are told themselves.
    StandInUnreached {
        to: IdentityId,
    },
    /// A worker said what it is, and it is something else than it said before.
    Declared {
        declaration: Box<Declaration>,
    },
}

impl IdentityEvent {
    /// Metadata of the event: the one place where a new event is declared, besides `evolve`.
    pub fn meta(&self) -> EventMeta {
        EventMeta::new(match self {
            Self::Registered { .. } => "identity.registered",
            Self::TokenReplaced { .. } => "identity.token_replaced",
            Self::Revoked => "identity.revoked",
            Self::Invited { .. } => "identity.invited",
            Self::Entered { .. } => "identity.entered",
            Self::Left { .. } => "identity.left",
            Self::PasswordSet { .. } => "identity.password_set",
            Self::PasskeyAdded { .. } => "identity.passkey_added",
            Self::PasskeyUsed { .. } => "identity.passkey_used",
            Self::PasskeyRemoved { .. } => "identity.passkey_removed",
            Self::PasskeysEnded { .. } => "identity.passkeys_ended",
            Self::WentAway { .. } => "identity.went_away",
            Self::CameBack => "identity.came_back",
            Self::StandInUnreached { .. } => "identity.stand_in_unreached",
            Self::Declared { .. } => "identity.declared",
        })
    }
}

impl IdentityCommand {
    /// What a passkey of whoever asks signed, if one did.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Self::ReplaceToken { proof, .. } => proof.as_deref(),
            Self::Door(command) => command.proof(),
            Self::Register { .. } | Self::Revoke | Self::Away(_) | Self::Declare(_) => None,
        }
    }
}

/// `actor` as they are at this moment: what a passkey signed counts while it is theirs.
pub fn decide(
    state: Option<&Identity>,
    command: &IdentityCommand,
    actor: &Actor,
    now: Timestamp,
) -> Result<Vec<IdentityEvent>, Refusal> {
    let event = match command {
        IdentityCommand::Register { name, roles, reach, parent, token } => {
            may_administer(actor)?;
            if state.is_some() {
                return Err(Refusal::Exists { what: "identity" });
            }
            check_name(name)?;
            check_roles(roles)?;
            check_reach(reach, actor)?;
            check_descent(roles, parent.as_deref())?;
            let lineage = parent.as_deref().map(Lineage::below).unwrap_or_default();
            let (name, roles, reach, token) = (name.clone(), roles.clone(), reach.clone(), *token);
            IdentityEvent::Registered { name, roles, reach, lineage, token }
        }
        IdentityCommand::ReplaceToken { token, proof } => {
            let identity = administered(state, actor)?;
            let signing = signed::signing(identity, Change::Token, proof.as_deref(), actor, now)?;
            IdentityEvent::TokenReplaced { token: *token, signing }
        }
        // Whoever is ended is let in nowhere: nothing is got around by it, and it must not wait.
        IdentityCommand::Revoke => {
            administered(state, actor)?;
            IdentityEvent::Revoked
        }
        IdentityCommand::Door(command) => doors::decide(standing(state)?, command, actor, now)?,
        IdentityCommand::Away(command) => away::decide(standing(state)?, command, actor, now)?,
        IdentityCommand::Declare(declaration) => declaration::decide(state, declaration, actor)?,
    };
    Ok(vec![event])
}

fn check_name(name: &str) -> Result<(), Refusal> {
    // Names become names of files with tokens in them.
    let plain = |c: char| !crate::text::is_unseen(c) && !matches!(c, '/' | '\\');
    if name.trim() == name
        && !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= LONGEST_NAME
        && name.chars().all(plain)
    {
        return Ok(());
    }
    Err(Refusal::invalid(
        "a name has 1 to 80 bytes of visible text, without slashes, a leading dot, or spaces at its ends",
    ))
}

/// Checks the name of a new identity. Users type it after `--as` and `--agent`, and messages show it, so it has no blanks and no
/// shell metacharacters. Identities in older ledgers keep their names.
pub fn check_new_name(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    if name.chars().all(plain) {
        return check_name(name);
    }
    let shown = crate::text::spelled_out(name);
    Err(Refusal::invalid(format!(
        "`{shown}` is no name for an identity: use letters, digits, `-`, `_`, `.`, `@` and `+`"
    )))
}

fn check_roles(roles: &BTreeSet<Role>) -> Result<(), Refusal> {
    let caged = |role: &Role| matches!(role, Role::Agent | Role::Worker);
    if roles.is_empty() {
        return Err(Refusal::invalid("an identity needs at least one role"));
    }
    if roles.len() > 1 && roles.iter().any(caged) {
        return Err(Refusal::invalid("`agent` and `worker` stand alone: nothing in a cage may decide or administer"));
    }
    Ok(())
}

/// What an agent brings into the world is an agent: never somebody with more rights than itself.
fn check_descent(roles: &BTreeSet<Role>, parent: Option<&Identity>) -> Result<(), Refusal> {
    let caged = |parent: &&Identity| parent.has(Role::Agent) || parent.has(Role::Worker);
    match parent.filter(caged) {
        Some(parent) if *roles != parent.roles => {
            Err(Refusal::invalid("a child of an agent has the rights of an agent, no others"))
        }
        Some(_) | None => Ok(()),
    }
}

pub fn evolve(id: IdentityId, state: Option<Identity>, event: &IdentityEvent) -> Option<Identity> {
    let after = evolve_identity(id, state, event);
    after.map(|identity| Identity {
        doors: Box::new(doors::evolve(*identity.doors, event)),
        away: away::evolve(identity.away, event),
        ..identity
    })
}

fn evolve_identity(id: IdentityId, state: Option<Identity>, event: &IdentityEvent) -> Option<Identity> {
    match event {
        IdentityEvent::Registered { name, roles, reach, lineage, token } => Some(Identity {
            id,
            name: name.clone(),
            roles: roles.clone(),
            reach: reach.clone(),
            lineage: lineage.clone(),
            token: *token,
            revoked: false,
            doors: Box::default(),
            away: None,
            declaration: None,
        }),
        IdentityEvent::TokenReplaced { token, .. } => state.map(|identity| Identity { token: *token, ..identity }),
        IdentityEvent::Revoked => state.map(|identity| Identity { revoked: true, ..identity }),
        IdentityEvent::Declared { declaration } => {
            state.map(|identity| Identity { declaration: Some(declaration.clone()), ..identity })
        }
        IdentityEvent::Invited { .. }
        | IdentityEvent::Entered { .. }
        | IdentityEvent::Left { .. }
        | IdentityEvent::PasswordSet { .. }
        | IdentityEvent::PasskeyAdded { .. }
        | IdentityEvent::PasskeyUsed { .. }
        | IdentityEvent::PasskeyRemoved { .. }
        | IdentityEvent::PasskeysEnded { .. }
        | IdentityEvent::WentAway { .. }
        | IdentityEvent::CameBack
        | IdentityEvent::StandInUnreached { .. } => state,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(0);

    pub(in crate::identity) fn id(number: u128) -> IdentityId {
        IdentityId::from_uuid(Uuid::from_u128(number))
    }

    pub(in crate::identity) fn identity(number: u128, roles: &[Role]) -> Identity {
        Identity {
            id: id(number),
            name: format!("n{number}"),
            roles: roles.iter().copied().collect(),
            reach: Reach::Everywhere,
            lineage: Lineage::default(),
            token: Digest::of(b"t"),
            revoked: false,
            doors: Box::default(),
            away: None,
            declaration: None,
        }
    }

    fn register(roles: &[Role]) -> IdentityCommand {
        let roles = roles.iter().copied().collect();
        IdentityCommand::Register {
            name: "x".into(),
            roles,
            reach: Reach::Everywhere,
            parent: None,
            token: Digest::of(b""),
        }
    }

    #[test]
    fn b1_a_caged_role_never_shares_a_credential_with_another_role() {
        for caged in [Role::Agent, Role::Worker] {
            for other in Role::ALL.iter().filter(|role| **role != caged) {
                assert!(
                    decide(None, &register(&[caged, *other]), &Actor::Runtime, NOW).is_err(),
                    "{caged} and {other}"
                );
            }
            assert!(decide(None, &register(&[caged]), &Actor::Runtime, NOW).is_ok());
        }
        assert!(decide(None, &register(&[Role::Reviewer, Role::Operator]), &Actor::Runtime, NOW).is_ok());
        assert!(decide(None, &register(&[]), &Actor::Runtime, NOW).is_err());
    }

    #[test]
    fn only_an_admin_makes_identities() {
        for role in Role::ALL {
            let allowed = decide(None, &register(&[Role::Agent]), &Actor::Identity(identity(1, &[*role])), NOW).is_ok();
            assert_eq!(allowed, *role == Role::Admin, "{role}");
        }
    }

    #[test]
    fn an_admin_of_some_projects_makes_and_changes_nobody_who_sees_more() {
        let project = |number| crate::id::ProjectId::from_uuid(Uuid::from_u128(number));
        let only = |numbers: &[u128]| Reach::Only(numbers.iter().copied().map(project).collect());
        let admin = Actor::Identity(Identity { reach: only(&[1, 2]), ..identity(1, &[Role::Admin]) });
        let register = |reach| {
            let roles = [Role::Reviewer].into();
            IdentityCommand::Register { name: "x".into(), roles, reach, parent: None, token: Digest::of(b"") }
        };
        for (reach, allowed) in
            [(only(&[1]), true), (only(&[1, 2]), true), (only(&[1, 3]), false), (Reach::Everywhere, false)]
        {
            assert_eq!(decide(None, &register(reach.clone()), &admin, NOW).is_ok(), allowed, "{reach:?}");
            let other = Identity { reach: reach.clone(), ..identity(2, &[Role::Reviewer]) };
            let replace = IdentityCommand::ReplaceToken { token: Digest::of(b"new"), proof: None };
            assert_eq!(decide(Some(&other), &replace, &admin, NOW).is_ok(), allowed, "{reach:?}");
        }
    }

    #[test]
    fn kin_is_self_parent_child_and_whoever_has_somebody_behind_them_in_common() {
        let grandparent = identity(1, &[Role::Agent]);
        let parent = Identity { lineage: Lineage::below(&grandparent), ..identity(2, &[Role::Agent]) };
        let child = Identity { lineage: Lineage::below(&parent), ..identity(3, &[Role::Agent]) };
        let stranger = identity(4, &[Role::Reviewer]);
        assert!(grandparent.is_kin_of(child.id, &child.lineage));
        assert!(child.is_kin_of(grandparent.id, &grandparent.lineage));
        assert!(child.is_kin_of(child.id, &child.lineage));
        assert!(!stranger.is_kin_of(child.id, &child.lineage));
        let sibling = Identity { lineage: Lineage::below(&parent), ..identity(5, &[Role::Reviewer]) };
        let aunt = Identity { lineage: Lineage::below(&grandparent), ..identity(6, &[Role::Reviewer]) };
        assert!(sibling.is_kin_of(child.id, &child.lineage) && aunt.is_kin_of(child.id, &child.lineage));
        let other = Identity { lineage: Lineage::below(&stranger), ..identity(7, &[Role::Reviewer]) };
        assert!(!other.is_kin_of(child.id, &child.lineage), "two lines that never meet");
    }

    #[test]
    fn a_revoked_identity_stays_revoked() {
        let revoked = evolve(id(1), Some(identity(1, &[Role::Agent])), &IdentityEvent::Revoked);
        let back = IdentityCommand::ReplaceToken { token: Digest::of(b"new"), proof: None };
        assert!(decide(revoked.as_ref(), &back, &Actor::Runtime, NOW).is_err());
    }

    #[test]
    fn new_name_with_blanks_or_shell_signs_is_refused() {
        for name in ["ada!", "ada lovelace", "a;b", "$(x)", "*", "a'b", "", "../x"] {
            assert!(check_new_name(name).is_err(), "{name:?}");
        }
        for name in ["ada", "José", "w-1", "tom_2", "ada@example.org", "李"] {
            assert_eq!(check_new_name(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn names_that_hide_something_are_refused() {
        for name in ["", " a", "a/b", "../x", ".x", "a\\b", "a\nb", "a\u{202e}b", "a\u{200b}", &"x".repeat(81)] {
            let mut command = register(&[Role::Agent]);
            if let IdentityCommand::Register { name: given, .. } = &mut command {
                *given = name.into();
            }
            assert!(decide(None, &command, &Actor::Runtime, NOW).is_err(), "{name:?}");
        }
    }
}
