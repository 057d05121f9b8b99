//! What a handler learns about a request besides its body: who calls, under which key, having seen what.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use placet_domain::digest::Digest;

use super::access::Known;
use super::problem::Failure;
use crate::flow::Caller;

/// Keys are names, not documents.
const LONGEST_KEY: usize = 200;

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Known(identity) = parts.extensions.get::<Known>().ok_or_else(Failure::unguarded)?;
        // The digest of the request is added by the body extractor, which sees the bytes.
        Ok(Self { identity: (**identity).clone(), key: None })
    }
}

/// The caller's name for this request, if they gave one.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let plain = |key: &&str| !key.is_empty() && key.len() <= LONGEST_KEY && key.bytes().all(|b| b.is_ascii_graphic());
    let key = value.to_str().ok().filter(plain);
    let bad = || Failure::new(StatusCode::BAD_REQUEST, "bad_key", "an idempotency key has 1 to 200 visible ASCII characters");
    key.map(|key| Some(key.to_owned())).ok_or_else(bad)
}

/// What the caller saw before deciding: the digest in `If-Match`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen(pub(super) Digest);

impl<S: Send + Sync> FromRequestParts<S> for Seen {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let value = parts.headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
        let missing = "say what you decide on: `If-Match: \"sha256:…\"` with the digest you were shown";
        let value = value.ok_or_else(|| Failure::new(StatusCode::PRECONDITION_REQUIRED, "unseen", missing))?;
        let digest = value.trim_matches('"').parse();
        digest.map(Self).map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "bad_digest", "If-Match is not a digest"))
    }
}
