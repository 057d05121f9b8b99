//! Reads everything that depends on an identity and was not started, for its revocation, and counts the open actions of a run. The SQL
//! only searches the text of states for the id; the domain then checks in which field the id is.

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::run::{Beside, Run};
use placet_domain::worktree::Worktree;
use rusqlite::{Connection, params};
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::sqlite::rows::from_json;

fn naming<T: DeserializeOwned>(conn: &Connection, what: &str, sql: &str, id: IdentityId) -> Result<Vec<T>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([id.to_string()], |row| row.get::<_, String>(0))?;
    rows.map(|json| from_json(what, &json?)).collect()
}

/// Reads the unstarted actions whose state contains the id in any field. Scans all live actions: revocations are rare and not worth an
/// index.
pub(crate) fn unstarted_actions_naming(conn: &Connection, id: IdentityId) -> Result<Vec<ActionState>, StoreError> {
    let sql = "SELECT state FROM action WHERE is_live AND status IN ('PENDING_APPROVAL', 'APPROVED', 'LEASED')
        AND instr(state, ?1) ORDER BY created";
    naming(conn, "action", sql, id)
}

/// Reads the unfinished runs whose state contains the id in any field.
pub(crate) fn runs_naming(conn: &Connection, id: IdentityId) -> Result<Vec<Run>, StoreError> {
    let sql =
        "SELECT state FROM run WHERE status NOT IN ('COMPLETED', 'CANCELLED') AND instr(state, ?1) ORDER BY created";
    naming(conn, "run", sql, id)
}

/// Reads the worktrees whose state contains the id in any field.
pub(crate) fn worktrees_naming(conn: &Connection, id: IdentityId) -> Result<Vec<Worktree>, StoreError> {
    naming(conn, "worktree", "SELECT state FROM worktree WHERE instr(state, ?1) ORDER BY created", id)
}

/// Counts the actions of a run, without the given ones, that wait for people and that are approved or in progress.
pub(crate) fn beside(conn: &Connection, run: &Run, without: &[ActionId]) -> Result<Beside, StoreError> {
    let sql = "SELECT status, count(*) FROM action WHERE run = (SELECT created FROM run WHERE id = ?1) AND is_live
        AND rollbacks = ?2 AND id NOT IN (SELECT unhex(value) FROM json_each(?3)) GROUP BY status";
    let without: Vec<String> =
        without.iter().map(|id| format!("{:032x}", u128::from_be_bytes(*id.as_bytes()))).collect();
    let without = serde_json::to_string(&without).expect("ids are plain JSON");
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![run.id.as_bytes(), run.rollbacks, without], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?))
    })?;
    rows.map(|row| row.map_err(StoreError::from)).try_fold(Beside::default(), |all, row| {
        let (status, count) = row?;
        Ok(ActionStatus::parse(&status).map_or(all, |status| all.plus(status, count)))
    })
}
