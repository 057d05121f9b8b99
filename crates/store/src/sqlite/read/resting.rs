//! What rests on one person and was not started, read when they are revoked; and what else of a run is under way. Text narrows it down;
//! what counts is where in a state an id stands, which the domain looks at.

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

/// Revocations are rare: all that is live is looked at, and no index is kept for it.
pub(crate) fn resting_actions(conn: &Connection, id: IdentityId) -> Result<Vec<ActionState>, StoreError> {
    let sql = "SELECT state FROM action WHERE is_live AND status IN ('PENDING_APPROVAL', 'APPROVED', 'LEASED')
        AND instr(state, ?1) ORDER BY created";
    let found: Vec<ActionState> = naming(conn, "action", sql, id)?;
    Ok(found.into_iter().filter(|action| action.rests_on(id)).collect())
}

/// The runs that are not over and name somebody in whatever way.
pub(crate) fn runs_naming(conn: &Connection, id: IdentityId) -> Result<Vec<Run>, StoreError> {
    let sql =
        "SELECT state FROM run WHERE status NOT IN ('COMPLETED', 'CANCELLED') AND instr(state, ?1) ORDER BY created";
    naming(conn, "run", sql, id)
}

/// The worktrees with an exemption that somebody granted.
pub(crate) fn exempted_worktrees(conn: &Connection, id: IdentityId) -> Result<Vec<Worktree>, StoreError> {
    let found: Vec<Worktree> =
        naming(conn, "worktree", "SELECT state FROM worktree WHERE instr(state, ?1) ORDER BY created", id)?;
    let granted = |worktree: &Worktree| worktree.exemptions.iter().any(|exemption| exemption.granted_by == Some(id));
    Ok(found.into_iter().filter(granted).collect())
}

/// How many actions of a run, without these, wait for people and how many are approved or under way.
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
    let mut all = Beside::default();
    for row in rows {
        let (status, count) = row?;
        match ActionStatus::parse(&status) {
            Some(ActionStatus::PendingApproval) => all.waiting = all.waiting.saturating_add(count),
            Some(ActionStatus::Approved | ActionStatus::Leased | ActionStatus::Executing) => {
                all.working = all.working.saturating_add(count);
            }
            // Interrupted ones wait too, for as long as nobody cares; what is over is not live.
            Some(
                ActionStatus::Interrupted
                | ActionStatus::Denied
                | ActionStatus::Rehearsed
                | ActionStatus::Rejected
                | ActionStatus::Expired
                | ActionStatus::Superseded
                | ActionStatus::Withdrawn
                | ActionStatus::Succeeded
                | ActionStatus::Failed
                | ActionStatus::Abandoned,
            )
            | None => {}
        }
    }
    Ok(all)
}
