//! Creates the schema in a new database, refuses a database with another one, and recomputes projections that an older reading of the
//! ledger made.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::audit::rebuild;
use crate::error::StoreError;

/// The whole schema. There are no migrations: nothing with an older schema was released.
const TABLES: &str = include_str!("../../schema.sql");
/// Version of the schema. Count it up with every change of `schema.sql`.
const SCHEMA: u32 = 21;

/// How the ledger is read into projections. Count it up whenever an event means something else for a state, or a state has a
/// field more: projections of an older reading are then recomputed, so that every stored state is what the ledger says.
const READING: u32 = 23;

/// Makes a database ready for this program.
pub(crate) fn prepare(conn: &mut Connection) -> Result<(), StoreError> {
    check_schema(conn)?;
    check_reading(conn)
}

fn check_schema(conn: &mut Connection) -> Result<(), StoreError> {
    if is_new(conn)? {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(TABLES)?;
        write_meta(&transaction, "schema", SCHEMA)?;
        return Ok(transaction.commit()?);
    }
    let found = read_meta(conn, "schema")?.unwrap_or_default();
    match found.parse() {
        Ok(SCHEMA) => Ok(()),
        Ok(found) => Err(StoreError::OtherSchema { found, needed: SCHEMA }),
        Err(_) => Err(StoreError::BadSchema { found }),
    }
}

/// Recomputes the projections from the ledger, if another reading wrote them.
fn check_reading(conn: &mut Connection) -> Result<(), StoreError> {
    if read_meta(conn, "reading")?.as_deref() == Some(READING.to_string().as_str()) {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    rebuild(&transaction)?;
    write_meta(&transaction, "reading", READING)?;
    Ok(transaction.commit()?)
}

fn is_new(conn: &Connection) -> Result<bool, StoreError> {
    Ok(conn.query_row("SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'meta'", [], |row| row.get(0))?)
}

fn write_meta(conn: &Connection, key: &str, number: u32) -> Result<(), StoreError> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
    conn.execute(sql, [key, &number.to_string()])?;
    Ok(())
}

fn read_meta(conn: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    Ok(conn.query_row(sql, [key], |row| row.get(0)).optional()?)
}
