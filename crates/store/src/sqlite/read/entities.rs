//! Identities, projects, scopes, runs and worktrees.

use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::{Identity, Reach};
use placet_domain::organisation::Organisation;
use placet_domain::project::Project;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use serde::de::DeserializeOwned;

use super::select::{IN_PROJECT, Select};
use crate::error::StoreError;
use crate::query::{Listed, LockedScope, Order, RunFilter, WorktreeFilter};
use crate::sqlite::rows::{WANTS_A_HOST, from_json, listed};

/// Reads the one state that a statement finds.
pub(super) fn state<T: DeserializeOwned>(
    conn: &Connection,
    what: &str,
    sql: &str,
    values: impl Params,
) -> Result<Option<T>, StoreError> {
    let json: Option<String> = conn.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    json.map(|json| from_json(what, &json)).transpose()
}

fn states<T: DeserializeOwned>(conn: &Connection, what: &str, sql: &str) -> Result<Vec<T>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    rows.map(|json| from_json(what, &json?)).collect()
}

pub(crate) fn identity(conn: &Connection, id: IdentityId) -> Result<Option<Identity>, StoreError> {
    state(conn, "identity", "SELECT state FROM identity WHERE id = ?1", [id.as_bytes()])
}

/// The holder of a token. The token of a revoked identity opens nothing, so it is not found.
pub(crate) fn identity_by_token(conn: &Connection, token: Digest) -> Result<Option<Identity>, StoreError> {
    state(conn, "identity", "SELECT state FROM identity WHERE token = ?1 AND NOT revoked", [token.as_bytes()])
}

/// Also a revoked identity keeps its token for itself.
pub(crate) fn is_token_taken(conn: &Connection, token: Digest) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM identity WHERE token = ?1)";
    Ok(conn.prepare_cached(sql)?.query_row([token.as_bytes()], |row| row.get(0))?)
}

/// Counts the identities that have or had a name.
pub(crate) fn count_named(conn: &Connection, name: &str) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM identity WHERE name = ?1";
    Ok(conn.prepare_cached(sql)?.query_row([name], |row| row.get(0))?)
}

pub(crate) fn identities(conn: &Connection) -> Result<Vec<Identity>, StoreError> {
    states(conn, "identity", "SELECT state FROM identity ORDER BY created")
}

/// What nothing was recorded about yet is as it always was.
pub(crate) fn organisation(conn: &Connection) -> Result<Organisation, StoreError> {
    Ok(state(conn, "organisation", "SELECT state FROM organisation", [])?.unwrap_or_default())
}

/// The agents of hosted runs that are over and not cleaned up yet, as long as they are not revoked.
pub(crate) fn idle_agents(conn: &Connection) -> Result<Vec<IdentityId>, StoreError> {
    let sql = "SELECT identity.id FROM run JOIN identity ON identity.id = unhex(substr(json_extract(run.state, '$.agent'), 5))
        WHERE run.wants IS NOT NULL AND run.status IN ('COMPLETED', 'CANCELLED') AND NOT identity.revoked";
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map([], |row| Ok(IdentityId::from_bytes(row.get(0)?)))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Runs that the clockwork should look at, the most urgent first.
pub(crate) fn runs_due(conn: &Connection, now: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
    let sql = "SELECT id FROM run WHERE due_ms <= ?1 ORDER BY due_ms LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map(params![now.unix_ms(), limit], |row| Ok(RunId::from_bytes(row.get(0)?)))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Runs of which something is wanted of this host, and those within its reach that want one; the oldest first.
pub(crate) fn runs_to_host(conn: &Connection, host: IdentityId, reach: &Reach) -> Result<Vec<Run>, StoreError> {
    let sql = "SELECT state FROM run WHERE wants IS NOT NULL AND (host = ?1 OR wants = ?2 AND (?3 IS NULL OR project IN
        (SELECT created FROM project WHERE id IN (SELECT unhex(value) FROM json_each(?3))))) ORDER BY created";
    let mut statement = conn.prepare_cached(sql)?;
    let values = params![host.as_bytes(), WANTS_A_HOST, super::reach_as_json(reach)];
    let rows = statement.query_map(values, |row| row.get::<_, String>(0))?;
    rows.map(|json| from_json("run", &json?)).collect()
}

pub(crate) fn project(conn: &Connection, id: ProjectId) -> Result<Option<Project>, StoreError> {
    state(conn, "project", "SELECT state FROM project WHERE id = ?1", [id.as_bytes()])
}

pub(crate) fn project_by_name(conn: &Connection, name: &str) -> Result<Option<Project>, StoreError> {
    state(conn, "project", "SELECT state FROM project WHERE name = ?1", [name])
}

pub(crate) fn projects(conn: &Connection) -> Result<Vec<Project>, StoreError> {
    states(conn, "project", "SELECT state FROM project ORDER BY created")
}

pub(crate) fn scopes(conn: &Connection, project: ProjectId) -> Result<Vec<LockedScope>, StoreError> {
    let sql = "SELECT name, state, seq, at_ms FROM scope WHERE project = (SELECT created FROM project WHERE id = ?1)
        ORDER BY seq";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([project.as_bytes()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(locked_scope(row)?);
    }
    Ok(found)
}

/// The newest scope of this name.
pub(crate) fn scope(conn: &Connection, project: ProjectId, name: &str) -> Result<Option<LockedScope>, StoreError> {
    let sql = "SELECT name, state, seq, at_ms FROM scope WHERE project = (SELECT created FROM project WHERE id = ?1)
        AND name = ?2 ORDER BY seq DESC LIMIT 1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![project.as_bytes(), name])?;
    rows.next()?.map(locked_scope).transpose()
}

fn locked_scope(row: &Row<'_>) -> Result<LockedScope, StoreError> {
    let json: String = row.get(1)?;
    let (name, scope) = (row.get(0)?, from_json("scope", &json)?);
    Ok(LockedScope { name, scope, seq: row.get(2)?, at: Timestamp::from_unix_ms(row.get(3)?) })
}

pub(crate) fn run(conn: &Connection, id: RunId) -> Result<Option<Run>, StoreError> {
    state(conn, "run", "SELECT state FROM run WHERE id = ?1", [id.as_bytes()])
}

/// The runs that are not over, of one project or of all.
pub(crate) fn unfinished(conn: &Connection, project: Option<ProjectId>) -> Result<Vec<Run>, StoreError> {
    let sql = "SELECT state FROM run WHERE status NOT IN ('COMPLETED', 'CANCELLED')
        AND (?1 IS NULL OR project = (SELECT created FROM project WHERE id = ?1)) ORDER BY created";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![project.map(|id| *id.as_bytes())], |row| row.get::<_, String>(0))?;
    rows.map(|json| from_json("run", &json?)).collect()
}

/// Those of a project that other runs have made.
pub(crate) fn children(conn: &Connection, project: ProjectId) -> Result<Vec<Run>, StoreError> {
    let sql = "SELECT state FROM run WHERE status NOT IN ('COMPLETED', 'CANCELLED') AND state ->> 'parent' IS NOT NULL
        AND project = (SELECT created FROM project WHERE id = ?1) ORDER BY created";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([project.as_bytes()], |row| row.get::<_, String>(0))?;
    rows.map(|json| from_json("run", &json?)).collect()
}

pub(crate) fn runs(conn: &Connection, filter: &RunFilter) -> Result<Vec<Listed<Run>>, StoreError> {
    let ordered = "status NOT IN ('COMPLETED', 'CANCELLED') AND state -> 'orders' IS NOT NULL";
    Select::new("SELECT created, created_ms, changed, changed_ms, state FROM run")
        .literally(if filter.with_orders { ordered } else { "TRUE" })
        .within("project", &filter.reach)
        .and(IN_PROJECT, filter.project.map(|id| id.as_bytes().to_vec()))
        .and("status = ?", filter.status.map(|status| status.as_str().to_owned()))
        .page("created", Order::NewestFirst, filter.before, filter.limit)
        .all(conn, |row| listed("run", row))
}

pub(crate) fn worktree(conn: &Connection, id: WorktreeId) -> Result<Option<Worktree>, StoreError> {
    state(conn, "worktree", "SELECT state FROM worktree WHERE id = ?1", [id.as_bytes()])
}

pub(crate) fn worktrees(conn: &Connection, filter: &WorktreeFilter) -> Result<Vec<Listed<Worktree>>, StoreError> {
    Select::new("SELECT created, created_ms, changed, changed_ms, state FROM worktree")
        .within("project", &filter.reach)
        .and(IN_PROJECT, filter.project.map(|id| id.as_bytes().to_vec()))
        .and("ticket = ?", filter.ticket.as_ref().map(|ticket| ticket.as_str().to_owned()))
        .page("created", Order::OldestFirst, filter.after, filter.limit)
        .all(conn, |row| listed("worktree", row))
}
