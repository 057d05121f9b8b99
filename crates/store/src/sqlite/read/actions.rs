//! Actions: one, many, those that wait for a person, those that ran out of time.

use std::collections::BTreeMap;

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_domain::time::Timestamp;
use rusqlite::{Connection, Params, params};

use super::entities::state;
use super::parse_id;
use super::select::Select;
use crate::error::StoreError;
use crate::query::{ActionFilter, Listed, MOST_ROWS};
use crate::sqlite::rows::listed;

const LISTED: &str = "SELECT created, created_ms, changed, changed_ms, state FROM action";

pub(crate) fn action(conn: &Connection, id: ActionId) -> Result<Option<ActionState>, StoreError> {
    state(conn, "action", "SELECT state FROM action WHERE id = ?1", [id.to_string()])
}

pub(crate) fn actions(conn: &Connection, filter: &ActionFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
    Select::new(LISTED)
        .within("project", &filter.reach)
        .and("project = ?", filter.project.map(|id| id.to_string()))
        .and("run = ?", filter.run.map(|id| id.to_string()))
        .one_of("status", filter.statuses.iter().map(|status| status.as_str()))
        .page("created", filter.order, filter.after, filter.limit)
        .all(conn, |row| listed("action", row))
}

/// What waits for a reviewer and can still be decided: the riskiest first, then the oldest.
pub(crate) fn queue(conn: &Connection, reach: &Reach, limit: u32) -> Result<Vec<Listed<ActionState>>, StoreError> {
    let sql = "SELECT action.created, action.created_ms, action.changed, action.changed_ms, action.state
        FROM action JOIN run ON run.id = action.run AND run.is_open";
    Select::new(sql)
        .within("action.project", reach)
        .literally("action.status = 'PENDING_APPROVAL'")
        .ordered("action.risk DESC, action.created", limit)
        .all(conn, |row| listed("action", row))
}

/// How many actions stand where; a status without actions is left out.
pub(crate) fn counts(
    conn: &Connection,
    reach: &Reach,
    project: Option<ProjectId>,
) -> Result<BTreeMap<ActionStatus, u64>, StoreError> {
    let counted = Select::new("SELECT status, count(*) FROM action")
        .within("project", reach)
        .and("project = ?", project.map(|id| id.to_string()))
        .grouped("status")
        .all(conn, |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    Ok(counted.into_iter().filter_map(|(status, count)| Some((ActionStatus::parse(&status)?, count))).collect())
}

/// Actions whose deadline or lease has run out.
pub(crate) fn lapsing(conn: &Connection, now: Timestamp, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let sql = "SELECT run, id FROM action WHERE due_ms IS NOT NULL AND due_ms <= ?1 ORDER BY due_ms LIMIT ?2";
    named(conn, sql, params![now.unix_ms(), limit.min(MOST_ROWS)])
}

/// Actions that still wait under the verdict of another policy than this one.
pub(crate) fn outdated(conn: &Connection, policy: Digest, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let sql = "SELECT run, id FROM action WHERE status IN ('PENDING_APPROVAL', 'APPROVED') AND policy <> ?1
        ORDER BY created LIMIT ?2";
    named(conn, sql, params![policy.as_bytes(), limit.min(MOST_ROWS)])
}

fn named(conn: &Connection, sql: &str, values: impl Params) -> Result<Vec<(RunId, ActionId)>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (run, action): (String, String) = (row.get(0)?, row.get(1)?);
        found.push((parse_id(&run)?, parse_id(&action)?));
    }
    Ok(found)
}
