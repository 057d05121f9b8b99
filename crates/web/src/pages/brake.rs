//! Typing a name before something happens: where two people are asked, and for whoever has decided a lot lately. Every form by which somebody
//! lets something happen comes by here, whichever way it does; to say no, to hold and to end never does.
//!
//! A brake for people, no boundary: whoever has a token decides by the API without it.

use axum::http::StatusCode;
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::Failure;
use placet_control::read::names;
use placet_domain::action::ActionState;
use placet_domain::id::RunId;
use placet_domain::policy::Tier;

use super::form::Fields;

/// Where two people are asked, each types what it is; and so does whoever has decided a lot in a short time, whatever it is.
pub(super) async fn on_action(app: &App, caller: &Caller, state: &ActionState, fields: &Fields) -> Result<(), Failure> {
    let is_fast = flow::pace(app, caller.identity.id).await?.is_fast();
    let needed = state.verdict.tier() >= Tier::C || is_fast;
    if !needed || fields.text("confirm")?.trim() == state.tool.to_string() {
        return Ok(());
    }
    let reason = if is_fast { "you have decided a lot lately; look twice" } else { "two people are asked about this" };
    Err(unconfirmed(format!("{reason}; to let it happen, type the name of the tool: {}", state.tool)))
}

/// What a run waits for has no tool: whoever has decided a lot types whose run it is.
pub(super) async fn on_run(app: &App, caller: &Caller, id: RunId, fields: &Fields) -> Result<(), Failure> {
    if !flow::pace(app, caller.identity.id).await?.is_fast() {
        return Ok(());
    }
    let agent = names::person(app, flow::find_run(app, caller, id).await?.agent).await?;
    if fields.text("confirm")?.trim() == agent {
        return Ok(());
    }
    let why = "you have decided a lot lately; look twice; to let it happen, type the name of the agent";
    Err(unconfirmed(format!("{why}: {agent}")))
}

/// Many at once are never slow.
pub(super) async fn on_many(app: &App, caller: &Caller) -> Result<(), Failure> {
    if !flow::pace(app, caller.identity.id).await?.is_fast() {
        return Ok(());
    }
    Err(unconfirmed("you have decided a lot lately; look at each by itself for a while".to_owned()))
}

fn unconfirmed(why: String) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "unconfirmed", why)
}
