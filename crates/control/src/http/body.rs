//! Bodies are strict JSON: no duplicate keys, no unsafe integers, no unknown fields, not too long, not too deep.

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use placet_domain::canonical;
use placet_domain::command::IdempotencyKey;
use placet_domain::digest::Digest;
use serde::de::DeserializeOwned;

use super::caller::{idempotency_key, single};
use super::problem::Failure;
use super::signed::MessageId;
use crate::app::App;
use crate::door::Share;
use crate::flow::Caller;

/// Who asks, and what for. The caller's idempotency key is bound to these very bytes.
pub(super) struct Asked<T>(pub(super) Caller, pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Asked<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let mut caller = Caller::from_request_parts(&mut parts, app).await?;
        needs_json(&parts.headers)?;
        let bytes = read(body, app.settings().limits.json_bytes).await?;
        if let Some(key) = request_name(&parts)? {
            caller.key = Some(IdempotencyKey { key, request: request_digest(&parts, &bytes) });
        }
        Ok(Self(caller, parse(&bytes)?))
    }
}

/// The caller's name for the request: the id of a signed message, or the key they sent.
fn request_name(parts: &Parts) -> Result<Option<String>, Failure> {
    match parts.extensions.get::<MessageId>() {
        Some(message) => Ok(Some(message.key())),
        None => idempotency_key(&parts.headers),
    }
}

/// What was asked: the same body about another thing, or on having seen another version, is another request.
fn request_digest(parts: &Parts, body: &[u8]) -> Digest {
    let seen = parts.headers.get(header::IF_MATCH).map(HeaderValue::as_bytes).unwrap_or_default();
    let head = [parts.method.as_str().as_bytes(), b" ", parts.uri.path().as_bytes(), b"\n", seen, b"\n"].concat();
    Digest::of(&[&head, body].concat())
}

/// Unparsed bytes of evidence, with the place that they occupy in memory.
pub(super) struct Raw(pub(super) Bytes, pub(super) Share);

impl FromRequest<App> for Raw {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, app).await?;
        let place = app.upload_place(caller.identity.id).ok_or_else(|| {
            let why = "you are uploading too many files at once; wait for one of them to be kept";
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "too_many", why)
        })?;
        let bytes = read(body, app.settings().limits.evidence_bytes).await?;
        Ok(Self(bytes, place))
    }
}

fn needs_json(headers: &HeaderMap) -> Result<(), Failure> {
    let kind = single(headers, &header::CONTENT_TYPE)?.unwrap_or_default();
    if kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", "send `Content-Type: application/json`"))
}

/// The code of a body that is longer than what is read of it.
pub const TOO_LONG: &str = "too_long";

pub async fn read(body: Body, limit: usize) -> Result<Bytes, Failure> {
    let too_long = || {
        let detail = format!("the body is longer than {limit} bytes");
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG, detail)
    };
    // What is announced to be too long is not even waited for.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long());
    }
    match Limited::new(body, limit).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long()),
        Err(_) => Err(Failure::new(StatusCode::BAD_REQUEST, "broken_body", "the body ended before it was complete")),
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let bad = |detail: String| Failure::new(StatusCode::BAD_REQUEST, "bad_json", detail);
    let value = canonical::parse(bytes).map_err(|error| bad(error.to_string()))?;
    // Readers of ours would take a list for an object and go by the order of its values.
    if !value.is_object() {
        return Err(bad("the body is not an object".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| bad(in_plain_words(&error.to_string())))
}

/// Callers know objects; what a type is called in here is nothing to them.
pub fn in_plain_words(message: &str) -> String {
    let mut words = message.split(' ');
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "struct" | "enum") {
            let name = words.next().unwrap_or_default();
            let end = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            plain.push(format!("an object{end}"));
        } else {
            plain.push(word.to_owned());
        }
    }
    plain.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_not_told() {
        assert_eq!(
            in_plain_words("invalid type: integer `5`, expected struct NewProject"),
            "invalid type: integer `5`, expected an object"
        );
        assert_eq!(in_plain_words("expected enum Exit, or text"), "expected an object, or text");
        assert_eq!(in_plain_words("missing field `name`"), "missing field `name`");
    }
}
