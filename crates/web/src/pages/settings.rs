//! One's own visits and password, and the switches; what is shown of passkeys and of others.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::flow::{self, Caller};
use placet_control::http::{Address, Failure};
use placet_control::read::{names, view};
use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, Role, is_guarded};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::passkey::Change;
use placet_domain::time::Timestamp;
use zeroize::Zeroizing;

use super::form::Sent;
use super::guard::{self, Visiting, html};
use super::password::{LONGEST, SHORTEST};
use super::state::Web;
use super::{doors, passkey, routes, viewer};
use crate::markup::{AwayTried, Once, Person, Settings};

const DECIDE: [Role; 3] = [Role::Reviewer, Role::Operator, Role::Admin];
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

pub(super) async fn show(
    State(app): State<Web>,
    visiting: Visiting,
    caller: Caller,
    address: Address,
) -> Result<Response, Failure> {
    page(&app, &visiting, &caller, &address, Said::Nothing).await
}

/// What the page says besides what is set: something that is shown this once, or a form that was not taken.
pub(super) enum Said {
    Nothing,
    Once(Once),
    NotAway(AwayTried),
}

pub(super) async fn page(
    app: &Web,
    visiting: &Visiting,
    caller: &Caller,
    address: &Address,
    said: Said,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(app, visiting).await?;
    let (who, now) = (&visiting.identity, app.store().now());
    let visits =
        who.doors.visits(now).map(|visit| (visit.digest.to_string(), visit.expires_at, visit.digest == visiting.visit));
    let (once, away_tried) = match said {
        Said::Nothing => (None, None),
        Said::Once(once) => (Some(once), None),
        Said::NotAway(tried) => (None, Some(tried)),
    };
    let settings = Settings {
        has_password: who.doors.password().is_some(),
        visits: visits.collect(),
        keys: passkey::keys(app, visiting, caller, address).await?,
        people: people(app, caller).await?,
        once,
        may_go: DECIDE.iter().any(|role| who.has(*role)),
        stand_ins: stand_ins(app, who).await?,
        away_tried,
        away: away(app, who).await?,
        routes: routes::shown(app, who),
        may_halt: DECIDE.iter().any(|role| who.has(*role)),
        may_release: who.has(Role::Admin),
    };
    Ok(html(crate::markup::settings(&viewer, &settings)))
}

/// Who is told instead of somebody, and until when.
async fn away(app: &Web, who: &Identity) -> Result<Option<(String, Timestamp)>, Failure> {
    let Some(away) = who.away_at(app.store().now()) else { return Ok(None) };
    Ok(Some((names::person(app, away.to).await?, away.until)))
}

/// Everybody who could be told instead, by name.
async fn stand_ins(app: &Web, who: &Identity) -> Result<Vec<(IdentityId, String)>, Failure> {
    let now = app.store().now();
    let everybody = app.store().identities().await?.into_iter();
    let mut found: Vec<(IdentityId, String)> =
        everybody.filter(|other| who.can_be_stood_in_by(other, now)).map(|other| (other.id, other.name)).collect();
    found.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(found)
}

pub(super) async fn go_away(State(app): State<Web>, address: Address, sent: Sent) -> Result<Response, Failure> {
    let failure = match leaves(&app, &sent).await {
        Ok(()) => return Ok(Redirect::to("/settings#away").into_response()),
        Err(failure) => failure,
    };
    let why = guard::problem(&failure, "/settings".to_owned());
    let tried = AwayTried { to: sent.fields.text("to")?, days: sent.fields.text("days")?, why };
    let mut page = page(&app, &sent.visiting, &sent.caller, &address, Said::NotAway(tried)).await?;
    *page.status_mut() = failure.status();
    Ok(page)
}

async fn leaves(app: &Web, sent: &Sent) -> Result<(), Failure> {
    let days = sent.fields.number("days")?.unwrap_or(0);
    let until = app.store().now().plus_ms(days.saturating_mul(DAY_MS));
    flow::go_away(app, &sent.caller, sent.caller.identity.id, sent.fields.text("to")?.trim(), until).await?;
    Ok(())
}

pub(super) async fn come_back(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    flow::come_back(&app, &sent.caller, sent.caller.identity.id).await?;
    Ok(Redirect::to("/settings").into_response())
}

/// Those whom an administrator may invite; nobody for anybody else.
async fn people(app: &Web, caller: &Caller) -> Result<Vec<Person>, Failure> {
    if !caller.identity.has(Role::Admin) {
        return Ok(Vec::new());
    }
    let mut found = flow::identities(app, caller).await?;
    found.retain(|person| !person.is_caged() && !person.revoked && person.reach.is_within(&caller.identity.reach));
    let shown = |person: &Identity| Person {
        view: view::identity(person),
        is_guarded: is_guarded(person, Some(&caller.identity)),
        is_viewer: person.id == caller.identity.id,
    };
    Ok(found.iter().map(shown).collect())
}

pub(super) async fn set_password(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    let password = Zeroizing::new(sent.fields.text("password")?);
    if !(SHORTEST..=LONGEST).contains(&password.chars().count()) {
        let why = format!("a password has {SHORTEST} to {LONGEST} characters; a sentence is easy to remember");
        return Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_password", why));
    }
    knows_current(&app, &sent).await?;
    let verifier = app.memory().passwords.verifier(password).await;
    let proof = doors::signed(&app, &sent, sent.visiting.identity.id, Change::Password).await?;
    flow::set_password(&app, &sent.caller, sent.visiting.visit, verifier, proof).await?;
    Ok(Redirect::to("/settings").into_response())
}

/// Whoever found a screen open must not keep it: a password is changed by whoever knows the one before.
async fn knows_current(app: &Web, sent: &Sent) -> Result<(), Failure> {
    let who = &sent.visiting.identity;
    let Some(verifier) = who.doors.password() else { return Ok(()) };
    if !app.memory().passwords.may_try_own(who.id) {
        return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "too_many", "too many tries; wait a minute"));
    }
    let known = app.store().password_verifier(who.id, verifier).await?;
    let given = Zeroizing::new(sent.fields.text("current")?);
    if app.memory().passwords.is_right(given, known).await {
        return Ok(());
    }
    Err(Failure::new(StatusCode::FORBIDDEN, "wrong_password", "the current password is not right"))
}

pub(super) async fn end_visit(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_form", "reload the page and choose again");
    flow::leave(&app, &sent.caller, sent.fields.text("visit")?.parse().map_err(bad)?).await?;
    Ok(Redirect::to("/settings").into_response())
}

pub(super) async fn halt(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    let reason = sent.fields.text("reason")?;
    // The form requires a reason, so that one press does not stop everything; a request without one is refused too.
    if reason.trim().is_empty() {
        let why = "say why everything is stopped; whoever wants it to go on reads that";
        return Err(Failure::new(StatusCode::BAD_REQUEST, "bad_form", why));
    }
    switched(&app, &sent.caller, OrganisationCommand::Halt { reason }).await
}

pub(super) async fn release(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    switched(&app, &sent.caller, OrganisationCommand::Release { reason: sent.fields.text("reason")? }).await
}

pub(super) async fn demand_passkeys(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    switched(&app, &sent.caller, OrganisationCommand::DemandPasskeys { reason: sent.fields.text("reason")? }).await
}

pub(super) async fn release_passkeys(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    switched(&app, &sent.caller, OrganisationCommand::ReleasePasskeys { reason: sent.fields.text("reason")? }).await
}

async fn switched(app: &Web, caller: &Caller, command: OrganisationCommand) -> Result<Response, Failure> {
    flow::change_organisation(app, caller, command).await?;
    Ok(Redirect::to("/settings").into_response())
}
