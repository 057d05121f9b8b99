//! The one flow, step by step: propose → (judge) → approve → dispatch → receive → record.
//!
//! Each step loads what it needs, lets the domain decide, and commits. Nothing here knows HTTP.

mod admin;
mod amend;
mod approve;
mod attention;
mod away;
mod checkpoint;
mod deciding;
mod dispatch;
mod entry_launch;
mod host;
mod inspect;
mod log;
mod network;
mod order;
mod organisation;
mod plan;
mod propose;
mod read;
mod receive;
mod record;
mod retain;
mod undertake;
mod visit;
mod words;
mod worktree;

pub use admin::{bootstrap, end_passkeys};
pub(crate) use admin::{declare, identities, lock_scope, make_identity, make_project, replace_token, revoke};
pub(crate) use amend::{Content, amend, amend_with};
pub(crate) use approve::{approve, approve_signed, perform, reject, resolve, withdraw};
pub(crate) use attention::{assign, defer};
pub(crate) use away::{Absences, come_back, go_away, note_unreached, standing_in, who_is_away};
pub(crate) use checkpoint::{Look, Piece, decide_checkpoint, look, newest_pieces};
pub(crate) use deciding::{Measured, measure, own_alone, own_habits, pace, since as figures_since};
pub(crate) use dispatch::{lease, redeem};
pub(crate) use host::{collect, destroyed, equip, hostings, preview, previewed, retire_idle};
pub(crate) use inspect::{inspect, seen_in};
pub(crate) use log::{action_said, agent_said, log_of_action, log_of_run};
pub(crate) use network::{grant, network};
pub(crate) use order::{Offer, give_order, offer, revoke_order, runs_with_orders};
pub(crate) use organisation::{change_organisation, give_project};
pub(crate) use plan::{Turns, plan_run};
pub(crate) use propose::propose;
pub(crate) use read::{may_read, may_read_words};
pub(crate) use receive::{complete, heartbeat, keep_blob, keep_made};
pub(crate) use record::{audit, newest, note_refusal, reported};
pub(crate) use retain::{Expired, expirable, expire, forget_uploads, preserve};
pub(crate) use undertake::{change_run, make_run};
pub(crate) use visit::{
    Pass, add_passkey, enter, enter_by_passkey, enter_vouched, invite, invited, leave, remove_passkey, set_password,
};
pub(crate) use words::{Called, calls, set_words, words};
pub(crate) use worktree::{assign_duties, change_worktree, duties, find_worktree, notices, open_worktree};

use std::sync::Arc;

use placet_domain::action::ActionState;
use placet_domain::command::IdempotencyKey;
use placet_domain::evidence::BadManifest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, Role};
use placet_domain::proposal::{BadChange, Unsealable};
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_store::StoreError;

use crate::app::App;
use crate::facts::{Ground, Place};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum No {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Unsealable(#[from] Unsealable),
    #[error(transparent)]
    Change(#[from] BadChange),
    #[error(transparent)]
    Evidence(#[from] BadManifest),
    #[error("the evidence `{0}` was not uploaded; upload it before you report")]
    MissingEvidence(String),
    #[error(
        "{whose} would have uploaded more than {most_bytes} bytes that nothing names; name them in an action, or wait: what nothing names is removed a day after its upload"
    )]
    TooManyUploads { whose: &'static str, most_bytes: u64 },
    #[error("this idempotency key was used for another request; take a new one")]
    KeyReused,
    #[error("the bytes do not have the digest they were sent under")]
    WrongDigest,
    #[error("the bytes could not be looked at")]
    Unseen,
    #[error("this token is not known or was revoked")]
    NoLongerKnown,
    #[error("the store has a fault")]
    Fault(#[source] StoreError),
}

/// Whoever asks, and how they name the request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) identity: Identity,
    pub(crate) key: Option<IdempotencyKey>,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor {
        Actor::Identity(self.identity.clone())
    }

    /// To somebody outside a project, what is in it does not exist.
    pub(crate) fn sees(&self, project: ProjectId, what: &'static str) -> Result<(), No> {
        if self.identity.reach.includes(project) { Ok(()) } else { Err(Refusal::Unknown { what }.into()) }
    }

    /// To an agent, the work of other agents does not exist either.
    pub(crate) fn sees_work(&self, project: ProjectId, agent: IdentityId, what: &'static str) -> Result<(), No> {
        self.sees(project, what)?;
        let others = self.identity.has(Role::Agent) && self.identity.id != agent;
        if others { Err(Refusal::Unknown { what }.into()) } else { Ok(()) }
    }
}

/// The run, if the caller may know of it.
pub(crate) async fn find_run(app: &App, caller: &Caller, id: RunId) -> Result<Run, No> {
    let run = app.store().run(id).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "run" })?;
    caller.sees_work(run.project, run.agent, "run")?;
    Ok(run)
}

/// What a run was made with, if the caller may know of it.
pub(crate) async fn find_ground(app: &App, caller: &Caller, id: RunId) -> Result<Arc<Ground>, No> {
    let ground = match app.facts().ground(id) {
        Some(ground) => ground,
        None => app.facts().learn_run(find_run(app, caller, id).await?),
    };
    caller.sees_work(ground.project, ground.agent, "run")?;
    Ok(ground)
}

/// The action, if the caller may know of it.
pub(crate) async fn find_action(app: &App, caller: &Caller, id: ActionId) -> Result<ActionState, No> {
    let action = app.store().action(id).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "action" })?;
    caller.sees_work(action.project, action.proposer, "action")?;
    Ok(action)
}

/// Where an action is, if the caller may know of it.
pub(crate) async fn find_place(app: &App, caller: &Caller, id: ActionId) -> Result<Place, No> {
    let place = match app.facts().place(id) {
        Some(place) => place,
        None => app.facts().learn_action(&find_action(app, caller, id).await?),
    };
    caller.sees_work(place.project, place.agent, "action")?;
    Ok(place)
}
