//! Content that the ledger names by digest. Every read hashes it again: what was changed is not handed out.

use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, ProjectId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::{IntegrityFault, StoreError};
use crate::query::Kept;

/// The bytes of an action, or of the manifest of what an execution of it left.
pub(crate) fn sealed(conn: &Connection, action: ActionId, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT bytes FROM sealed WHERE action = (SELECT created FROM action WHERE id = ?1) AND digest = ?2";
    let values = params![action.as_bytes(), digest.as_bytes()];
    let bytes: Option<Vec<u8>> = conn.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    bytes.map(|bytes| intact("sealed document", digest, bytes)).transpose()
}

/// The words an agent gave for an action, which have this digest.
pub(crate) fn advice(conn: &Connection, action: ActionId, digest: Digest) -> Result<Option<String>, StoreError> {
    let sql = "SELECT words FROM advice WHERE action = (SELECT created FROM action WHERE id = ?1)";
    let words: Option<String> =
        conn.prepare_cached(sql)?.query_row([action.as_bytes()], |row| row.get(0)).optional()?;
    words.map(|words| intact("justification", digest, words)).transpose()
}

fn intact<T: AsRef<[u8]>>(what: &'static str, digest: Digest, content: T) -> Result<T, StoreError> {
    let found = Digest::of(content.as_ref());
    if found == digest { Ok(content) } else { Err(IntegrityFault::Changed { what, digest, found }.into()) }
}

/// What a project keeps under this digest, if anything: another project's evidence does not exist here.
pub(crate) fn kept(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Option<Kept>, StoreError> {
    let sql = "SELECT size_bytes, seq FROM evidence WHERE project = (SELECT created FROM project WHERE id = ?1)
        AND digest = ?2";
    let values = params![project.as_bytes(), digest.as_bytes()];
    Ok(conn.prepare_cached(sql)?.query_row(values, read_kept).optional()?)
}

fn read_kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept { size_bytes: row.get(0)?, seq: row.get(1)? })
}
