//! Visits: how people come in by a browser, and go. Whatever happens here is on the record like everything else.

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, DoorCommand, Entrance, Identity, IdentityCommand};
use placet_domain::oidc::Vouched;
use placet_domain::passkey::{Attested, Encoded, Proof};
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;
use placet_store::Extras;
use placet_wire::Token;

use super::admin::needs_no_key;
use super::{Caller, No};
use crate::app::App;
use crate::names::{fresh_token, token_digest};

/// Long enough to walk to another machine, short enough not to lie around.
const LINK_MS: u64 = 60 * 60 * 1_000;
/// A working day.
const VISIT_MS: u64 = 12 * 60 * 60 * 1_000;

/// Something secret that stands for a person until a moment.
#[derive(Debug)]
pub struct Pass {
    pub identity: Identity,
    pub secret: Token,
    pub expires_at: Timestamp,
}

impl Pass {
    /// Whose it is, and what proves it: what a cookie or a link holds.
    pub fn told(&self) -> String {
        format!("{}.{}", self.identity.id, self.secret.reveal())
    }
}

/// A link that lets its holder in once: for oneself, or by an administrator for somebody.
pub async fn invite(app: &App, caller: &Caller, id: IdentityId, proof: Option<Proof>) -> Result<Pass, No> {
    needs_no_key(caller)?;
    let (secret, expires_at) = (fresh_token(), app.store().now().plus_ms(LINK_MS));
    let (link, proof) = (token_digest(secret.reveal()), proof.map(Box::new));
    let command = DoorCommand::Invite { link, expires_at, proof };
    let identity = change(app, caller.actor(), id, command, Extras::default()).await?;
    Ok(Pass { identity, secret, expires_at })
}

/// Somebody who showed what lets them in comes in.
pub async fn enter(app: &App, person: Identity, by: Entrance) -> Result<Pass, No> {
    let (secret, expires_at) = (fresh_token(), app.store().now().plus_ms(VISIT_MS));
    let command = DoorCommand::Enter { visit: token_digest(secret.reveal()), by, expires_at };
    let identity = change(app, Actor::Identity(person.clone()), person.id, command, Extras::default()).await?;
    Ok(Pass { identity, secret, expires_at })
}

/// Somebody whose passkey signed that they come in does.
pub async fn enter_by_passkey(app: &App, person: Identity, proof: Proof) -> Result<Pass, No> {
    let (secret, expires_at) = (fresh_token(), app.store().now().plus_ms(VISIT_MS));
    let (visit, proof) = (token_digest(secret.reveal()), Box::new(proof));
    let command = DoorCommand::EnterByPasskey { visit, proof, expires_at };
    let identity = change(app, Actor::Identity(person.clone()), person.id, command, Extras::default()).await?;
    Ok(Pass { identity, secret, expires_at })
}

/// Somebody whom a provider vouches for comes in.
pub async fn enter_vouched(app: &App, person: Identity, vouched: Vouched) -> Result<Pass, No> {
    let (secret, expires_at) = (fresh_token(), app.store().now().plus_ms(VISIT_MS));
    let (visit, vouched) = (token_digest(secret.reveal()), Box::new(vouched));
    let command = DoorCommand::EnterVouched { visit, vouched, expires_at };
    let identity = change(app, Actor::Identity(person.clone()), person.id, command, Extras::default()).await?;
    Ok(Pass { identity, secret, expires_at })
}

/// Takes a passkey for one's own: the first from a visit that has just begun, every other signed with one that is there.
pub async fn add_passkey(
    app: &App,
    caller: &Caller,
    visit: Digest,
    (attested, name): (Attested, String),
    proof: Option<Proof>,
) -> Result<(), No> {
    let command = DoorCommand::AddPasskey { attested: Box::new(attested), name, visit, proof: proof.map(Box::new) };
    change(app, caller.actor(), caller.identity.id, command, Extras::default()).await.map(drop)
}

/// Gives a passkey of one's own up, or takes it away from somebody else.
pub async fn remove_passkey(
    app: &App,
    caller: &Caller,
    of: IdentityId,
    credential: Encoded,
    proof: Option<Proof>,
) -> Result<(), No> {
    let command = DoorCommand::RemovePasskey { credential, proof: proof.map(Box::new) };
    change(app, caller.actor(), of, command, Extras::default()).await.map(drop)
}

/// Gives up a visit of one's own.
pub async fn leave(app: &App, caller: &Caller, visit: Digest) -> Result<(), No> {
    let command = DoorCommand::Leave { visit };
    change(app, caller.actor(), caller.identity.id, command, Extras::default()).await.map(drop)
}

/// Sets one's own password; only the visit it is set from stays.
pub async fn set_password(
    app: &App,
    caller: &Caller,
    visit: Digest,
    verifier: String,
    proof: Option<Proof>,
) -> Result<(), No> {
    let (digest, proof) = (Digest::of(verifier.as_bytes()), proof.map(Box::new));
    let command = DoorCommand::SetPassword { verifier: digest, visit, proof };
    let extras = Extras { verifier: Some(verifier), ..Extras::default() };
    change(app, caller.actor(), caller.identity.id, command, extras).await.map(drop)
}

/// Whoever the holder of this link would come in as, as long as it counts.
pub async fn invited(app: &App, id: IdentityId, secret: &str) -> Result<Option<Identity>, No> {
    let (link, now) = (token_digest(secret), app.store().now());
    let found = app.store().identity(id).await.map_err(No::Fault)?;
    Ok(found.filter(|identity| !identity.revoked && identity.doors.link(link, now).is_some()))
}

async fn change(app: &App, actor: Actor, id: IdentityId, command: DoorCommand, extras: Extras) -> Result<Identity, No> {
    let command = Command::Identity { id, command: IdentityCommand::Door(command) };
    let receipt = app.submit_with(extras, actor, command, None).await?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}
