//! Signing on by a provider: out to it, and back with its answer. What was wrong is for the log; whoever came back learns that it did not work.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::flow::{self, No};
use placet_control::http::{Address, Failure, Query};
use placet_control::{NotSignedOn, Provider, SignOn};
use serde::Deserialize;
use tokio::sync::SemaphorePermit;

use super::enter::{EnterQuery, refused, visiting, way};
use super::guard::{Speaks, cookie};
use super::state::Web;
use crate::markup::Refused;

const TRIP: &str = "placet_sign_on";
const BACK: &str = "/enter/provider/back";

fn provider(app: &Web) -> Result<&Provider, Failure> {
    let none = || Failure::new(StatusCode::NOT_FOUND, "unknown", "there is no provider to sign on by");
    app.settings().provider.as_deref().ok_or_else(none)
}

/// The address to come back to: at the very name that the browser knows us by, which the guard has looked at.
fn back(address: &Address) -> String {
    format!("{}{BACK}", address.origin())
}

fn trip_cookie(address: &Address, value: &str, seconds: u32) -> String {
    let (name, end) = (address.cookie_name(TRIP), address.cookie_end());
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{end}")
}

/// Strangers come here: they have a share of all requests and no more.
fn place(app: &Web) -> Result<SemaphorePermit<'_>, Failure> {
    let busy =
        || Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many sign on at once; try again in a moment");
    app.unverified_place().ok_or_else(busy)
}

pub(super) async fn set_out(
    State(app): State<Web>,
    Speaks(lang): Speaks,
    address: Address,
    Query(query): Query<EnterQuery>,
) -> Result<Response, Failure> {
    let (provider, _place) = (provider(&app)?, place(&app)?);
    let to = query.to.and_then(way);
    let (trip, cookie) = app.memory().trips.begin(to.clone(), app.store().now());
    match provider.authorize(&trip, &back(&address)).await {
        Ok(to) => Ok(([(header::SET_COOKIE, trip_cookie(&address, &cookie, 600))], Redirect::to(&to)).into_response()),
        Err(why) => {
            tracing::warn!(%why, "nobody can sign on by the provider");
            Ok(refused(&app, lang, &address, to, (StatusCode::BAD_GATEWAY, Refused::Provider)))
        }
    }
}

/// What a provider sends along; whatever else it says is not read.
#[derive(Debug, Deserialize)]
pub(super) struct Brought {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
}

pub(super) async fn come_back(
    State(app): State<Web>,
    Speaks(lang): Speaks,
    address: Address,
    headers: HeaderMap,
    Query(brought): Query<Brought>,
) -> Result<Response, Failure> {
    let _place = place(&app)?;
    let mut answered = match signed_on(&app, &address, &headers, &brought).await? {
        Ok(answered) => answered,
        Err(why) => {
            tracing::warn!(why, "a sign-on by the provider was refused");
            refused(&app, lang, &address, None, (StatusCode::FORBIDDEN, Refused::Provider))
        }
    };
    // It was used, whatever came of it.
    if let Ok(gone) = trip_cookie(&address, "", 0).parse() {
        answered.headers_mut().append(header::SET_COOKIE, gone);
    }
    Ok(answered)
}

async fn signed_on(
    app: &Web,
    address: &Address,
    headers: &HeaderMap,
    brought: &Brought,
) -> Result<Result<Response, String>, Failure> {
    let (provider, now) = (provider(app)?, app.store().now());
    let trip = cookie(headers, &address.cookie_name(TRIP)).and_then(|cookie| app.memory().trips.resume(&cookie, now));
    let Some(trip) = trip.filter(|trip| trip.is_state(&brought.state)) else {
        return Ok(Err("somebody came back who did not set out here".to_owned()));
    };
    let (code, redirect_uri) = (brought.code.as_str(), &back(address));
    let vouched = match provider.sign_on(&trip, &SignOn { code, redirect_uri, now }).await {
        Ok(vouched) => vouched,
        Err(why) => return Ok(Err(why.to_string())),
    };
    let found = app.store().identity(vouched.person()).await?;
    let Some(person) = found.filter(|person| !person.revoked && !person.is_caged()) else {
        return Ok(Err(NotSignedOn::Nobody.to_string()));
    };
    match flow::enter_vouched(app, person, vouched).await {
        // Only we could write where, and it is looked at all the same.
        Ok(pass) => Ok(Ok(visiting(address, &pass, trip.to.and_then(way).as_deref().unwrap_or("/")))),
        Err(No::Refused(refusal)) => Ok(Err(refusal.to_string())),
        Err(no) => Err(no.into()),
    }
}
