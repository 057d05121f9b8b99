//! Finds actions that wait for workers, run by run.

use placet_domain::id::{ActionId, IdentityId, RunId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::StoreError;
use crate::receipt::Lease;
use crate::sqlite::place::Place;
use crate::sqlite::read;
use crate::unit::WaitingRun;

/// Selects the next run after a given place that has approved actions, with its earliest deadline.
const NEXT_RUN: &str = "SELECT run, due_ms FROM action WHERE is_live AND status = 'APPROVED' AND run > ?1
    ORDER BY run, due_ms LIMIT 1";

/// Selects the actions of one run whose lease the domain would not refuse.
const NEXT_READY: &str = "SELECT action.id FROM action JOIN run ON run.created = action.run
    WHERE action.is_live AND action.status = 'APPROVED' AND action.run = ?6
        AND action.due_ms > ?1 AND action.policy = ?2
        AND run.status = CASE WHEN action.performing THEN 'PENDING_EXPORT' ELSE 'EXECUTING' END
        AND action.rollbacks = run.rollbacks
        AND NOT (action.performing AND EXISTS (SELECT 1 FROM action AS earlier WHERE earlier.run = action.run
            AND earlier.performing AND earlier.is_live AND earlier.created < action.created))
        AND (run.host IS NULL OR run.host = ?4 AND NOT EXISTS (SELECT 1 FROM action AS other WHERE other.run = action.run
            AND other.is_live AND other.status IN ('LEASED', 'EXECUTING')))
        AND (?3 IS NULL OR action.project IN
        (SELECT created FROM project WHERE id IN (SELECT unhex(value) FROM json_each(?3))))
    ORDER BY action.due_ms LIMIT 1 OFFSET ?5";

/// Lists the runs with approved actions. Each run takes one index step, however many actions it has.
pub(super) fn waiting_runs(conn: &Connection) -> Result<Vec<WaitingRun>, StoreError> {
    let about_run = "SELECT id, json_extract(state, '$.agent') FROM run WHERE created = ?1";
    let (mut found, mut after) = (Vec::new(), -1);
    let (mut next, mut about_run) = (conn.prepare_cached(NEXT_RUN)?, conn.prepare_cached(about_run)?);
    while let Some((place, due_ms)) = next.query_row([after], read_next).optional()? {
        let read = |row: &Row<'_>| Ok((RunId::from_bytes(row.get(0)?), row.get::<_, String>(1)?));
        let (id, agent) = about_run.query_row([place], read)?;
        let agent = agent.parse::<IdentityId>().map_err(|error| StoreError::unreadable("agent of a run", error))?;
        found.push(WaitingRun { id, agent, due_ms });
        after = i64::try_from(place).unwrap_or(i64::MAX);
    }
    Ok(found)
}

fn read_next(row: &Row<'_>) -> rusqlite::Result<(Place, i64)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Finds the next ready action of a run. Actions that the decision would refuse are left out here, so that they do not stand in the way
/// of later ones. A run with files of its own has one action at a time in them: others wait their turn here and not on a lease. Rehearsed
/// actions are performed in the order in which they were proposed, each after the one before is over.
pub(super) fn next_ready(
    conn: &Connection,
    run: Place,
    now_ms: i64,
    lease: &Lease,
    skipped: u32,
) -> Result<Option<ActionId>, StoreError> {
    let (reach, worker) = (read::reach_as_json(&lease.worker.reach), lease.worker.id);
    let values = params![now_ms, lease.policy.as_bytes(), reach, worker.as_bytes(), skipped, run];
    let id = |row: &Row<'_>| Ok(ActionId::from_bytes(row.get(0)?));
    Ok(conn.prepare_cached(NEXT_READY)?.query_row(values, id).optional()?)
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Null;
    use rusqlite::{Connection, params_from_iter};

    use super::*;
    use crate::sqlite::schema::prepare;

    #[test]
    fn next_action_is_found_by_index_however_many_wait() {
        let mut conn = Connection::open_in_memory().unwrap();
        prepare(&mut conn).unwrap();
        for sql in [NEXT_RUN, NEXT_READY] {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nothing = vec![Null; statement.parameter_count()];
            let steps = statement.query_map(params_from_iter(nothing), |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            let plan = steps.join("\n");
            assert!(plan.contains("SEARCH action USING") && plan.contains("action_ready_by_run"), "{plan}");
            assert!(!plan.contains("SCAN action") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
