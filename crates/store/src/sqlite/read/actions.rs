//! Actions: one, many, those that ran out of time. Those that wait for a person are in [`super::queue`].

use std::collections::BTreeMap;

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_domain::time::Timestamp;
use rusqlite::{Connection, Params, params};

use super::entities::state;
use super::select::{IN_PROJECT, IN_RUN, Select};
use crate::error::StoreError;
use crate::query::{ActionFilter, Listed, MOST_ROWS};
use crate::sqlite::rows::listed;

const LISTED: &str = "SELECT created, created_ms, changed, changed_ms, state FROM action";

pub(crate) fn action(conn: &Connection, id: ActionId) -> Result<Option<ActionState>, StoreError> {
    state(conn, "action", "SELECT state FROM action WHERE id = ?1", [id.as_bytes()])
}

pub(crate) fn actions(conn: &Connection, filter: &ActionFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
    Select::new(LISTED)
        .literally(alive(&filter.statuses))
        .within("project", &filter.reach)
        .and(IN_PROJECT, filter.project.map(|id| id.as_bytes().to_vec()))
        .and(IN_RUN, filter.run.map(|id| id.as_bytes().to_vec()))
        .one_of("status", filter.statuses.iter().map(|status| status.as_str()))
        .and("changed_ms >= ?", filter.changed_since.map(Timestamp::unix_ms))
        .page("created", filter.order, filter.after, filter.limit)
        .all(conn, |row| listed("action", row))
}

/// The condition that lets SQLite use the index of the live actions, or of the others, if only those are wanted.
fn alive(statuses: &[ActionStatus]) -> &'static str {
    let is_final = |status: &ActionStatus| status.is_final();
    match (statuses.iter().all(is_final), statuses.iter().any(is_final)) {
        (true, true) => "NOT is_live",
        (false, false) => "is_live",
        (true, false) | (false, true) => "TRUE",
    }
}

/// How many actions were proposed in a run.
pub(crate) fn action_count(conn: &Connection, run: RunId) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM action WHERE run = (SELECT created FROM run WHERE id = ?1)";
    Ok(conn.prepare_cached(sql)?.query_row([run.as_bytes()], |row| row.get(0))?)
}

/// How many actions stand where; a status without actions is left out.
pub(crate) fn counts(
    conn: &Connection,
    reach: &Reach,
    project: Option<ProjectId>,
) -> Result<BTreeMap<ActionStatus, u64>, StoreError> {
    let mut counted = Vec::new();
    // One after the other, because each half has an index of its own.
    for half in ["is_live", "NOT is_live"] {
        let rows = Select::new("SELECT status, count(*) FROM action")
            .literally(half)
            .within("project", reach)
            .and(IN_PROJECT, project.map(|id| id.as_bytes().to_vec()))
            .grouped("status")
            .all(conn, |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        counted.extend(rows);
    }
    Ok(counted.into_iter().filter_map(|(status, count)| Some((ActionStatus::parse(&status)?, count))).collect())
}

/// Actions whose deadline or lease has run out.
pub(crate) fn lapsing(conn: &Connection, now: Timestamp, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let sql = "SELECT run.id, action.id FROM action JOIN run ON run.created = action.run WHERE action.is_live
        AND action.status IN ('PENDING_APPROVAL', 'APPROVED', 'LEASED', 'EXECUTING') AND action.due_ms <= ?1
        ORDER BY action.due_ms LIMIT ?2";
    named(conn, sql, params![now.unix_ms(), limit.min(MOST_ROWS)])
}

/// Actions that were proposed before their run was rolled back, and still wait.
pub(crate) fn void(conn: &Connection, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let sql = "SELECT run.id, action.id FROM run JOIN action ON action.run = run.created WHERE run.rollbacks > 0
        AND action.is_live AND action.rollbacks < run.rollbacks AND action.status IN ('PENDING_APPROVAL', 'APPROVED')
        ORDER BY action.created LIMIT ?1";
    named(conn, sql, params![limit.min(MOST_ROWS)])
}

/// Actions that still wait under the verdict of another policy than this one.
pub(crate) fn outdated(conn: &Connection, policy: Digest, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let sql = "SELECT run.id, action.id FROM action JOIN run ON run.created = action.run WHERE action.is_live
        AND action.status IN ('PENDING_APPROVAL', 'APPROVED') AND action.policy <> ?1 ORDER BY action.created LIMIT ?2";
    named(conn, sql, params![policy.as_bytes(), limit.min(MOST_ROWS)])
}

fn named(conn: &Connection, sql: &str, values: impl Params) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((RunId::from_bytes(row.get(0)?), ActionId::from_bytes(row.get(1)?)));
    }
    Ok(found)
}
