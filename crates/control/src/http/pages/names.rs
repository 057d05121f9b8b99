//! Names for ids, and goals of runs. Nobody is ever renamed and no goal changes, so what was looked up once is true for good; how much is remembered is bounded.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_store::StoreError;

use crate::app::App;

/// Beyond this everything is forgotten and looked up again.
const MOST: usize = 10_000;
/// More links than this are no choice.
const MOST_TO_CHOOSE_FROM: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct Names {
    people: RwLock<HashMap<IdentityId, String>>,
    projects: RwLock<HashMap<ProjectId, String>>,
    goals: RwLock<HashMap<RunId, String>>,
}

fn recall<K: Eq + std::hash::Hash>(map: &RwLock<HashMap<K, String>>, id: &K) -> Option<String> {
    map.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
}

fn remember<K: Eq + std::hash::Hash>(map: &RwLock<HashMap<K, String>>, id: K, name: &str) {
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(id, name.to_owned());
}

/// The name of whoever has this id; the id itself for nobody.
pub(in crate::http) async fn person(app: &App, id: IdentityId) -> Result<String, StoreError> {
    if let Some(name) = recall(&app.page_state().names.people, &id) {
        return Ok(name);
    }
    let Some(identity) = app.store().identity(id).await? else { return Ok(id.to_string()) };
    remember(&app.page_state().names.people, id, &identity.name);
    Ok(identity.name)
}

pub(super) async fn project(app: &App, id: ProjectId) -> Result<String, StoreError> {
    if let Some(name) = recall(&app.page_state().names.projects, &id) {
        return Ok(name);
    }
    let Some(project) = app.store().project(id).await? else { return Ok(id.to_string()) };
    remember(&app.page_state().names.projects, id, &project.name);
    Ok(project.name)
}

/// What a run is for; nothing for no run.
pub(super) async fn goal(app: &App, id: RunId) -> Result<String, StoreError> {
    if let Some(goal) = recall(&app.page_state().names.goals, &id) {
        return Ok(goal);
    }
    let Some(run) = app.store().run(id).await? else { return Ok(String::new()) };
    remember(&app.page_state().names.goals, id, &run.goal);
    Ok(run.goal)
}

/// The projects within reach, by name; not more than somebody chooses from.
pub(super) async fn projects(app: &App, reach: &Reach) -> Result<Vec<(ProjectId, String)>, StoreError> {
    let seen = app.store().projects().await?.into_iter().filter(|project| reach.includes(project.id));
    let mut named: Vec<_> = seen.take(MOST_TO_CHOOSE_FROM).map(|project| (project.id, project.name)).collect();
    named.sort_by(|one, other| one.1.cmp(&other.1));
    Ok(named)
}
