//! How a person comes in by a browser: by a link that opens once, by a password, by a passkey, or because a
//! provider vouches for them; and the visits of those who are in.
//!
//! A visit stands for its person until it ends. Secrets are not here: links, visits and passwords are known by their digests, and whether a
//! password is the right one is found out by whoever asks. Agents and workers have no visits: what lives in a cage shows a token.

use serde::{Deserialize, Serialize};

use super::rights::{self_alone, self_or_admin};
use super::{Actor, Identity, IdentityEvent, keys, signed};
use crate::digest::Digest;
use crate::oidc::Vouched;
use crate::passkey::{Attested, Change, Encoded, Passkey, Proof};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// A link lies in mailboxes and chats; after a day nobody remembers who has seen it.
pub const LONGEST_LINK_MS: u64 = 24 * 60 * 60 * 1_000;
/// A browser that is forgotten somewhere must not stand for somebody for ever.
pub const LONGEST_VISIT_MS: u64 = 30 * LONGEST_LINK_MS;
/// More than anybody has browsers; the oldest ends when one more begins.
const MOST_VISITS: usize = 16;
/// More than anybody asks for in a day; the oldest is void when one more is made.
const MOST_LINKS: usize = 4;

/// What a person did, or somebody for them, about coming in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoorCommand {
    /// Makes a link that lets its holder in once, as this person.
    Invite { link: Digest, expires_at: Timestamp, proof: Option<Box<Proof>> },
    /// Comes in.
    Enter { visit: Digest, by: Entrance, expires_at: Timestamp },
    /// Gives a visit up, or has it given up.
    Leave { visit: Digest },
    /// Sets the password; every other visit and every link ends.
    SetPassword { verifier: Digest, visit: Digest, proof: Option<Box<Proof>> },
    /// Comes in by a passkey, which signed that it does.
    EnterByPasskey { visit: Digest, proof: Box<Proof>, expires_at: Timestamp },
    /// Comes in because a provider vouches for them.
    EnterVouched { visit: Digest, vouched: Box<Vouched>, expires_at: Timestamp },
    /// Takes a new passkey for one's own: the first from a visit that has just begun, every other with one that is there already.
    AddPasskey { attested: Box<Attested>, name: String, visit: Digest, proof: Option<Box<Proof>> },
    /// Gives one up, or, as an administrator, has it given up.
    RemovePasskey { credential: Encoded, proof: Option<Box<Proof>> },
    /// On the host: all are lost, and whoever they let in begins anew.
    EndPasskeys { reason: String },
}

impl DoorCommand {
    /// What a passkey of whoever asks signed to change a door, if one did.
    pub(super) fn proof(&self) -> Option<&Proof> {
        match self {
            Self::Invite { proof, .. }
            | Self::SetPassword { proof, .. }
            | Self::AddPasskey { proof, .. }
            | Self::RemovePasskey { proof, .. } => proof.as_deref(),
            Self::Enter { .. }
            | Self::Leave { .. }
            | Self::EnterByPasskey { .. }
            | Self::EnterVouched { .. }
            | Self::EndPasskeys { .. } => None,
        }
    }
}

/// What was shown to come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shown", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entrance {
    Link {
        link: Digest,
    },
    /// The password whose verifier has this digest.
    Password {
        verifier: Digest,
    },
    /// A passkey, and how often it has signed by now.
    Passkey {
        credential: Encoded,
        sign_count: u32,
    },
    /// What a provider says, who knows them by a name with this digest.
    Provider {
        issuer: String,
        subject: Digest,
    },
}

/// What an identity knows of its ways in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doors {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<Pass>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    visits: Vec<Pass>,
    /// The digest of what a password is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    password: Option<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) passkeys: Vec<Passkey>,
}

/// A secret that counts until a moment, by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    pub digest: Digest,
    pub expires_at: Timestamp,
    /// Since when it stands for its person: visits that are known to be young only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered_at: Option<Timestamp>,
    /// Whether a passkey let them in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_passkey: bool,
}

impl Doors {
    pub(super) const fn is_closed(&self) -> bool {
        self.links.is_empty() && self.visits.is_empty() && self.password.is_none() && self.passkeys.is_empty()
    }

    pub fn passkeys(&self) -> &[Passkey] {
        &self.passkeys
    }

    pub fn passkey(&self, credential: &Encoded) -> Option<&Passkey> {
        self.passkeys.iter().find(|passkey| passkey.credential == *credential)
    }

    /// The visit of this digest, as long as it counts.
    pub fn visit(&self, visit: Digest, now: Timestamp) -> Option<Pass> {
        live(&self.visits, visit, now)
    }

    /// The link of this digest, as long as it counts.
    pub fn link(&self, link: Digest, now: Timestamp) -> Option<Pass> {
        live(&self.links, link, now)
    }

    /// The visits that count, the newest first.
    pub fn visits(&self, now: Timestamp) -> impl Iterator<Item = Pass> {
        self.visits.iter().rev().copied().filter(move |visit| visit.expires_at > now)
    }

    pub const fn password(&self) -> Option<Digest> {
        self.password
    }

    fn admits(&self, by: &Entrance, now: Timestamp) -> bool {
        match by {
            Entrance::Link { link } => self.link(*link, now).is_some(),
            Entrance::Password { verifier } => self.password == Some(*verifier),
            // Whoever says so proves it.
            Entrance::Passkey { .. } | Entrance::Provider { .. } => false,
        }
    }
}

fn live(passes: &[Pass], digest: Digest, now: Timestamp) -> Option<Pass> {
    passes.iter().copied().find(|pass| pass.digest == digest && pass.expires_at > now)
}

pub(super) fn decide(
    identity: &Identity,
    command: &DoorCommand,
    actor: &Actor,
    now: Timestamp,
) -> Result<IdentityEvent, Refusal> {
    may_ask(identity, command, actor)?;
    if identity.is_caged() {
        return Err(Refusal::invalid("agents and workers do not come in by a browser; they show their token"));
    }
    match command {
        DoorCommand::Invite { link, expires_at, proof } => {
            ends_within(*expires_at, LONGEST_LINK_MS, now)?;
            let signing = signed::signing(identity, Change::Link, proof.as_deref(), actor, now)?;
            Ok(IdentityEvent::Invited { link: *link, expires_at: *expires_at, signing })
        }
        DoorCommand::Enter { visit, by, expires_at } => {
            entered((*visit, *expires_at), by_secret(identity, by, now)?, now)
        }
        DoorCommand::EnterByPasskey { visit, proof, expires_at } => {
            entered((*visit, *expires_at), keys::entrance(identity, proof, now)?, now)
        }
        DoorCommand::EnterVouched { visit, vouched, expires_at } => {
            entered((*visit, *expires_at), by_provider(identity, vouched, now)?, now)
        }
        DoorCommand::AddPasskey { attested, name, visit, proof } => {
            let passkey = keys::new(identity, attested, name, now)?;
            keys::has_come_in(identity, *visit, now)?;
            let signing = signed::signing(identity, Change::adding(&passkey), proof.as_deref(), actor, now)?;
            Ok(IdentityEvent::PasskeyAdded { passkey: Box::new(passkey), visit: *visit, signing })
        }
        DoorCommand::RemovePasskey { credential, proof } => {
            identity.doors.passkey(credential).ok_or(Refusal::Unknown { what: "passkey" })?;
            let change = Change::Remove { credential: credential.clone() };
            let signing = signed::signing(identity, change, proof.as_deref(), actor, now)?;
            Ok(IdentityEvent::PasskeyRemoved { credential: credential.clone(), signing })
        }
        DoorCommand::EndPasskeys { reason } => signed::end(identity, reason, actor),
        DoorCommand::Leave { visit } => {
            identity.doors.visit(*visit, now).ok_or(Refusal::Unknown { what: "visit" })?;
            Ok(IdentityEvent::Left { visit: *visit })
        }
        DoorCommand::SetPassword { verifier, visit, proof } => {
            // A screen that somebody left must not become a way in.
            keys::has_come_in(identity, *visit, now)?;
            let signing = signed::signing(identity, Change::Password, proof.as_deref(), actor, now)?;
            Ok(IdentityEvent::PasswordSet { verifier: *verifier, visit: *visit, signing })
        }
    }
}

fn entered((visit, expires_at): (Digest, Timestamp), by: Entrance, now: Timestamp) -> Result<IdentityEvent, Refusal> {
    ends_within(expires_at, LONGEST_VISIT_MS, now)?;
    Ok(IdentityEvent::Entered { visit, by, expires_at, at: Some(now) })
}

/// A link or a password, if it lets in.
fn by_secret(identity: &Identity, by: &Entrance, now: Timestamp) -> Result<Entrance, Refusal> {
    if identity.doors.admits(by, now) {
        return Ok(by.clone());
    }
    Err(Refusal::invalid("this does not let you in any more; ask for a new link"))
}

fn by_provider(identity: &Identity, vouched: &Vouched, now: Timestamp) -> Result<Entrance, Refusal> {
    if vouched.person() == identity.id && vouched.is_recent(now) {
        return Ok(Entrance::Provider { issuer: vouched.issuer().to_owned(), subject: vouched.subject() });
    }
    Err(Refusal::invalid("this does not let you in any more; sign on again"))
}

/// Comes first: to others, what an identity is does not exist.
fn may_ask(identity: &Identity, command: &DoorCommand, actor: &Actor) -> Result<(), Refusal> {
    match command {
        DoorCommand::Invite { .. }
        | DoorCommand::Leave { .. }
        | DoorCommand::RemovePasskey { .. }
        | DoorCommand::EndPasskeys { .. } => self_or_admin(identity, actor),
        DoorCommand::Enter { .. }
        | DoorCommand::EnterByPasskey { .. }
        | DoorCommand::EnterVouched { .. }
        | DoorCommand::SetPassword { .. }
        | DoorCommand::AddPasskey { .. } => self_alone(identity, actor),
    }
}

fn ends_within(at: Timestamp, longest_ms: u64, now: Timestamp) -> Result<(), Refusal> {
    if now < at && at <= now.plus_ms(longest_ms) {
        return Ok(());
    }
    Err(Refusal::invalid("it must end in the future, a link within a day and a visit within 30 days"))
}

/// What the ways in are after an event; those that are not about them leave them as they are.
pub(super) fn evolve(mut doors: Doors, event: &IdentityEvent) -> Doors {
    match event {
        IdentityEvent::Invited { link, expires_at, .. } => {
            let pass = Pass { digest: *link, expires_at: *expires_at, entered_at: None, by_passkey: false };
            push(&mut doors.links, pass, MOST_LINKS);
        }
        IdentityEvent::Entered { visit, by, expires_at, at } => {
            match by {
                Entrance::Link { link } => doors.links.retain(|known| known.digest != *link),
                Entrance::Passkey { credential, sign_count } => keys::count(&mut doors, credential, *sign_count),
                Entrance::Password { .. } | Entrance::Provider { .. } => {}
            }
            let by_passkey = matches!(by, Entrance::Passkey { .. });
            // A provider may let in whoever sits at the screen: that somebody has just come in is not known from it.
            let entered_at = at.filter(|_| !matches!(by, Entrance::Provider { .. }));
            let pass = Pass { digest: *visit, expires_at: *expires_at, entered_at, by_passkey };
            push(&mut doors.visits, pass, MOST_VISITS);
        }
        IdentityEvent::Left { visit } => doors.visits.retain(|known| known.digest != *visit),
        IdentityEvent::PasswordSet { verifier, visit, .. } => {
            doors.links.clear();
            doors.visits.retain(|known| known.digest == *visit);
            doors.password = Some(*verifier);
        }
        IdentityEvent::PasskeyAdded { passkey, .. } => doors.passkeys.push((**passkey).clone()),
        IdentityEvent::PasskeyUsed { credential, sign_count } => keys::count(&mut doors, credential, *sign_count),
        // Whoever came in by a passkey may have had the one that is taken away.
        IdentityEvent::PasskeyRemoved { credential, .. } => {
            doors.passkeys.retain(|known| known.credential != *credential);
            doors.visits.retain(|visit| !visit.by_passkey);
        }
        // A new token is given where the old one is in wrong hands, which may have made links, come in with it, set a password and
        // added passkeys. Whoever lost all passkeys may have lost more, and begins anew.
        IdentityEvent::TokenReplaced { .. } | IdentityEvent::Revoked | IdentityEvent::PasskeysEnded { .. } => {
            doors = Doors::default();
        }
        IdentityEvent::Registered { .. }
        | IdentityEvent::WentAway { .. }
        | IdentityEvent::CameBack
        | IdentityEvent::StandInUnreached { .. }
        | IdentityEvent::Declared { .. } => {}
    }
    doors
}

fn push(passes: &mut Vec<Pass>, pass: Pass, most: usize) {
    passes.push(pass);
    let too_many = passes.len().saturating_sub(most);
    passes.drain(..too_many);
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::{id, identity};
    use super::super::{IdentityCommand, Lineage, Reach, Role, decide as decide_identity, evolve as evolve_identity};
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn digest(name: &str) -> Digest {
        Digest::of(name.as_bytes())
    }

    fn invite(link: &str) -> DoorCommand {
        DoorCommand::Invite { link: digest(link), expires_at: NOW.plus_ms(60_000), proof: None }
    }

    fn enter(visit: &str, by: Entrance) -> DoorCommand {
        DoorCommand::Enter { visit: digest(visit), by, expires_at: NOW.plus_ms(60_000) }
    }

    fn by_link(link: &str) -> Entrance {
        Entrance::Link { link: digest(link) }
    }

    fn set_password(verifier: &str, visit: &str) -> DoorCommand {
        DoorCommand::SetPassword { verifier: digest(verifier), visit: digest(visit), proof: None }
    }

    /// Asks something of a person as somebody; the person as it is then.
    fn ask(person: &Identity, command: DoorCommand, actor: &Identity, now: Timestamp) -> Result<Identity, Refusal> {
        let command = IdentityCommand::Door(command);
        let events = decide_identity(Some(person), &command, &Actor::Identity(actor.clone()), now)?;
        let after =
            events.iter().try_fold(person.clone(), |state, event| evolve_identity(person.id, Some(state), event));
        Ok(after.unwrap())
    }

    fn own(person: &Identity, command: DoorCommand) -> Result<Identity, Refusal> {
        ask(person, command, person, NOW)
    }

    /// A reviewer who came in by a link and is in.
    fn visiting(visit: &str) -> Identity {
        let invited = own(&identity(1, &[Role::Reviewer]), invite("link")).unwrap();
        own(&invited, enter(visit, by_link("link"))).unwrap()
    }

    #[test]
    fn c16_a_link_opens_once_and_only_in_its_time() {
        let invited = own(&identity(1, &[Role::Reviewer]), invite("link")).unwrap();
        let late = ask(&invited, enter("visit", by_link("link")), &invited, NOW.plus_ms(60_000));
        assert!(late.is_err());
        let visiting = own(&invited, enter("visit", by_link("link"))).unwrap();
        assert!(visiting.doors.visit(digest("visit"), NOW).is_some());
        assert!(visiting.doors.visit(digest("visit"), NOW.plus_ms(60_000)).is_none(), "a visit ends");
        assert!(own(&visiting, enter("other", by_link("link"))).is_err(), "the link was used");
    }

    #[test]
    fn c16_nobody_else_comes_in_or_sets_a_password() {
        let (person, admin) = (visiting("visit"), identity(2, &[Role::Admin]));
        let invited = own(&person, invite("again")).unwrap();
        assert!(ask(&invited, enter("visit2", by_link("again")), &admin, NOW).is_err());
        assert!(ask(&person, set_password("v", "visit"), &admin, NOW).is_err());
        assert!(ask(&person, DoorCommand::Leave { visit: digest("visit") }, &admin, NOW).is_ok());
        assert!(ask(&person, invite("by-admin"), &admin, NOW).is_ok());
        let other = identity(3, &[Role::Reviewer, Role::Operator]);
        assert_eq!(ask(&person, invite("x"), &other, NOW), Err(Refusal::Unknown { what: "identity" }));
    }

    #[test]
    fn c16_an_admin_of_some_projects_invites_nobody_who_sees_more() {
        let project = crate::id::ProjectId::from_uuid(uuid::Uuid::from_u128(1));
        let admin = Identity { reach: Reach::Only([project].into()), ..identity(2, &[Role::Admin]) };
        let everywhere = identity(1, &[Role::Reviewer]);
        assert_eq!(ask(&everywhere, invite("x"), &admin, NOW), Err(Refusal::Unknown { what: "identity" }));
        let within = Identity { reach: admin.reach.clone(), ..everywhere };
        assert!(ask(&within, invite("x"), &admin, NOW).is_ok());
    }

    #[test]
    fn b1_nothing_that_lives_in_a_cage_comes_in() {
        for role in [Role::Agent, Role::Worker] {
            let caged = identity(1, &[role]);
            for command in [invite("x"), enter("s", by_link("x")), set_password("v", "s")] {
                assert!(own(&caged, command).is_err());
            }
        }
    }

    #[test]
    fn c16_a_new_password_ends_every_other_visit_and_every_link() {
        let first = own(&visiting("first"), invite("link2")).unwrap();
        let second = own(&own(&first, enter("second", by_link("link2"))).unwrap(), invite("open")).unwrap();
        let after = own(&second, set_password("v1", "second")).unwrap();
        assert_eq!(after.doors.visits(NOW).map(|visit| visit.digest).collect::<Vec<_>>(), [digest("second")]);
        assert!(after.doors.link(digest("open"), NOW).is_none());
        let by = |verifier: &str| Entrance::Password { verifier: digest(verifier) };
        assert!(own(&after, enter("third", by("v1"))).is_ok());
        assert!(own(&after, enter("third", by("v0"))).is_err(), "an older password");
        assert!(own(&identity(1, &[Role::Reviewer]), enter("s", by("v1"))).is_err(), "no password at all");
        assert!(own(&after, set_password("v2", "first")).is_err(), "from a visit that ended");
    }

    #[test]
    fn c16_whoever_gets_a_new_token_or_is_revoked_is_in_nowhere() {
        let person = own(&visiting("visit"), set_password("v", "visit")).unwrap();
        let person = own(&person, invite("open")).unwrap();
        let replaced = IdentityEvent::TokenReplaced { token: digest("new"), signing: None };
        for event in [replaced, IdentityEvent::Revoked] {
            let after = evolve_identity(person.id, Some(person.clone()), &event).unwrap();
            assert_eq!(after.doors.visits(NOW).count(), 0);
            assert!(after.doors.link(digest("open"), NOW).is_none());
            assert!(after.doors.password().is_none(), "whoever had the token may have set it");
        }
    }

    #[test]
    fn c16_a_password_is_set_by_whoever_has_just_come_in_and_not_at_a_screen_that_was_left() {
        let invited = own(&identity(1, &[Role::Reviewer]), invite("link")).unwrap();
        let (visit, by, expires_at) = (digest("visit"), by_link("link"), NOW.plus_ms(LONGEST_VISIT_MS));
        let person = own(&invited, DoorCommand::Enter { visit, by, expires_at }).unwrap();
        let later = NOW.plus_ms(super::super::FRESH_VISIT_MS);
        assert_eq!(ask(&person, set_password("v", "visit"), &person, later), Err(Refusal::StaleVisit));
        assert!(own(&person, set_password("v", "visit")).is_ok());
    }

    #[test]
    fn c16_visits_and_links_are_bounded_in_number_and_in_time() {
        let mut person = identity(1, &[Role::Reviewer]);
        for number in 0..40 {
            let link = format!("link{number}");
            person = own(&own(&person, invite(&link)).unwrap(), enter(&number.to_string(), by_link(&link))).unwrap();
        }
        assert_eq!(person.doors.visits(NOW).count(), MOST_VISITS);
        assert_eq!(person.doors.visits(NOW).next().unwrap().digest, digest("39"));
        let until = |expires_at| DoorCommand::Invite { link: digest("x"), expires_at, proof: None };
        let (past, far) = (until(NOW), until(NOW.plus_ms(LONGEST_LINK_MS + 1)));
        assert!(own(&person, past).is_err() && own(&person, far).is_err());
        assert_eq!(person.lineage, Lineage::default());
        assert_eq!(person.id, id(1));
    }
}
