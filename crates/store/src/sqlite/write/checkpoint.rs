//! Copying the write-ahead log into the database from time to time, so that it stays short.
//!
//! If the disk fails here, nothing is lost, because the log still has everything; but a disk that failed once is not
//! trusted again.

use rusqlite::Connection;

use crate::error::StoreError;

/// 32 MiB: seldom enough that copying costs little, often enough that a start is quick.
const LONG_PAGES: u64 = 8_192;
/// Rough, and rather too many: the indexes and the last page of each table, then what each entry brings with it.
const PAGES_PER_COMMIT: u64 = 8;
const PAGES_PER_ENTRY: u64 = 2;

/// How long the log has become since it was copied.
#[derive(Debug, Default)]
pub(super) struct Log {
    pages: u64,
}

impl Log {
    /// Notes a commit of this many entries.
    pub(super) fn grew(&mut self, entries: u64) {
        self.pages += PAGES_PER_COMMIT + PAGES_PER_ENTRY * entries;
    }

    /// Copies what can be copied without waiting for a reader; what cannot is copied the next time.
    pub(super) fn copy_if_long(&mut self, conn: &Connection) -> Result<(), StoreError> {
        if self.pages < LONG_PAGES {
            return Ok(());
        }
        self.pages = 0;
        Ok(conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_copied_and_starts_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let conn = crate::sqlite::connect::writer(&dir.path().join("x.db"), None).expect("a database");
        conn.execute_batch("CREATE TABLE t (x)").expect("a table");
        let copied = || -> i64 {
            let frames = |row: &rusqlite::Row<'_>| row.get(2);
            conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], frames).expect("the state of the log")
        };
        let mut log = Log::default();
        log.grew(1);
        log.copy_if_long(&conn).expect("nothing to do");
        assert_eq!(copied(), 0);
        log.grew(LONG_PAGES / PAGES_PER_ENTRY);
        log.copy_if_long(&conn).expect("a sound disk");
        assert!(copied() > 0);
        assert_eq!(log.pages, 0);
    }
}
