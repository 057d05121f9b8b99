//! How long contents are kept: what would be removed, removing it, and what is preserved.

use axum::Json;
use axum::extract::State;
use placet_domain::id::ProjectId;
use placet_domain::project::{Project, ProjectCommand};
use placet_domain::retention::{Content, Preservation};
use placet_store::Expirable;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, Expired};

/// More of them say nothing that their number does not.
const MOST_LISTED: usize = 1_000;

pub(super) async fn show(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    caller: Caller,
) -> Result<Json<api::RetentionView>, Failure> {
    let found = flow::expirable(&app, &caller, project).await?;
    Ok(Json(view(&app, found)))
}

fn view(app: &App, found: Expirable) -> api::RetentionView {
    let Expirable { expiry, needed, young } = found;
    let settings = app.settings();
    let removable = |content: &Content| {
        let Content { digest, size_bytes, kept, is_result, .. } = *content;
        api::RemovableView { digest, size_bytes, kept, result: is_result }
    };
    api::RetentionView {
        evidence_days: settings.retention.evidence_days.map(u32::from),
        results_days: settings.retention.results_days.map(u32::from),
        daily: settings.expires_daily,
        removable: expiry.contents.iter().take(MOST_LISTED).map(removable).collect(),
        removable_count: expiry.contents.len() as u64,
        removable_bytes: expiry.contents.iter().map(|content| content.size_bytes).sum(),
        preserved: preserved(expiry.preserved),
        needed,
        young,
    }
}

fn preserved(preserved: Vec<Preservation>) -> Vec<api::PreservationView> {
    let view = |Preservation { run, reason }| api::PreservationView { run, reason };
    preserved.into_iter().map(view).collect()
}

pub(super) async fn expire(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, api::Decision {}): Asked<api::Decision>,
) -> Result<Json<api::ExpiryView>, Failure> {
    caller.sees(project, "project")?;
    let Expired { removed, removed_bytes, swept } = flow::expire(&app, caller.actor(), project).await?;
    Ok(Json(api::ExpiryView { removed, removed_bytes, freed_bytes: swept.size_bytes }))
}

type Preserved = Result<Json<api::PreservationList>, Failure>;

pub(super) async fn preserve(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, given): Asked<api::PreservationRequest>,
) -> Preserved {
    let command = ProjectCommand::Preserve { run: given.run, reason: given.reason };
    list(flow::preserve(&app, &caller, project, command).await?)
}

pub(super) async fn end_preservation(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, given): Asked<api::PreservationRequest>,
) -> Preserved {
    let command = ProjectCommand::EndPreservation { run: given.run, reason: given.reason };
    list(flow::preserve(&app, &caller, project, command).await?)
}

fn list(project: Project) -> Preserved {
    Ok(Json(api::PreservationList { preserved: preserved(project.preserved) }))
}
