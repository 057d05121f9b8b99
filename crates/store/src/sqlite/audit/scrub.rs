//! Going through everything: every entry hashed again, every tile compared with what it stands for, every head with the
//! tree it was signed over.

use placet_ledger::fault::FileProblem;
use placet_ledger::{Fault, Hash, SignedTreeHead, TILE_WIDTH, TileId, Tree, VerifierKey, verify_entries};
use rusqlite::Connection;

use super::sign::stored_entry;
use crate::error::StoreError;
use crate::report::Scrub;
use crate::sqlite::tiles::{Tiles, root_over};

pub(crate) fn scrub(conn: &Connection, key: &VerifierKey) -> Result<Scrub, StoreError> {
    let entries = conn.query_row("SELECT coalesce(max(seq) + 1, 0) FROM ledger", [], |row| row.get(0))?;
    let mut faults = entry_faults(conn)?;
    faults.extend(tile_faults(conn, entries)?);
    let (heads, head_faults) = head_faults(conn, key, entries)?;
    faults.extend(head_faults);
    Ok(Scrub { entries, heads, faults })
}

fn entry_faults(conn: &Connection) -> Result<Vec<Fault>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT seq, bytes, leaf FROM ledger ORDER BY seq")?;
    let scan = verify_entries(Tree::empty(), statement.query_map([], stored_entry)?)?;
    Ok(scan.into_tree().err().unwrap_or_default())
}

fn tile_faults(conn: &Connection, size: u64) -> Result<Vec<Fault>, StoreError> {
    let mut faults = Vec::new();
    for level in 0_u8.. {
        let full_tiles = size.checked_shr(8 * (u32::from(level) + 1)).unwrap_or(0);
        if full_tiles == 0 {
            return Ok(faults);
        }
        for number in 0..full_tiles {
            faults.extend(faults_of_tile(conn, TileId::in_tree(level, number, size), size)?);
        }
    }
    Ok(faults)
}

fn faults_of_tile(conn: &Connection, id: Option<TileId>, size: u64) -> Result<Vec<Fault>, StoreError> {
    let Some(id) = id else { return Ok(Vec::new()) };
    let Some(bytes) = Tiles(conn).stored(id.level(), id.index())? else {
        return Ok(vec![Fault::File { path: id.path(), problem: FileProblem::Missing }]);
    };
    let stored: Vec<Hash> = bytes.as_chunks().0.iter().copied().map(Hash).collect();
    let below = Tiles(conn).growing(id.level(), id.index(), TILE_WIDTH)?;
    let differs = |(_, (stored, below)): &(u16, (&Hash, &Hash))| stored != below;
    let places = (0..).zip(stored.iter().zip(&below)).filter(differs).map(|(place, _)| changed(id, place));
    Ok(places.chain(root_fault(conn, id, &stored, size)?).collect())
}

/// The root that is stored beside a tile is one hash of the tile above it.
fn root_fault(conn: &Connection, id: TileId, stored: &[Hash], size: u64) -> Result<Option<Fault>, StoreError> {
    let sql = "SELECT root FROM tile WHERE level = ?1 AND number = ?2";
    let root = conn.prepare_cached(sql)?.query_row((id.level(), id.index()), |row| row.get(0).map(Hash))?;
    if root == root_over(stored) {
        return Ok(None);
    }
    let width = u64::from(TILE_WIDTH);
    let above = TileId::in_tree(id.level() + 1, id.index() / width, size);
    Ok(above.map(|above| changed(above, (id.index() % width) as u16)))
}

fn changed(id: TileId, position: u16) -> Fault {
    let (first, last) = id.entries_below(position);
    Fault::TileChanged { path: id.path(), position, first, last }
}

fn head_faults(conn: &Connection, key: &VerifierKey, size: u64) -> Result<(u64, Vec<Fault>), StoreError> {
    let mut statement = conn.prepare_cached("SELECT note FROM head ORDER BY size")?;
    let notes = statement.query_map([], |row| row.get::<_, String>(0))?;
    let (mut heads, mut faults) = (0, Vec::new());
    for note in notes {
        heads += 1;
        match SignedTreeHead::verify(note?.as_bytes(), key) {
            Ok(head) => faults.extend(head_fault(conn, &head, size)),
            Err(error) => faults.push(Fault::Head { reason: error.to_string() }),
        }
    }
    Ok((heads, faults))
}

fn head_fault(conn: &Connection, head: &SignedTreeHead, size: u64) -> Option<Fault> {
    if head.size() > size {
        return Some(Fault::RolledBack { size, known_size: head.size() });
    }
    match Tree::resume(head.size(), &Tiles(conn)) {
        Ok(tree) if tree.root() == head.root() => None,
        Ok(tree) => Some(Fault::RootMismatch { size: head.size(), signed: head.root(), computed: tree.root() }),
        Err(_) => Some(Fault::RootUnknown),
    }
}
