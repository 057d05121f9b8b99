//! Bytes: the pages' own files, evidence, and what a card shows of the files that an action is given.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::proposal::{ActionSpec, FileOperand};
use placet_domain::run::Run;
use placet_domain::scope::{PathRuling, ScopePath};
use placet_pages::{FileShown, Ruling, Shown, assets};
use placet_store::{ActionFilter, Order};

use super::super::evidence;
use super::super::extract::Path;
use super::super::problem::Failure;
use super::seen;
use crate::app::App;
use crate::flow::{self, Caller, No};

/// What is shown of a file on a card.
const MOST_SHOWN_BYTES: usize = 64 << 10;
/// A file that is larger is not even opened for a card.
const MOST_READ_BYTES: u64 = 1 << 20;
/// What all files of a card may show together: a page is read by a person, and made anew whenever something happens.
const MOST_ON_A_CARD_BYTES: usize = 256 << 10;
/// Beyond one control character in so many, it is no text that anybody reads, and each takes forty characters to mark.
const RAREST_CONTROLS: usize = 64;
/// How many earlier actions of a run are asked for a file of the same name.
const MOST_EARLIER: u32 = 100;

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
    let mut answer = evidence::fetch(state, path, caller, headers).await?;
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

/// The files that an action is given, as far as they can be seen.
pub(super) async fn shown(app: &App, caller: &Caller, run: &Run, spec: &ActionSpec) -> Result<Vec<FileShown>, Failure> {
    let mut files = Vec::new();
    let earlier = if spec.files.is_empty() { Vec::new() } else { earlier_files(app, run, spec).await? };
    let mut left = MOST_ON_A_CARD_BYTES;
    for file in &spec.files {
        let before = earlier.iter().find(|known| known.path == file.path).filter(|known| known.digest != file.digest);
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, before).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (link, ruling) = (format!("/evidence/{}/{digest}", run.project), ruling(run, &path));
        files.push(FileShown { path, digest, size_bytes, shown, link, ruling, seen: None });
    }
    seen::tell(app, caller, run.project, &mut files).await?;
    Ok(files)
}

/// Compares files with their earlier versions, if the caller may see them.
pub(super) async fn compared(
    app: &App,
    caller: &Caller,
    run: &Run,
    pairs: &[(&FileOperand, Option<&FileOperand>)],
) -> Result<Vec<FileShown>, Failure> {
    let (mut files, mut left) = (Vec::new(), MOST_ON_A_CARD_BYTES);
    for (file, before) in pairs {
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, *before).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (link, ruling) = (format!("/evidence/{}/{digest}", run.project), ruling(run, &path));
        files.push(FileShown { path, digest, size_bytes, shown, link, ruling, seen: None });
    }
    Ok(files)
}

/// The files of the agent that a plan starts, as far as they can be seen.
pub(super) async fn of_plan(app: &App, caller: &Caller, run: &Run) -> Result<Vec<FileShown>, Failure> {
    let Some(launch) = run.hosting.launch() else { return Ok(Vec::new()) };
    let (mut files, mut left) = (Vec::new(), MOST_ON_A_CARD_BYTES);
    for file in &launch.files {
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, None).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (link, ruling) = (format!("/evidence/{}/{digest}", run.project), Ruling::Unjudged);
        files.push(FileShown { path, digest, size_bytes, shown, link, ruling, seen: None });
    }
    Ok(files)
}

/// Where a path stands in the scope of its run; what is no path of it stands outside.
fn ruling(run: &Run, path: &str) -> Ruling {
    let Ok(path) = ScopePath::new(path.as_bytes()) else { return Ruling::Outside };
    match run.scope.judge_path(&path) {
        PathRuling::Allowed { .. } => Ruling::Within,
        PathRuling::Denied { .. } => Ruling::Protected,
        PathRuling::Outside => Ruling::Outside,
    }
}

/// How much of a card something takes.
fn weight(shown: &Shown) -> usize {
    match shown {
        Shown::Text { now, before, .. } => now.len() + before.as_ref().map_or(0, String::len),
        Shown::Opaque | Shown::Unread | Shown::Withheld | Shown::Removed => 0,
    }
}

async fn one(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    file: &FileOperand,
    before: Option<&FileOperand>,
) -> Result<Shown, Failure> {
    let bytes = match read(app, caller, project, file).await? {
        Ok(bytes) => bytes,
        Err(unseen) => return Ok(unseen),
    };
    let is_cut = bytes.len() > MOST_SHOWN_BYTES;
    let Some(now) = text(&bytes) else { return Ok(Shown::Opaque) };
    let before = match before {
        Some(before) => read(app, caller, project, before).await?.ok().and_then(|bytes| text(&bytes)),
        None => None,
    };
    Ok(Shown::Text { now, before, is_cut })
}

/// The bytes of a file, or why they are not shown. The same people see them as by the API.
pub(super) async fn read(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    file: &FileOperand,
) -> Result<Result<Vec<u8>, Shown>, Failure> {
    match flow::may_read(app, caller, project, file.digest).await {
        Ok(()) => {}
        Err(No::Refused(_)) => return Ok(Err(Shown::Withheld)),
        Err(no) => return Err(no.into()),
    }
    if file.size_bytes > MOST_READ_BYTES {
        return Ok(Err(Shown::Unread));
    }
    if app.store().kept(project, file.digest).await?.is_none() {
        return Ok(Err(Shown::Removed));
    }
    let bytes = app.store().blobs().get(file.digest).await.map_err(No::Fault)?;
    let Some(bytes) = bytes else { return Ok(Err(Shown::Removed)) };
    if flow::may_read_words(caller, &bytes).is_err() {
        return Ok(Err(Shown::Withheld));
    }
    Ok(Ok(bytes))
}

/// Text, or nothing: what has a zero byte or is not UTF-8 is no text. Cut between characters.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let most = bytes.get(..MOST_SHOWN_BYTES).unwrap_or(bytes);
    let controls = most.iter().filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t')).count();
    if most.contains(&0) || controls > RAREST_CONTROLS && controls > most.len() / RAREST_CONTROLS {
        return None;
    }
    match std::str::from_utf8(most) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if error.error_len().is_none() && bytes.len() > most.len() => {
            Some(String::from_utf8_lossy(&most[..error.valid_up_to()]).into_owned())
        }
        Err(_) => None,
    }
}

/// The files that earlier actions of the run were given, the newest first, as far back as all of these paths are found.
async fn earlier_files(app: &App, run: &Run, spec: &ActionSpec) -> Result<Vec<FileOperand>, Failure> {
    let filter =
        ActionFilter { run: Some(run.id), order: Order::NewestFirst, limit: MOST_EARLIER, ..ActionFilter::default() };
    let mut missing: BTreeSet<&str> = spec.files.iter().map(|file| file.path.as_str()).collect();
    let mut found = Vec::new();
    for listed in app.store().actions(filter).await? {
        if missing.is_empty() {
            break;
        }
        // Executed, after a person had read it: what nobody looked at is nothing to compare with.
        if listed.evidence.is_none() || !listed.was_looked_at() {
            continue;
        }
        let sealed = app.store().sealed(listed.id, listed.digest).await?;
        let other: Option<ActionSpec> = sealed.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let files = other.filter(|other| other != spec).map(|other| other.files).unwrap_or_default();
        found.extend(files.into_iter().filter(|file| missing.remove(file.path.as_str())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_what_is_no_text_is_not_shown_as_text() {
        assert_eq!(text(b"plain").as_deref(), Some("plain"));
        assert_eq!(text(b"zero\0byte"), None);
        assert_eq!(text(b"\xff\xfe"), None);
        assert_eq!(text(&b"\x1b[31mx".repeat(1_000)), None, "nothing but escapes is no text");
        let long = "é".repeat(MOST_SHOWN_BYTES);
        assert!(text(long.as_bytes()).is_some_and(|shown| shown.chars().all(|c| c == 'é')), "cut between characters");
    }

    #[test]
    fn t8_only_what_begins_as_a_picture_is_shown_as_one() {
        assert_eq!(picture(b"\x89PNG\r\n\x1a\n..."), Some("image/png"));
        assert_eq!(picture(b"<svg onload=a()>"), None);
        assert_eq!(picture(b"<html>"), None);
    }
}
