//! Content that the ledger names by digest. Every read hashes it again: what was changed is not handed out.

use std::collections::BTreeSet;

use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId};
use placet_domain::retention::Days;
use placet_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::{IntegrityFault, StoreError};
use crate::query::{Kept, Removal, Unnamed};

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

/// What the password of a person is compared with, which has this digest.
pub(crate) fn verifier(conn: &Connection, id: IdentityId, digest: Digest) -> Result<Option<String>, StoreError> {
    let sql = "SELECT verifier FROM password WHERE identity = ?1";
    let found: Option<String> = conn.prepare_cached(sql)?.query_row([id.as_bytes()], |row| row.get(0)).optional()?;
    found.map(|verifier| intact("password", digest, verifier)).transpose()
}

fn intact<T: AsRef<[u8]>>(what: &'static str, digest: Digest, content: T) -> Result<T, StoreError> {
    let found = Digest::of(content.as_ref());
    if found == digest { Ok(content) } else { Err(IntegrityFault::Changed { what, digest, found }.into()) }
}

/// What a project keeps under this digest, if anything: another project's evidence does not exist here.
pub(crate) fn kept(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Option<Kept>, StoreError> {
    let newest = newest(conn, project, digest)?.filter(|newest| !newest.removed);
    Ok(newest.map(|Newest { seq, at, size_bytes, .. }| Kept { size_bytes, seq, at }))
}

/// When a project removed what it kept under this digest, if it did and keeps nothing under it now.
pub(crate) fn removal(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Option<Removal>, StoreError> {
    let Some(Newest { seq, at, removed: true, .. }) = newest(conn, project, digest)? else { return Ok(None) };
    let sql =
        "SELECT max(seq) FROM evidence WHERE project = (SELECT created FROM project WHERE id = ?1) AND digest = ?2
        AND NOT removed";
    let values = params![project.as_bytes(), digest.as_bytes()];
    let kept = conn.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(Some(Removal { seq, at, kept }))
}

/// The last that is known of bytes in a project.
struct Newest {
    seq: u64,
    at: Timestamp,
    size_bytes: u64,
    removed: bool,
}

fn newest(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Option<Newest>, StoreError> {
    let sql = "SELECT evidence.seq, at_ms, size_bytes, removed FROM evidence JOIN ledger ON ledger.seq = evidence.seq
        WHERE evidence.project = (SELECT created FROM project WHERE id = ?1) AND digest = ?2
        ORDER BY evidence.seq DESC LIMIT 1";
    let values = params![project.as_bytes(), digest.as_bytes()];
    let read = |row: &Row<'_>| {
        let at = Timestamp::from_unix_ms(row.get(1)?);
        Ok(Newest { seq: row.get(0)?, at, size_bytes: row.get(2)?, removed: row.get(3)? })
    };
    Ok(conn.prepare_cached(sql)?.query_row(values, read).optional()?)
}

/// Sums the uploads of the last day that are not referenced yet. A small file counts as one disk block. What is older
/// is due for removal, or stays because a denied proposal names it, and must not block its uploader for good. The
/// uploads of workers do not count for the project: they are bounded by their jobs.
pub(crate) fn unnamed(
    conn: &Connection,
    project: ProjectId,
    identity: IdentityId,
    now: Timestamp,
) -> Result<Unnamed, StoreError> {
    let of_identity = "SELECT coalesce(sum(max(size_bytes, 4096)), 0) FROM upload WHERE identity = ?1 AND at_ms > ?2";
    let of_project = "SELECT coalesce(sum(max(size_bytes, 4096)), 0) FROM upload
        WHERE project = (SELECT created FROM project WHERE id = ?1) AND at_ms > ?2
            AND identity NOT IN (SELECT identity.id FROM identity, json_each(identity.state, '$.roles') AS role
                WHERE role.value = 'worker')";
    let since = Days::ONE.before(now).unix_ms();
    let sum = |sql: &str, id: &[u8]| -> rusqlite::Result<u64> {
        conn.prepare_cached(sql)?.query_row(params![id, since], |row| row.get(0))
    };
    Ok(Unnamed {
        of_identity: sum(of_identity, identity.as_bytes())?,
        of_project: sum(of_project, project.as_bytes())?,
    })
}

/// Lists contents that were uploaded up to this time and are still unreferenced.
pub(super) fn forgotten_uploads(
    conn: &Connection,
    project: ProjectId,
    before: Timestamp,
) -> Result<BTreeSet<Digest>, StoreError> {
    let sql = "SELECT digest FROM upload WHERE project = (SELECT created FROM project WHERE id = ?1) AND at_ms <= ?2";
    let values = params![project.as_bytes(), before.unix_ms()];
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map(values, |row| Ok(Digest::from_bytes(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
