//! Bringing a database to the schema this program knows, one numbered step after the other, each whole or not at all.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use crate::error::StoreError;

/// Steps are added at the end and never edited: somebody's database has taken them already.
const STEPS: &[&str] = &[
    include_str!("../../migrations/0001_ledger.sql"),
    include_str!("../../migrations/0002_webhook_cursor.sql"),
    include_str!("../../migrations/0003_worktree.sql"),
    include_str!("../../migrations/0004_governed_runs.sql"),
];

pub(crate) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    let known = STEPS.len() as u32;
    let found = schema(conn)?;
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    for (number, step) in (1..).zip(STEPS).skip(found as usize) {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        let record = "INSERT INTO meta (key, value) VALUES ('schema', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1";
        transaction.execute(record, [number.to_string()])?;
        transaction.commit()?;
    }
    Ok(())
}

/// The number of the last step that was taken; 0 for a new database.
fn schema(conn: &Connection) -> Result<u32, StoreError> {
    let is_new = "SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'meta'";
    if conn.query_row(is_new, [], |row| row.get(0))? {
        return Ok(0);
    }
    let read = "SELECT value FROM meta WHERE key = 'schema'";
    let found: Option<String> = conn.query_row(read, [], |row| row.get(0)).optional()?;
    let found = found.unwrap_or_default();
    found.parse().map_err(|_| StoreError::BadSchema { found })
}
