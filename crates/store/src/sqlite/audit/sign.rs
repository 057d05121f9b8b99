//! Before a head is signed, the stored bytes are hashed again. A signature over a root in memory would vouch for bytes
//! that the disk may have lost or changed meanwhile.

use placet_ledger::{Fault, Hash, SignedTreeHead, StoredEntry, TILE_WIDTH, Tree, VerifierKey, verify_entries};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::scrub::scrub;
use crate::error::{IntegrityFault, StoreError};
use crate::sqlite::tiles::Tiles;

/// The last head that was signed, its signature checked.
pub(crate) fn last_head(conn: &Connection, key: &VerifierKey) -> Result<Option<SignedTreeHead>, StoreError> {
    let sql = "SELECT note FROM head ORDER BY size DESC LIMIT 1";
    let note: Option<String> = conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    note.map(|note| verified(&note, key)).transpose()
}

fn verified(note: &str, key: &VerifierKey) -> Result<SignedTreeHead, StoreError> {
    SignedTreeHead::verify(note.as_bytes(), key).map_err(|error| damaged(Fault::Head { reason: error.to_string() }))
}

fn damaged(fault: Fault) -> StoreError {
    IntegrityFault::Ledger(vec![fault]).into()
}

/// Takes the tree up again where the database left it, and checks that it continues the last signed head.
pub(crate) fn resume(conn: &Connection, key: &VerifierKey) -> Result<Tree, StoreError> {
    let size = conn.query_row("SELECT coalesce(max(seq) + 1, 0) FROM ledger", [], |row| row.get(0))?;
    if let Some(head) = last_head(conn, key)? {
        tree_at(conn, &head, size, key)?;
    }
    Ok(Tree::resume(size, &Tiles(conn))?)
}

/// The tree at the size of a signed head, which must have the root that was signed; if not, says where the damage is.
fn tree_at(conn: &Connection, head: &SignedTreeHead, size: u64, key: &VerifierKey) -> Result<Tree, StoreError> {
    if head.size() > size {
        return Err(IntegrityFault::RolledBack { head: head.size(), size }.into());
    }
    let computed = match Tree::resume(head.size(), &Tiles(conn)) {
        Ok(tree) if tree.root() == head.root() => return Ok(tree),
        Ok(tree) => Some(tree.root()),
        Err(_) => None,
    };
    let faults = scrub(conn, key)?.faults;
    let mismatch = computed.map(|computed| Fault::RootMismatch { size: head.size(), signed: head.root(), computed });
    let faults = if faults.is_empty() { vec![mismatch.unwrap_or(Fault::RootUnknown)] } else { faults };
    Err(IntegrityFault::Ledger(faults).into())
}

/// Hashes everything again that was written since the last signed head, and compares with the tree that grew in memory.
pub(crate) fn verified_tree(conn: &Connection, key: &VerifierKey, memory: &Tree) -> Result<(), StoreError> {
    let start = match last_head(conn, key)? {
        Some(head) => tree_at(conn, &head, memory.size(), key)?,
        None => Tree::empty(),
    };
    let from = start.size();
    let sql = "SELECT seq, bytes, leaf FROM ledger WHERE seq >= ?1 AND seq < ?2 ORDER BY seq";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![from, memory.size()], stored_entry)?;
    let stored = verify_entries(start, rows)?.into_tree().map_err(IntegrityFault::Ledger)?;
    if stored == *memory {
        return Ok(());
    }
    let faults = exchanged(conn, from, memory)?;
    let mismatch = Fault::RootMismatch { size: memory.size(), signed: memory.root(), computed: stored.root() };
    Err(IntegrityFault::Ledger(if faults.is_empty() { vec![mismatch] } else { faults }).into())
}

pub(super) fn stored_entry(row: &Row<'_>) -> rusqlite::Result<StoredEntry<Vec<u8>>> {
    Ok(StoredEntry { seq: row.get(0)?, bytes: row.get(1)?, leaf: Hash(row.get(2)?) })
}

/// Finds entries that were changed together with their hashes: the tiles, or the tree in memory, remember other hashes.
fn exchanged(conn: &Connection, from: u64, memory: &Tree) -> Result<Vec<Fault>, StoreError> {
    let width = u64::from(TILE_WIDTH);
    let in_memory = memory.partial_tiles().find(|tile| tile.id.level() == 0).map(|tile| tile.hashes);
    let mut faults = Vec::new();
    for number in from / width..memory.size().div_ceil(width) {
        let remembered = match Tiles(conn).stored(0, number)? {
            Some(bytes) => bytes.as_chunks().0.iter().copied().map(Hash).collect(),
            None => in_memory.clone().unwrap_or_default(),
        };
        let now = Tiles(conn).growing(0, number, TILE_WIDTH)?;
        faults.extend((number * width..).zip(remembered.iter().zip(&now)).filter(|(_, (was, is))| was != is).map(
            |(entry, (recorded, computed))| Fault::EntryChanged { entry, recorded: *recorded, computed: *computed },
        ));
        if now.len() < remembered.len() {
            let [first, last] = [now.len(), remembered.len() - 1].map(|place| number * width + place as u64);
            faults.push(Fault::EntriesMissing { first, last });
        }
    }
    Ok(faults)
}
