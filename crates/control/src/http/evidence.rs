//! Evidence: stored under its digest, checked as it is read. What was removed after its time says so, and with which entry.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use placet_domain::digest::Digest;
use placet_domain::evidence::{Manifest, SecretSeen, SecretsSeen};
use placet_domain::id::{ActionId, ProjectId};
use placet_domain::refusal::Refusal;
use placet_store::{IntegrityFault, Removal, StoreError};
use placet_wire::api;

use super::body::Raw;
use super::extract::{Path, Query};
use super::problem::{Failure, problem};
use crate::app::App;
use crate::flow::{self, Caller, No};

pub(super) async fn keep(
    State(app): State<App>,
    Path((project, digest)): Path<(ProjectId, Digest)>,
    caller: Caller,
    Raw(bytes, _place): Raw,
) -> Result<Json<api::KeptBlob>, Failure> {
    let size_bytes = flow::keep_blob(&app, &caller, project, digest, bytes).await?;
    Ok(Json(api::KeptBlob { digest, size_bytes }))
}

pub async fn fetch(
    State(app): State<App>,
    Path((project, digest)): Path<(ProjectId, Digest)>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    caller.sees(project, "evidence")?;
    let unknown = || No::Refused(Refusal::Unknown { what: "evidence" });
    let kept = app.store().kept(project, digest).await.map_err(No::Fault)?;
    let removal = app.store().removal(project, digest).await.map_err(No::Fault)?;
    if kept.is_none() && removal.is_none() {
        return Err(unknown().into());
    }
    flow::may_read(&app, &caller, project, digest).await?;
    if let Some(removal) = removal {
        return Err(removed(&removal));
    }
    let etag = format!("\"{digest}\"");
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    match app.store().blobs().get(digest).await.map_err(No::Fault)? {
        Some(bytes) => {
            flow::may_read_words(&caller, &bytes)?;
            Ok(download(etag, bytes))
        }
        None => Err(missing(&app, project, digest).await?),
    }
}

/// Bytes that should be here: removed since we looked, or taken away by nobody that we know of.
async fn missing(app: &App, project: ProjectId, digest: Digest) -> Result<Failure, No> {
    let removal = app.store().removal(project, digest).await.map_err(No::Fault)?;
    let lost = || StoreError::from(IntegrityFault::Missing { digest }).into();
    Ok(removal.as_ref().map_or_else(lost, removed))
}

fn removed(removal: &Removal) -> Failure {
    let at = jiff::Timestamp::from_millisecond(removal.at.unix_ms()).unwrap_or_default();
    let detail = format!("removed by retention on {}, entry {}", at.strftime("%F"), removal.seq);
    Failure::new(StatusCode::GONE, api::REMOVED, detail)
}

/// Bytes of unknown meaning: never shown by a browser, always saved.
fn download(etag: String, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, "attachment".to_owned()),
        (header::CACHE_CONTROL, "private, immutable, max-age=31536000".to_owned()),
        (header::ETAG, etag),
    ];
    (headers, bytes).into_response()
}

/// The manifest that counts or, by its digest, any that was reported for the action: late ones are kept too.
pub(super) async fn manifest(
    State(app): State<App>,
    Path(action): Path<ActionId>,
    Query(query): Query<api::ManifestQuery>,
    caller: Caller,
) -> Result<Response, Failure> {
    let action = flow::find_action(&app, &caller, action).await?;
    let none = || No::Refused(Refusal::Unknown { what: "evidence" });
    let digest = match query.digest {
        None => action.evidence,
        Some(digest) => flow::reported(&app, &action, digest).await?,
    };
    let digest = digest.ok_or_else(none)?;
    let bytes = app.store().sealed(action.id, digest).await.map_err(No::Fault)?.ok_or_else(none)?;
    let headers = [(header::CONTENT_TYPE, "application/json".to_owned()), (header::ETAG, format!("\"{digest}\""))];
    Ok((headers, bytes).into_response())
}

/// What looked like secrets in the pieces of the manifest that counts.
pub(super) async fn secrets(
    State(app): State<App>,
    Path(action): Path<ActionId>,
    caller: Caller,
) -> Result<Json<api::SecretList>, Failure> {
    let action = flow::find_action(&app, &caller, action).await?;
    let none = || No::Refused(Refusal::Unknown { what: "evidence" });
    let digest = action.evidence.ok_or_else(none)?;
    let bytes = app.store().sealed(action.id, digest).await.map_err(No::Fault)?.ok_or_else(none)?;
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|_| none())?;
    let seen = flow::seen_in(&app, action.project, &manifest).await?;
    let pieces = manifest.items.into_iter().zip(seen).map(|(item, seen)| piece(item.name, &seen));
    Ok(Json(api::SecretList { pieces: pieces.collect() }))
}

fn piece(name: String, seen: &SecretsSeen) -> api::PieceSecrets {
    let view = |seen: &SecretSeen| {
        let SecretSeen { rule, line, column, shown, fingerprint } = seen.clone();
        api::SecretView { rule, line, column, shown, fingerprint }
    };
    api::PieceSecrets { name, secrets: seen.listed().iter().map(view).collect(), more: seen.more() }
}

pub(super) async fn refuse_delete() -> Response {
    problem(
        StatusCode::FORBIDDEN,
        "immutable",
        "nobody deletes or changes evidence by its name; what is removed after its time, the settings say",
    )
}
