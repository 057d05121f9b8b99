//! Content that the ledger names by digest. Every read hashes it again: what was changed is not handed out.

use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::{IntegrityFault, StoreError};

/// The bytes of a sealed action, or of the manifest of what an execution left.
pub(crate) fn sealed(conn: &Connection, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT bytes FROM sealed WHERE digest = ?1";
    let bytes: Option<Vec<u8>> =
        conn.prepare_cached(sql)?.query_row([digest.as_bytes()], |row| row.get(0)).optional()?;
    bytes.map(|bytes| intact("sealed document", digest, bytes)).transpose()
}

/// The words an agent gave for a proposal.
pub(crate) fn advice(conn: &Connection, digest: Digest) -> Result<Option<String>, StoreError> {
    let sql = "SELECT words FROM advice WHERE digest = ?1";
    let words: Option<String> =
        conn.prepare_cached(sql)?.query_row([digest.as_bytes()], |row| row.get(0)).optional()?;
    words.map(|words| intact("justification", digest, words)).transpose()
}

fn intact<T: AsRef<[u8]>>(what: &'static str, digest: Digest, content: T) -> Result<T, StoreError> {
    let found = Digest::of(content.as_ref());
    if found == digest { Ok(content) } else { Err(IntegrityFault::Changed { what, digest, found }.into()) }
}

/// How many bytes a project keeps under this digest, if it does: another project's evidence does not exist here.
pub(crate) fn kept(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT size_bytes FROM evidence WHERE project = ?1 AND digest = ?2";
    let values = params![project.to_string(), digest.as_bytes()];
    Ok(conn.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?)
}
