//! RECEIVE: what workers report. Evidence is stored by digest before anything refers to it.

use bytes::Bytes;
use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, ProjectId};
use placet_domain::identity::{Actor, Role};
use placet_store::{Kept, StoreError, Unnamed};

use super::approve::change;
use super::inspect::inspect;
use super::{Caller, No, find_place};
use crate::app::App;
use crate::logs::Speaker;
use crate::uploads::Upload;

pub(crate) async fn heartbeat(app: &App, caller: &Caller, id: ActionId, attempt: u32) -> Result<ActionState, No> {
    change(app, caller, id, ActionCommand::Heartbeat { attempt }).await
}

/// Takes a result, once all the evidence it names is here.
pub(crate) async fn complete(
    app: &App,
    caller: &Caller,
    id: ActionId,
    manifest: Manifest,
) -> Result<(ActionState, Digest), No> {
    let evidence = manifest.seal();
    evidence.check()?;
    let project = find_place(app, caller, id).await?.project;
    for item in &evidence.manifest().items {
        let kept = app.store().kept(project, item.digest).await.map_err(No::Fault)?;
        if kept.map(|kept| kept.size_bytes) != Some(item.size_bytes) {
            return Err(No::MissingEvidence(item.name.clone()));
        }
    }
    let digest = evidence.digest();
    let command = ActionCommand::Complete { evidence: Box::new(evidence) };
    let done = change(app, caller, id, command).await?;
    // What it said is evidence from here on; a result that came too late says nothing about the attempt that is under way.
    if done.status.is_final() {
        app.logs().forget(Speaker::Action(id));
    }
    Ok((done, digest))
}

/// Whoever uploads something will name it in a moment. Where contents are removed after a time, that time begins anew.
fn is_kept_anew(app: &App, kept: &Kept) -> bool {
    app.settings().retention.removes() && kept.at.plus_ms(KEPT_ANEW_AFTER_MS) < app.store().now()
}

/// An hour: nothing is removed within a day of its upload, and what is uploaded all the time does not fill the ledger.
const KEPT_ANEW_AFTER_MS: u64 = 60 * 60 * 1_000;

/// Stores bytes under the digest they were announced with, and records it.
pub(crate) async fn keep_blob(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    digest: Digest,
    bytes: Bytes,
) -> Result<u64, No> {
    caller.sees(project, "project")?;
    let size_bytes = bytes.len() as u64;
    // Hashed before it is written: what does not fit its name never reaches the disk.
    if Digest::of(&bytes) != digest {
        return Err(No::WrongDigest);
    }
    let kept = app.store().kept(project, digest).await.map_err(No::Fault)?;
    if kept.is_some_and(|kept| !is_kept_anew(app, &kept)) {
        return Ok(size_bytes);
    }
    let upload = begin_upload(app, caller, project, size_bytes).await?;
    store(app, caller.actor(), project, digest, bytes, upload).await?;
    Ok(size_bytes)
}

/// Reserves room for unnamed bytes. Counts them before they are written, so that concurrent uploads share one limit.
/// Workers need no room: they upload results before they name them, and the limits of their jobs bound how much that
/// is.
async fn begin_upload(app: &App, caller: &Caller, project: ProjectId, size_bytes: u64) -> Result<Option<Upload>, No> {
    if caller.identity.has(Role::Worker) {
        return Ok(None);
    }
    let upload = app.uploads().begin(caller.identity.id, project, size_bytes);
    let stored = app.store().unnamed(project, caller.identity.id).await.map_err(No::Fault)?;
    let (limits, Unnamed { of_identity, of_project }) = (app.settings().limits, upload.together_with(stored));
    for (whose, bytes, most_bytes) in [
        ("you", of_identity, limits.unnamed_bytes_per_identity),
        ("everybody in this project", of_project, limits.unnamed_bytes_per_project),
    ] {
        if bytes > most_bytes {
            return Err(No::TooManyUploads { whose, most_bytes });
        }
    }
    Ok(Some(upload))
}

/// The same with bytes that were made here.
pub(crate) async fn keep_made(app: &App, project: ProjectId, digest: Digest, bytes: Bytes) -> Result<(), No> {
    store(app, Actor::Runtime, project, digest, bytes, None).await
}

async fn store(
    app: &App,
    actor: Actor,
    project: ProjectId,
    digest: Digest,
    bytes: Bytes,
    upload: Option<Upload>,
) -> Result<(), No> {
    let size_bytes = bytes.len() as u64;
    let secrets = inspect(bytes.clone()).await?;
    let app = app.clone();
    // In a task of its own: an uploader who hangs up must not let the bytes be removed before the ledger says that they are kept.
    let kept = tokio::spawn(async move {
        let _upload = upload;
        let keeping = app.store().blobs().keeping().await;
        app.store().blobs().put(bytes.into()).await.map_err(No::Fault)?;
        let kept = app.submit(actor, Command::KeepBlob { project, digest, size_bytes, secrets }, None).await;
        drop(keeping);
        // No entry keeps these bytes: a refused upload must not fill the disk.
        if kept.is_err() {
            app.store().remove_unless_kept(digest).await.map_err(No::Fault)?;
        }
        kept
    });
    kept.await.unwrap_or(Err(No::Fault(StoreError::Stopped)))?;
    Ok(())
}
