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
pub(crate) use admin::{declare, lock_scope, make_identity, make_project, revoke};
pub use admin::{identities, replace_token};
pub(crate) use amend::amend;
pub use amend::{Content, amend_with};
pub(crate) use approve::withdraw;
pub use approve::{approve, approve_signed, perform, reject, resolve};
pub use attention::{assign, defer};
pub use away::{come_back, go_away, standing_in};
pub(crate) use away::{note_unreached, who_is_away};
pub use checkpoint::{Look, decide_checkpoint, look};
pub(crate) use checkpoint::{Piece, newest_pieces};
pub(crate) use deciding::{Measured, since as figures_since};
pub use deciding::{measure, own_alone, own_habits, pace};
pub(crate) use dispatch::{lease, redeem};
pub use host::preview;
pub(crate) use host::{collect, destroyed, equip, hostings, previewed, retire_idle};
pub use inspect::inspect;
pub(crate) use inspect::seen_in;
pub(crate) use log::{action_said, agent_said};
pub use log::{log_of_action, log_of_run};
pub use network::grant;
pub(crate) use network::network;
pub(crate) use order::runs_with_orders;
pub use order::{Offer, give_order, offer, revoke_order};
pub use organisation::change_organisation;
pub(crate) use organisation::give_project;
pub(crate) use plan::plan_run;
pub(crate) use propose::propose;
pub use read::{may_read, may_read_words};
pub(crate) use receive::{complete, heartbeat, keep_blob, keep_made};
pub(crate) use record::{audit, reported};
pub use record::{newest, note_refusal};
pub(crate) use retain::{Expired, expirable, expire, forget_uploads, preserve};
pub use undertake::change_run;
pub(crate) use undertake::make_run;
pub use visit::{
    Pass, add_passkey, enter, enter_by_passkey, enter_vouched, invite, invited, leave, remove_passkey, set_password,
};
pub(crate) use words::{Called, calls, set_words, words};
pub(crate) use worktree::{assign_duties, change_worktree, duties, find_worktree, notices, open_worktree};

use std::sync::Arc;

use placet_domain::action::ActionState;
use placet_domain::command::IdempotencyKey;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;

use crate::app::App;
pub use crate::error::No;
use crate::facts::{Ground, Place};

/// Whoever asks, and how they name the request.
#[derive(Debug, Clone)]
pub struct Caller {
    pub identity: Identity,
    pub key: Option<IdempotencyKey>,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        Actor::Identity(self.identity.clone())
    }

    /// To somebody outside a project, what is in it does not exist.
    pub fn sees(&self, project: ProjectId, what: &'static str) -> Result<(), No> {
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
pub async fn find_run(app: &App, caller: &Caller, id: RunId) -> Result<Run, No> {
    let run = app.store().run(id).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "run" })?;
    caller.sees_work(run.project, run.agent, "run")?;
    Ok(run)
}

/// What a run was made with, if the caller may know of it.
pub async fn find_ground(app: &App, caller: &Caller, id: RunId) -> Result<Arc<Ground>, No> {
    let ground = match app.facts().ground(id) {
        Some(ground) => ground,
        None => app.facts().learn_run(find_run(app, caller, id).await?),
    };
    caller.sees_work(ground.project, ground.agent, "run")?;
    Ok(ground)
}

/// The action, if the caller may know of it.
pub async fn find_action(app: &App, caller: &Caller, id: ActionId) -> Result<ActionState, No> {
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
