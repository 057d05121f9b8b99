//! Opening SQLite the one way that keeps what was acknowledged.
//!
//! `synchronous = FULL` because a write-ahead log with less loses acknowledged commits when the power goes; no memory
//! maps, because through one a stray pointer or a failing disk changes or kills more than it should.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// Older ones can corrupt a database when its write-ahead log starts over.
const OLDEST_SQLITE: (i32, &str) = (3_051_003, "3.51.3");
const PAGE_BYTES: u64 = 4_096;
/// Readers and the one writer wait for each other only while a log starts over.
const BUSY: Duration = Duration::from_secs(10);
/// All statements of this crate fit, so none is ever compiled twice.
const STATEMENTS: usize = 128;
const LARGEST_IDLE_LOG_BYTES: i64 = 64 << 20;
/// In KiB, as SQLite wants it when negative.
const READER_CACHE_KIB: i64 = -32_768;
/// Small on purpose: when a commit has rearranged pages of an index, SQLite looks through the whole cache at its end.
const WRITER_CACHE_KIB: i64 = -8_192;

pub(crate) fn check_version() -> Result<(), StoreError> {
    check_version_number(rusqlite::version_number(), rusqlite::version())
}

fn check_version_number(number: i32, found: &'static str) -> Result<(), StoreError> {
    let (oldest, needed) = OLDEST_SQLITE;
    if number >= oldest { Ok(()) } else { Err(StoreError::OldSqlite { found, needed }) }
}

/// The one connection that writes.
pub(crate) fn writer(path: &Path, most_bytes: Option<u64>) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    let journal: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    debug_assert_eq!(journal, "wal");
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", "on")?;
    // SQLite would do it within a commit, and would keep an error of the disk to itself: the writer does it.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", LARGEST_IDLE_LOG_BYTES)?;
    if let Some(most_bytes) = most_bytes {
        conn.pragma_update(None, "max_page_count", (most_bytes / PAGE_BYTES).max(1))?;
    }
    conn.pragma_update(None, "cache_size", WRITER_CACHE_KIB)?;
    settle(&conn)?;
    Ok(conn)
}

/// A connection that cannot write.
pub(crate) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.pragma_update(None, "query_only", "on")?;
    conn.pragma_update(None, "cache_size", READER_CACHE_KIB)?;
    settle(&conn)?;
    Ok(conn)
}

fn settle(conn: &Connection) -> Result<(), StoreError> {
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Without it SQLite compiles a statement anew whenever a bound value might change its plan: on every change of status.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "trusted_schema", "off")?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r35_a_sqlite_that_can_corrupt_its_log_is_refused() {
        for (number, text) in [(3_040_001, "3.40.1"), (3_051_002, "3.51.2")] {
            assert!(matches!(check_version_number(number, text), Err(StoreError::OldSqlite { .. })), "{text}");
        }
        assert!(check_version_number(3_051_003, "3.51.3").is_ok());
        assert!(check_version().is_ok(), "the bundled one is new enough");
    }

    #[test]
    fn what_was_acknowledged_is_on_disk_because_the_settings_say_so() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let conn = writer(&dir.path().join("x.db"), None).expect("a database");
        let setting = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).expect("a setting");
        assert_eq!(["synchronous", "foreign_keys", "mmap_size", "trusted_schema"].map(setting), [2, 1, 0, 0]);
        let journal: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("a setting");
        assert_eq!(journal, "wal");
    }
}
