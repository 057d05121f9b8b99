//! Identities and their tokens.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::id::IdentityId;
use placet_domain::time::Timestamp;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};
use crate::read::{names, view};

pub(super) async fn whoami(caller: Caller) -> Json<api::IdentityView> {
    Json(view::identity(&caller.identity))
}

pub(super) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<api::IdentityList>, Failure> {
    let identities = flow::identities(&app, &caller).await?;
    Ok(Json(api::IdentityList { identities: identities.iter().map(view::identity).collect() }))
}

pub(super) async fn create(
    State(app): State<App>,
    Asked(caller, new): Asked<api::NewIdentity>,
) -> Result<Json<api::TokenOnce>, Failure> {
    let (identity, token) = flow::make_identity(&app, &caller, new).await?;
    let once = api::TokenOnce { identity: view::identity(&identity), token: token.reveal().to_owned() };
    Ok(Json(once))
}

pub(super) async fn replace_token(
    State(app): State<App>,
    Path(id): Path<IdentityId>,
    Asked(caller, _): Asked<api::NewToken>,
) -> Result<Json<api::TokenOnce>, Failure> {
    let (identity, token) = flow::replace_token(&app, &caller, id, None).await?;
    Ok(Json(api::TokenOnce { identity: view::identity(&identity), token: token.reveal().to_owned() }))
}

/// A link for a browser: for oneself, or by an administrator for somebody.
pub(super) async fn make_link(
    State(app): State<App>,
    Path(id): Path<IdentityId>,
    Asked(caller, _): Asked<api::NewLink>,
) -> Result<Json<api::LinkOnce>, Failure> {
    let pass = flow::invite(&app, &caller, id, None).await?;
    let path = format!("/enter/{}", pass.told());
    let once =
        api::LinkOnce { identity: view::identity(&pass.identity), path, expires_at: view::time(pass.expires_at) };
    Ok(Json(once))
}

/// Who is away now, and who is told instead. Names are told to everybody who decides; who else there is, is not.
pub(super) async fn away(State(app): State<App>, caller: Caller) -> Result<Json<api::AbsenceList>, Failure> {
    let mut absences = Vec::new();
    for (person, away) in flow::who_is_away(&app, &caller).await? {
        let (to_name, until) = (names::person(&app, away.to).await?, view::time(away.until));
        let (id, name) = (person.id, person.name);
        absences.push(api::AbsenceView { id, name, to: away.to, to_name, until, unreached: away.unreached });
    }
    Ok(Json(api::AbsenceList { absences }))
}

/// Names a stand-in: for oneself, or by an administrator for somebody.
pub(super) async fn go_away(
    State(app): State<App>,
    Path(id): Path<IdentityId>,
    Asked(caller, asked): Asked<api::AwayRequest>,
) -> Result<Json<api::IdentityView>, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_body", "write `until` like `2026-08-15T08:00:00Z`");
    let until: jiff::Timestamp = asked.until.parse().map_err(bad)?;
    let until = Timestamp::from_unix_ms(until.as_millisecond());
    let identity = flow::go_away(&app, &caller, id, &asked.to, until).await?;
    Ok(Json(view::identity(&identity)))
}

pub(super) async fn come_back(
    State(app): State<App>,
    Path(id): Path<IdentityId>,
    Asked(caller, _): Asked<api::Decision>,
) -> Result<Json<api::IdentityView>, Failure> {
    let identity = flow::come_back(&app, &caller, id).await?;
    Ok(Json(view::identity(&identity)))
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path(id): Path<IdentityId>,
    Asked(caller, _): Asked<api::NewToken>,
) -> Result<Json<api::IdentityView>, Failure> {
    let identity = flow::revoke(&app, &caller, id).await?;
    Ok(Json(view::identity(&identity)))
}

pub(super) async fn declare(
    State(app): State<App>,
    Asked(caller, report): Asked<api::DeclarationReport>,
) -> Result<Json<api::IdentityView>, Failure> {
    Ok(Json(view::identity(&flow::declare(&app, &caller, report.declaration).await?)))
}
