//! Ledger entries as they are stored, and how far followers have come with them.

use placet_domain::time::Timestamp;
use placet_ledger::Hash;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::select::{IN_PROJECT, IN_RUN, Select};
use crate::error::StoreError;
use crate::query::{EntryFilter, Kinds, StoredEntry};

const SELECT: &str = "SELECT seq, at_ms, kind, bytes, leaf FROM ledger";

pub(crate) fn entries(conn: &Connection, filter: &EntryFilter) -> Result<Vec<StoredEntry>, StoreError> {
    about(SELECT, filter).page("seq", filter.order, filter.after, filter.limit).all(conn, stored)
}

/// How many there are altogether, from the cursor on.
pub(crate) fn count_entries(conn: &Connection, filter: &EntryFilter) -> Result<u64, StoreError> {
    let counted = about("SELECT count(*) FROM ledger", filter)
        .beyond("seq", filter.order, filter.after)
        .all(conn, |row| Ok(row.get::<_, u64>(0)?))?;
    Ok(counted.first().copied().unwrap_or_default())
}

fn about(select: &str, filter: &EntryFilter) -> Select {
    let select = Select::new(select)
        .within("project", &filter.reach)
        .and(IN_PROJECT, filter.project.map(|id| id.as_bytes().to_vec()))
        .and(IN_RUN, filter.run.map(|id| id.as_bytes().to_vec()))
        .and("action = (SELECT created FROM action WHERE id = ?)", filter.action.map(|id| id.as_bytes().to_vec()));
    match filter.kinds {
        Kinds::All => select,
        Kinds::But(kind) => select.and("kind <> ?", Some(kind.to_owned())),
        Kinds::Only(kind) => select.and("kind = ?", Some(kind.to_owned())),
    }
}

pub(crate) fn entry(conn: &Connection, seq: u64) -> Result<Option<StoredEntry>, StoreError> {
    let Ok(seq) = i64::try_from(seq) else { return Ok(None) };
    Ok(Select::new(SELECT).and("seq = ?", Some(seq)).all(conn, stored)?.pop())
}

fn stored(row: &Row<'_>) -> Result<StoredEntry, StoreError> {
    let (seq, at, kind) = (row.get(0)?, Timestamp::from_unix_ms(row.get(1)?), row.get(2)?);
    Ok(StoredEntry { seq, at, kind, bytes: row.get(3)?, leaf: Hash(row.get(4)?) })
}

/// Hands the bytes of all entries before `end` to `work`, one at a time.
pub(crate) fn bytes_before<T>(
    conn: &Connection,
    end: u64,
    work: impl FnOnce(&mut dyn Iterator<Item = rusqlite::Result<Vec<u8>>>) -> T,
) -> Result<T, StoreError> {
    let mut statement = conn.prepare_cached("SELECT bytes FROM ledger WHERE seq < ?1 ORDER BY seq")?;
    let mut rows = statement.query_map([end], |row| row.get(0))?;
    Ok(work(&mut rows))
}

/// The first entry that the follower of this name has not settled, if it was ever heard of.
pub(crate) fn cursor(conn: &Connection, name: &str) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT next_seq FROM webhook_cursor WHERE name = ?1";
    Ok(conn.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()?)
}

/// What a follower owes, by recipient.
pub(crate) fn debts(conn: &Connection, follower: &str) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "SELECT recipient, state FROM notice_debt WHERE follower = ?1 ORDER BY recipient";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([follower], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
