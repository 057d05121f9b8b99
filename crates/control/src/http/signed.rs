//! Requests that are admitted by their signature instead of a token: those of webhooks.
//!
//! Whatever is wrong (no such hook, another secret, too old, nobody to act as) gets the same answer, and takes as long. The
//! body must be read before anybody is known, so few may do that at a time, and not for long.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use placet_domain::identity::{Identity, Role};

use super::access::unauthorized;
use super::body::read;
use super::caller::single;
use super::extract::Path;
use super::problem::{Failure, problem};
use crate::app::App;
use crate::flow::No;
use crate::webhook::{Attempt, HookSecret, IncomingHook, WINDOW_S};

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const LONGEST_ID: usize = 200;
/// A signed message is small and all there; who sends it drop by drop only wants the place.
const LONGEST_READ: Duration = Duration::from_secs(10);

/// The sender's name for a message. The same message again has no second effect.
#[derive(Debug, Clone)]
pub(super) struct MessageId {
    hook: Arc<IncomingHook>,
    id: String,
}

impl MessageId {
    /// Its idempotency key. It holds spaces, which no key of a caller with a token can: neither can take the other's.
    pub(super) fn key(&self) -> String {
        format!("webhook {} {}", self.hook.name(), self.id)
    }
}

/// The identity that a signed request acts as, and the request with its body and the name of its message.
pub(super) async fn admit(app: &App, request: Request) -> Result<(Arc<Identity>, Request), Response> {
    let (mut parts, body) = request.into_parts();
    let hook = named_hook(app, &mut parts).await;
    let claim = Claim::read(app, &parts.headers).ok_or_else(refused)?;
    let bytes = read_unverified(app, body).await?;
    let decoy = HookSecret::decoy();
    let secret = hook.as_ref().map_or(&decoy, |hook| hook.secret());
    let attempt = Attempt { id: &claim.id, unix_s: claim.unix_s, body: &bytes };
    let good = secret.verifies(attempt, &claim.signatures);
    let hook = hook.filter(|_| good).ok_or_else(refused)?;
    let identity = acts_as(app, &hook).await?;
    parts.extensions.insert(MessageId { hook, id: claim.id });
    Ok((identity, Request::from_parts(parts, Body::from(bytes))))
}

fn refused() -> Response {
    unauthorized("Webhook-Signature", "no webhook takes this: its name, its signature or its time is wrong")
}

async fn named_hook(app: &App, parts: &mut Parts) -> Option<Arc<IncomingHook>> {
    use axum::extract::FromRequestParts as _;
    let Path(name): Path<String> = Path::from_request_parts(parts, app).await.ok()?;
    app.settings().hooks.incoming().iter().find(|hook| hook.name().as_str() == name).cloned()
}

/// What the headers say, none of it believed yet.
struct Claim {
    id: String,
    unix_s: i64,
    signatures: String,
}

impl Claim {
    /// Nothing if a header is missing or odd, or if the time is not now by the store's clock.
    fn read(app: &App, headers: &HeaderMap) -> Option<Self> {
        let one = |name| single(headers, name).ok().flatten();
        let (id, written, signatures) = (one(&ID)?, one(&TIMESTAMP)?, one(&SIGNATURE)?);
        let unix_s: i64 = written.parse().ok()?;
        let now_s = app.store().now().unix_ms().div_euclid(1_000);
        // What is signed is the number as we would write it, so it must have been written like that.
        let sound = is_id(id) && unix_s.to_string() == written && now_s.abs_diff(unix_s) <= WINDOW_S;
        sound.then(|| Self { id: id.to_owned(), unix_s, signatures: signatures.to_owned() })
    }
}

/// Ids are names. Without braces, quotes and spaces, where an id ends in the signed text is never in doubt.
fn is_id(id: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"-_.~:/+=@".contains(&c);
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(plain)
}

async fn read_unverified(app: &App, body: Body) -> Result<Bytes, Response> {
    let Some(_place) = app.unverified_place() else {
        return Err(problem(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many",
            "too many webhooks at once; send it again later",
        ));
    };
    match tokio::time::timeout(LONGEST_READ, read(body, app.settings().limits.json_bytes)).await {
        Ok(bytes) => bytes.map_err(Failure::into_response),
        Err(_) => Err(problem(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body took too long; send it again")),
    }
}

/// The agent behind a hook, unless it was revoked.
async fn acts_as(app: &App, hook: &IncomingHook) -> Result<Arc<Identity>, Response> {
    let found = app.store().identity(hook.identity()).await;
    let found = found.map_err(|fault| Failure::from(No::Fault(fault)).into_response())?;
    found.filter(|identity| !identity.revoked && identity.has(Role::Agent)).map(Arc::new).ok_or_else(refused)
}
