//! Who is calling, and may they? Everything that is not expressly admitted is refused.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use placet_domain::command::About;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, Role};
use placet_domain::refusal::Refusal;

use super::caller::single;
use super::problem::{Failure, problem};
use super::signed;
use crate::app::App;
use crate::connections::Place;
use crate::flow::{Caller, note_refusal};
use crate::names::token_digest;
use placet_wire::Access;

/// A token is 47 characters; longer headers are not even hashed.
const LONGEST_TOKEN: usize = 256;

/// The identity behind a request, put there by [`identify`] and by nothing else.
#[derive(Debug, Clone)]
pub(super) struct Known(pub(super) Arc<Identity>);

pub(super) async fn guard(State((app, access)): State<(App, Access)>, request: Request, next: Next) -> Response {
    let admitted = match access {
        Access::Public => return next.run(request).await,
        Access::Signed => signed::admit(&app, request).await,
        Access::Anyone | Access::Roles(_) => with_token(&app, access, request).await,
    };
    let (identity, mut request) = match admitted {
        Ok(admitted) => admitted,
        Err(refused) => return refused,
    };
    let Some(_share) = app.request_share(identity.id) else {
        return problem(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many",
            "you have too many requests under way; wait for one to end",
        );
    };
    identify(&mut request, identity);
    next.run(request).await
}

/// Marks a request as sent by an identity that was authenticated, and its connection as theirs. A mounted front that authenticates by
/// other means than tokens calls it before a handler runs.
pub fn identify(request: &mut Request, identity: Arc<Identity>) {
    note_holder(request, identity.id);
    request.extensions_mut().insert(Known(identity));
}

/// Assigns the connection to the identity: an authenticated caller keeps it when strangers compete for places.
pub(super) fn note_holder(request: &Request, identity: IdentityId) {
    if let Some(place) = request.extensions().get::<Place>() {
        place.belongs_to(identity);
    }
}

/// The holder of the request's token, if their role is admitted.
async fn with_token(app: &App, access: Access, request: Request) -> Result<(Arc<Identity>, Request), Response> {
    let Some(token) = bearer(request.headers()) else {
        return Err(unauthorized("Bearer", "send a token: `Authorization: Bearer plc_…`"));
    };
    match app.identify(token_digest(token)).await {
        Err(no) => Err(Failure::from(no).into_response()),
        Ok(None) => Err(unauthorized("Bearer", "this token is not known or was revoked")),
        Ok(Some(identity)) if access.admits(&identity) => Ok((identity, request)),
        Ok(Some(identity)) => Err(refuse(app, &identity, access).await),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, &header::AUTHORIZATION).ok()??;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && token.len() <= LONGEST_TOKEN).then_some(token)
}

/// Whoever is not known is told by which scheme to say who they are.
pub(super) fn unauthorized(scheme: &'static str, detail: &str) -> Response {
    let mut response = problem(StatusCode::UNAUTHORIZED, "unauthorized", detail);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static(scheme));
    response
}

/// A known identity tried what its role does not allow: refused and recorded.
pub async fn refuse(app: &App, identity: &Identity, access: Access) -> Response {
    let needed = match access {
        Access::Roles(roles) => roles.first().copied().unwrap_or(Role::Admin),
        Access::Signed => Role::Agent,
        Access::Public | Access::Anyone => Role::Admin,
    };
    let refusal = Refusal::Role { needed };
    if app.door().may_note_refusal_of(identity.id) {
        let caller = Caller { identity: identity.clone(), key: None };
        if let Err(no) = note_refusal(app, &caller, About::default(), "route", refusal.clone()).await {
            return Failure::from(no).into_response();
        }
    }
    let detail = format!("this needs one of the roles: {access}");
    problem(StatusCode::FORBIDDEN, refusal.code(), &detail)
}
