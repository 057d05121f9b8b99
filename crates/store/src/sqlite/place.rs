//! Places: the number of the entry that made a project, an identity, a run, an action or a worktree. Rows refer to each other by it.
//!
//! Ids are for the world outside; this is the one file that translates.

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::StoreError;
use crate::unit::Thing;

/// The number of the entry that made something.
pub(crate) type Place = u64;

impl Thing {
    const fn key(&self) -> &[u8; 16] {
        match self {
            Self::Project(id) => id.as_bytes(),
            Self::Identity(id) => id.as_bytes(),
            Self::Run(id) => id.as_bytes(),
            Self::Action(id) => id.as_bytes(),
            Self::Worktree(id) => id.as_bytes(),
        }
    }

    const fn find(&self) -> &'static str {
        match self {
            Self::Project(_) => "SELECT created FROM project WHERE id = ?1",
            Self::Identity(_) => "SELECT created FROM identity WHERE id = ?1",
            Self::Run(_) => "SELECT created FROM run WHERE id = ?1",
            Self::Action(_) => "SELECT created FROM action WHERE id = ?1",
            Self::Worktree(_) => "SELECT created FROM worktree WHERE id = ?1",
        }
    }
}

/// Where a thing is, if it exists.
pub(crate) fn place(conn: &Connection, thing: Thing) -> Result<Option<Place>, StoreError> {
    Ok(conn.prepare_cached(thing.find())?.query_row([thing.key()], |row| row.get(0)).optional()?)
}
