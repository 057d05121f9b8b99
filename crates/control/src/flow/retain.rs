//! RETAIN: what is removed after its time, on request or every day, and what is preserved.
//!
//! First the entries, then the bytes. If the bytes cannot be removed now, they are at the next start, or with the next removal.

use placet_domain::command::Command;
use placet_domain::id::ProjectId;
use placet_domain::identity::Actor;
use placet_domain::project::{Project, ProjectCommand};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::retention::Expiry;
use placet_store::{Expirable, Swept};

use super::{Caller, No};
use crate::app::App;

/// What was removed: by the ledger, and from the disk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expired {
    pub(crate) removed: u64,
    pub(crate) removed_bytes: u64,
    pub(crate) swept: Swept,
}

/// What would be removed of a project now.
pub(crate) async fn expirable(app: &App, caller: &Caller, project: ProjectId) -> Result<Expirable, No> {
    caller.sees(project, "project")?;
    find_project(app, project).await?;
    app.store().expirable(project, app.settings().retention).await.map_err(No::Fault)
}

async fn find_project(app: &App, id: ProjectId) -> Result<Project, No> {
    let project = app.store().project(id).await.map_err(No::Fault)?;
    project.ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}

/// Removes it.
pub(crate) async fn expire(app: &App, actor: Actor, project: ProjectId) -> Result<Expired, No> {
    let retention = app.settings().retention;
    if !retention.removes() {
        let why =
            "nothing is ever removed here; say after how many days in `[retention]` of placet.toml, and start again";
        return Err(Refusal::invalid(why).into());
    }
    find_project(app, project).await?;
    let found = app.store().expirable(project, retention).await.map_err(No::Fault)?;
    remove(app, actor, project, found.expiry).await
}

/// Removes the entries before the bytes.
async fn remove(app: &App, actor: Actor, project: ProjectId, expiry: Expiry) -> Result<Expired, No> {
    let mut expired = Expired::default();
    for expiry in expiry.in_parts() {
        let command = Command::RemoveBlobs { project, expiry: Box::new(expiry) };
        let receipt = app.submit(actor.clone(), command, None).await?;
        receipt.records.iter().for_each(|record| expired.count(record));
    }
    expired.swept = app.store().sweep().await.map_err(No::Fault)?;
    Ok(expired)
}

/// Removes uploads that are a day old and still unnamed. An entry that names an upload by then keeps it.
pub(crate) async fn forget_uploads(app: &App, project: ProjectId) -> Result<Expired, No> {
    let found = app.store().expirable_uploads(project).await.map_err(No::Fault)?;
    if found.expiry.contents.is_empty() {
        return Ok(Expired::default());
    }
    remove(app, Actor::Runtime, project, found.expiry).await
}

impl Expired {
    fn count(&mut self, record: &Record) {
        if let Event::BlobRemoved(removed) = &record.event {
            self.removed += 1;
            self.removed_bytes = self.removed_bytes.saturating_add(removed.size_bytes);
        }
    }
}

/// Begins or ends a preservation.
pub(crate) async fn preserve(
    app: &App,
    caller: &Caller,
    id: ProjectId,
    command: ProjectCommand,
) -> Result<Project, No> {
    caller.sees(id, "project")?;
    let receipt = app.submit(caller.actor(), Command::Project { id, command }, caller.key.clone()).await?;
    receipt.loaded.project.ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}
