//! Fault points: where a process ends itself right before and right after it commits. For tests alone: they are compiled only where
//! debug assertions are, and do nothing unless a variable names a file.
//!
//! The file says where processes have ended so far, one line each. So a process that is started again and again, with the same file,
//! comes past every commit twice: it ends before it, then after it, and then goes on to the next.

/// Commits what begins with entry `first`.
#[cfg(not(debug_assertions))]
pub(super) fn commit(transaction: rusqlite::Transaction<'_>, _first: u64) -> rusqlite::Result<()> {
    transaction.commit()
}

#[cfg(debug_assertions)]
pub(super) use in_debug::commit;

#[cfg(debug_assertions)]
mod in_debug {
    use std::collections::BTreeMap;
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::sync::LazyLock;

    use placet_ledger::Entry;
    use rusqlite::{Connection, Transaction};

    static FILE: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("PLACET_CRASH_POINTS").map(PathBuf::from));

    /// So many of one kind are told apart, and all later ones are one. What every attempt makes anew, such as a token for an agent
    /// whose answer was lost, would otherwise never be got past.
    static MOST_OF_A_KIND: LazyLock<u64> = LazyLock::new(|| {
        let most = std::env::var("PLACET_CRASH_POINTS_OF_A_KIND").ok();
        most.and_then(|most| most.parse().ok()).unwrap_or(4)
    });

    /// Commits, and ends this process where no process has ended yet.
    pub(in super::super) fn commit(transaction: Transaction<'_>, first: u64) -> rusqlite::Result<()> {
        let Some(file) = FILE.as_deref() else { return transaction.commit() };
        let point = name(&transaction, first)?;
        end_once(file, &format!("before {point}"));
        transaction.commit()?;
        end_once(file, &format!("after {point}"));
        Ok(())
    }

    /// What a transaction is about to commit: the same if it is tried again.
    fn name(conn: &Connection, first: u64) -> rusqlite::Result<String> {
        let mut new = conn.prepare_cached("SELECT bytes FROM ledger WHERE seq >= ?1 ORDER BY seq")?;
        let entries = new.query_map([first], |row| row.get::<_, Vec<u8>>(0))?;
        let (mut counts, mut parts) = (BTreeMap::new(), Vec::new());
        for bytes in entries {
            let Ok(entry) = Entry::parse(&bytes?) else { continue };
            // Bytes are kept once, whoever uploads them again.
            if let Some(digest) = entry.body.get("digest").filter(|_| entry.kind == "evidence.kept") {
                parts.push(format!("{} {digest}", entry.kind));
                continue;
            }
            let count = match counts.get(&entry.kind) {
                Some(count) => *count,
                None => how_many(conn, &entry.kind, first)?,
            } + 1;
            parts.push(format!("{} {}", entry.kind, count.min(*MOST_OF_A_KIND)));
            counts.insert(entry.kind, count);
        }
        // A signed head, how far a follower has come, or nothing at all.
        Ok(if parts.is_empty() { "no entry".to_owned() } else { parts.join(", ") })
    }

    fn how_many(conn: &Connection, kind: &str, before: u64) -> rusqlite::Result<u64> {
        let mut counted = conn.prepare_cached("SELECT count(*) FROM ledger WHERE kind = ?1 AND seq < ?2")?;
        counted.query_row((kind, before), |row| row.get(0))
    }

    /// Ends as by a power cut: nothing is unwound, closed or answered.
    fn end_once(file: &Path, line: &str) {
        let ended = fs::read_to_string(file).unwrap_or_default();
        if ended.lines().any(|known| known == line) {
            return;
        }
        let written = OpenOptions::new().create(true).append(true).open(file);
        if written.and_then(|mut file| writeln!(file, "{line}")).is_ok() {
            std::process::abort();
        }
    }
}
