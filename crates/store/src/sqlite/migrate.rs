//! Bringing a database to the schema this program knows, one numbered step after the other, each whole or not at all; and its
//! projections to how this program reads the ledger.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::audit::rebuild;
use crate::error::StoreError;

/// Steps are added at the end and never edited: somebody's database has taken them already.
const STEPS: &[&str] = &[
    include_str!("../../migrations/0001_ledger.sql"),
    include_str!("../../migrations/0002_webhook_cursor.sql"),
    include_str!("../../migrations/0003_worktree.sql"),
    include_str!("../../migrations/0004_governed_runs.sql"),
    include_str!("../../migrations/0005_performances.sql"),
    include_str!("../../migrations/0006_who_may_read.sql"),
    include_str!("../../migrations/0007_removal.sql"),
    include_str!("../../migrations/0008_password.sql"),
    include_str!("../../migrations/0009_decisions.sql"),
    include_str!("../../migrations/0010_notice_debt.sql"),
    include_str!("../../migrations/0011_queue.sql"),
    include_str!("../../migrations/0012_seen_file.sql"),
    include_str!("../../migrations/0013_attention.sql"),
    include_str!("../../migrations/0014_question.sql"),
    include_str!("../../migrations/0015_queue_in_its_indexes.sql"),
    include_str!("../../migrations/0017_turns.sql"),
    include_str!("../../migrations/0018_upload.sql"),
    include_str!("../../migrations/0019_live_actions_by_run.sql"),
];

/// How the ledger is read into projections. Count it up whenever an event means something else for a state, or a state has a
/// field more: what was computed by an older reading is then computed anew, so that every stored state is what the ledger says.
const READING: u32 = 22;

pub(crate) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    take_steps(conn)?;
    read_anew(conn)
}

fn take_steps(conn: &mut Connection) -> Result<(), StoreError> {
    let known = STEPS.len() as u32;
    let found = schema(conn)?;
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    for (number, step) in (1..).zip(STEPS).skip(found as usize) {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        note(&transaction, "schema", number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Computes the projections from the ledger, if they were written by another reading than this one.
fn read_anew(conn: &mut Connection) -> Result<(), StoreError> {
    if noted(conn, "reading")?.as_deref() == Some(READING.to_string().as_str()) {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    rebuild(&transaction)?;
    note(&transaction, "reading", READING)?;
    Ok(transaction.commit()?)
}

fn note(conn: &Connection, key: &str, number: u32) -> Result<(), StoreError> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
    conn.execute(sql, [key, &number.to_string()])?;
    Ok(())
}

fn noted(conn: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    Ok(conn.query_row(sql, [key], |row| row.get(0)).optional()?)
}

/// The number of the last step that was taken; 0 for a new database.
fn schema(conn: &Connection) -> Result<u32, StoreError> {
    let is_new = "SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'meta'";
    if conn.query_row(is_new, [], |row| row.get(0))? {
        return Ok(0);
    }
    let found = noted(conn, "schema")?.unwrap_or_default();
    found.parse().map_err(|_| StoreError::BadSchema { found })
}
