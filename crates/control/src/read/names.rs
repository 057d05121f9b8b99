//! Names for ids, and goals of runs.

use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_store::StoreError;

use crate::app::App;

/// More links than this are no choice.
const MOST_TO_CHOOSE_FROM: usize = 20;

/// The name of the identity with this id; the id itself if there is none.
pub async fn person(app: &App, id: IdentityId) -> Result<String, StoreError> {
    if let Some(name) = app.names().people.recall(&id) {
        return Ok(name);
    }
    let Some(identity) = app.store().identity(id).await? else { return Ok(id.to_string()) };
    app.names().people.remember(id, &identity.name);
    Ok(identity.name)
}

/// The name of the project with this id; the id itself if there is none.
pub async fn project(app: &App, id: ProjectId) -> Result<String, StoreError> {
    if let Some(name) = app.names().projects.recall(&id) {
        return Ok(name);
    }
    let Some(project) = app.store().project(id).await? else { return Ok(id.to_string()) };
    app.names().projects.remember(id, &project.name);
    Ok(project.name)
}

/// The goal of a run; empty if there is none.
pub async fn goal(app: &App, id: RunId) -> Result<String, StoreError> {
    if let Some(goal) = app.names().goals.recall(&id) {
        return Ok(goal);
    }
    let Some(run) = app.store().run(id).await? else { return Ok(String::new()) };
    app.names().goals.remember(id, &run.goal);
    Ok(run.goal)
}

/// The projects within reach, by name; not more than somebody chooses from.
pub async fn projects(app: &App, reach: &Reach) -> Result<Vec<(ProjectId, String)>, StoreError> {
    let seen = app.store().projects().await?.into_iter().filter(|project| reach.includes(project.id));
    let mut named: Vec<_> = seen.take(MOST_TO_CHOOSE_FROM).map(|project| (project.id, project.name)).collect();
    named.sort_by(|one, other| one.1.cmp(&other.1));
    Ok(named)
}
