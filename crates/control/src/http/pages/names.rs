//! Names for ids. Nobody is ever renamed, so what was looked up once is true for good; how much is remembered is bounded.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use placet_domain::id::{IdentityId, ProjectId};
use placet_store::StoreError;

use crate::app::App;

/// Beyond this everything is forgotten and looked up again.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Names {
    people: RwLock<HashMap<IdentityId, String>>,
    projects: RwLock<HashMap<ProjectId, String>>,
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
