//! Projects, scopes and identities are made here; and the very first identity, on the machine itself.

use std::collections::BTreeSet;

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId};
use placet_domain::identity::{
    Actor, Declaration, DoorCommand, Identity, IdentityCommand, Reach, Role, check_new_name,
};
use placet_domain::passkey::Proof;
use placet_domain::project::{Project, ProjectCommand};
use placet_domain::refusal::{Obstacle, Refusal};
use placet_domain::scope::Scope;
use placet_store::{Extras, Store, SubmitError};
use placet_wire::Token;
use placet_wire::api::{NewIdentity, NewProject, NewScope};

use super::{Caller, No};
use crate::app::App;
use crate::names::{fresh_token, fresh_uuid, token_digest};

/// Makes the first administrator of an empty store. Whoever can open the store's files is trusted to do this once.
pub async fn bootstrap(store: &Store, name: &str, roles: BTreeSet<Role>) -> Result<(Identity, Token), No> {
    if !store.identities().await.map_err(No::Fault)?.is_empty() {
        return Err(Refusal::Exists { what: "first identity" }.into());
    }
    let token = fresh_token();
    let command = IdentityCommand::Register {
        name: name.to_owned(),
        roles,
        reach: Reach::Everywhere,
        parent: None,
        token: token_digest(token.reveal()),
    };
    Ok((on_host(store, IdentityId::from_uuid(fresh_uuid()), command).await?, token))
}

/// Ends all passkeys of somebody who lost them, and closes their other doors. Whoever can open the store's files is trusted to do this, and
/// the entry says that it was done there.
pub async fn end_passkeys(store: &Store, named: &str, reason: String) -> Result<Identity, No> {
    let everybody = store.identities().await.map_err(No::Fault)?;
    // An id is nobody's name here: whoever calls themselves like somebody's id is not them.
    let by_id = named.parse::<IdentityId>().ok();
    let is_named = |person: &Identity| by_id.map_or(person.name == named, |id| person.id == id);
    let is_meant = |person: &&Identity| !person.revoked && is_named(person);
    let mut found = everybody.iter().filter(is_meant);
    let person = found.next().ok_or(Refusal::Unknown { what: "identity" })?;
    if found.next().is_some() {
        return Err(Refusal::invalid(format!("several are called `{named}`; give the id")).into());
    }
    on_host(store, person.id, IdentityCommand::Door(DoorCommand::EndPasskeys { reason })).await
}

/// Changes an identity on the machine itself, while no control plane runs.
async fn on_host(store: &Store, id: IdentityId, command: IdentityCommand) -> Result<Identity, No> {
    let submission = placet_domain::command::Submission {
        actor: Actor::Runtime,
        command: Command::Identity { id, command },
        terms: placet_domain::approval::Terms::default(),
        policy: Digest::of(b""),
        idempotency: None,
    };
    let receipt = store.submit(submission, Extras::default()).await.map_err(|error| match error {
        SubmitError::Refused(refusal) => No::Refused(refusal),
        SubmitError::KeyReused => No::KeyReused,
        SubmitError::Fault(fault) => No::Fault(fault),
    })?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}

pub(crate) async fn make_project(app: &App, caller: &Caller, new: NewProject) -> Result<Project, No> {
    let command = ProjectCommand::Create { name: new.name, separation: new.separation };
    let id = ProjectId::from_uuid(fresh_uuid());
    let receipt = app.submit(caller.actor(), Command::Project { id, command }, caller.key.clone()).await?;
    receipt.loaded.project.ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}

pub(crate) async fn lock_scope(
    app: &App,
    caller: &Caller,
    id: ProjectId,
    new: NewScope,
) -> Result<(String, Scope), No> {
    caller.sees(id, "project")?;
    // Every action names a tool. A run in a scope without tools could propose nothing, and its creator would notice late.
    if new.rules.tools.is_empty() {
        let why = format!(
            "the scope `{}` names no tools, so that nothing could be done in it; name some: tools = [\"cat\"]",
            new.name
        );
        return Err(Refusal::invalid(why).into());
    }
    for tool in &new.rules.tools {
        if app.tools().get(tool).is_none() {
            return Err(placet_domain::proposal::Unsealable::UnknownTool(tool.clone()).into());
        }
    }
    let scope = Scope::lock(new.rules);
    let command = ProjectCommand::LockScope { name: new.name.clone(), scope: scope.clone() };
    app.submit(caller.actor(), Command::Project { id, command }, caller.key.clone()).await?;
    Ok((new.name, scope))
}

pub(crate) async fn make_identity(app: &App, caller: &Caller, new: NewIdentity) -> Result<(Identity, Token), No> {
    let parent = match new.parent {
        None => None,
        Some(id) => Some(find_identity(app, caller, id, "parent").await?),
    };
    check_new_name(&new.name)?;
    let reach = new.projects.map_or(Reach::Everywhere, Reach::Only);
    let token = fresh_token();
    let command = IdentityCommand::Register {
        name: new.name,
        roles: new.roles,
        reach,
        parent: parent.map(Box::new),
        token: token_digest(token.reveal()),
    };
    let identity = change(app, caller, IdentityId::from_uuid(fresh_uuid()), command).await?;
    Ok((identity, token))
}

pub async fn replace_token(
    app: &App,
    caller: &Caller,
    id: IdentityId,
    proof: Option<Proof>,
) -> Result<(Identity, Token), No> {
    find_identity(app, caller, id, "identity").await?;
    let token = fresh_token();
    let proof = proof.map(Box::new);
    let command = IdentityCommand::ReplaceToken { token: token_digest(token.reveal()), proof };
    Ok((change(app, caller, id, command).await?, token))
}

pub(crate) async fn revoke(app: &App, caller: &Caller, id: IdentityId) -> Result<Identity, No> {
    find_identity(app, caller, id, "identity").await?;
    change(app, caller, id, IdentityCommand::Revoke).await
}

/// The identities the caller may know of: those that can be met in one of its projects.
pub async fn identities(app: &App, caller: &Caller) -> Result<Vec<Identity>, No> {
    let mut all = app.store().identities().await.map_err(No::Fault)?;
    all.retain(|identity| identity.reach.meets(&caller.identity.reach));
    Ok(all)
}

/// An identity that the caller may change. One that reaches further than the caller does not exist for it: whoever could
/// give it a new token would reach as far.
async fn find_identity(app: &App, caller: &Caller, id: IdentityId, what: &'static str) -> Result<Identity, No> {
    let found = app.store().identity(id).await.map_err(No::Fault)?;
    let found = found.filter(|identity| identity.reach.is_within(&caller.identity.reach));
    found.ok_or_else(|| Refusal::Unknown { what }.into())
}

/// A token or a link is shown once, so a repeated request can't be answered from memory. A key that is ignored would be a lie.
pub(super) fn needs_no_key(caller: &Caller) -> Result<(), No> {
    match caller.key {
        Some(_) => {
            Err(Refusal::invalid("identities are changed without an idempotency key: a secret is shown only once")
                .into())
        }
        None => Ok(()),
    }
}

async fn change(app: &App, caller: &Caller, id: IdentityId, command: IdentityCommand) -> Result<Identity, No> {
    needs_no_key(caller)?;
    let receipt = app.submit(caller.actor(), Command::Identity { id, command }, None).await?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}

/// A worker says what it is. Written down only when that is something new: workers say it whenever they start.
pub(crate) async fn declare(app: &App, caller: &Caller, declaration: Declaration) -> Result<Identity, No> {
    let id = caller.identity.id;
    let known = app.store().identity(id).await.map_err(No::Fault)?;
    if let Some(known) = known.filter(|known| known.declaration.as_deref() == Some(&declaration)) {
        return Ok(known);
    }
    if !app.declared().may(id, app.store().now()) {
        return Err(Refusal::not_now("declared", Obstacle::DeclaredOften).into());
    }
    let command = Command::Identity { id, command: IdentityCommand::Declare(Box::new(declaration)) };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}
