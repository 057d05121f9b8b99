//! What a handler learns about a request besides its body: who calls, under which key, having seen what.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use placet_domain::digest::Digest;

use super::access::Known;
use super::problem::Failure;
use crate::flow::Caller;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
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
    let Some(value) = single(headers, &IDEMPOTENCY_KEY)? else { return Ok(None) };
    let plain = |key: &str| !key.is_empty() && key.len() <= LONGEST_KEY && key.bytes().all(|b| b.is_ascii_graphic());
    if plain(value) {
        return Ok(Some(value.to_owned()));
    }
    Err(Failure::new(StatusCode::BAD_REQUEST, "bad_key", "an idempotency key has 1 to 200 visible ASCII characters"))
}

/// The one value of a header. Twice the same header can mean two things to two readers, so it means nothing here.
pub fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
    let bad = |why: &str| Failure::new(StatusCode::BAD_REQUEST, "bad_header", format!("the header `{name}` {why}"));
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad("was sent more than once"));
    }
    value.to_str().map(Some).map_err(|_| bad("has characters other than visible ASCII"))
}

/// What the caller saw before deciding: the digest in `If-Match`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen(pub(super) Digest);

impl<S: Send + Sync> FromRequestParts<S> for Seen {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let value = single(&parts.headers, &header::IF_MATCH)?;
        let missing = "say what you decide on: `If-Match: \"sha256:…\"` with the digest you were shown";
        let value = value.ok_or_else(|| Failure::new(StatusCode::PRECONDITION_REQUIRED, "unseen", missing))?;
        let digest = value.trim_matches('"').parse();
        digest.map(Self).map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "bad_digest", "If-Match is not a digest"))
    }
}
