//! Projects, scopes and the rules in force.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use placet_domain::id::ProjectId;
use placet_domain::scope::Scope;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller, No};
use crate::read::{self, view};

pub(super) async fn list(State(app): State<App>, caller: Caller) -> Result<Json<api::ProjectList>, Failure> {
    let projects = app.store().projects().await.map_err(No::Fault)?;
    let seen = projects.into_iter().filter(|project| caller.identity.reach.includes(project.id));
    Ok(Json(api::ProjectList { projects: seen.map(view::project).collect() }))
}

pub(super) async fn create(
    State(app): State<App>,
    Asked(caller, new): Asked<api::NewProject>,
) -> Result<Json<api::ProjectView>, Failure> {
    let project = flow::make_project(&app, &caller, new).await?;
    Ok(Json(view::project(project)))
}

pub(super) async fn scopes(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    caller: Caller,
) -> Result<Json<api::ScopeList>, Failure> {
    caller.sees(project, "project")?;
    let locked = app.store().scopes(project).await.map_err(No::Fault)?;
    // Oldest first, so that the newest of a name is the one that stays.
    let newest: BTreeMap<String, Scope> = locked.into_iter().map(|locked| (locked.name, locked.scope)).collect();
    Ok(Json(api::ScopeList { scopes: newest.into_iter().map(|(name, scope)| view::scope(name, scope)).collect() }))
}

pub(super) async fn lock_scope(
    State(app): State<App>,
    Path(project): Path<ProjectId>,
    Asked(caller, new): Asked<api::NewScope>,
) -> Result<Json<api::ScopeView>, Failure> {
    let (name, scope) = flow::lock_scope(&app, &caller, project, new).await?;
    Ok(Json(view::scope(name, scope)))
}

pub(super) async fn policy(State(app): State<App>) -> Json<api::PolicyView> {
    Json(read::policy::view(&app))
}
