//! Bytes: the pages' own files, evidence, and what a card shows of the files that an action is given.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use placet_control::App;
use placet_control::flow::Caller;
use placet_control::http::{Failure, Path, fetch_evidence};
use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;

use crate::markup::assets;

/// Pictures that browsers show, by how they begin.
const PICTURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

pub(super) async fn asset(uri: Uri) -> Result<Response, Failure> {
    let unknown = || Failure::new(StatusCode::NOT_FOUND, "unknown", "there is no such file");
    let asset = assets::find(uri.path()).ok_or_else(unknown)?;
    let headers = [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "public, immutable, max-age=31536000")];
    Ok((headers, asset.bytes).into_response())
}

/// The same bytes as the API gives, to the same people. A picture is shown as one, in a box of its own; everything else is saved.
pub(super) async fn evidence(
    state: State<App>,
    path: Path<(ProjectId, Digest)>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let mut answer = fetch_evidence(state, path, caller, headers).await?;
    let boxed = HeaderValue::from_static("default-src 'none'; sandbox");
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, boxed);
    let (mut parts, body) = answer.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    if let Some(kind) = picture(&bytes) {
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        parts.headers.remove(header::CONTENT_DISPOSITION);
    }
    Ok(Response::from_parts(parts, bytes.into()))
}

fn picture(bytes: &[u8]) -> Option<&'static str> {
    PICTURES.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_only_what_begins_as_a_picture_is_shown_as_one() {
        assert_eq!(picture(b"\x89PNG\r\n\x1a\n..."), Some("image/png"));
        assert_eq!(picture(b"<svg onload=a()>"), None);
        assert_eq!(picture(b"<html>"), None);
    }
}
