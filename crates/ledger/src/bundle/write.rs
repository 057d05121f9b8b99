//! Writing an export: entries in, files out, one tile in memory.
//!
//! The signed head is written last, so an export that was interrupted has none and cannot be taken for a whole one.
//! What an interrupted export leaves behind is not removed: it is the caller's folder.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CHECKPOINT;
use crate::hash::{Hash, leaf_hash};
use crate::head::SignedTreeHead;
use crate::tile::{TileError, TileId, encode_hashes, push_entry};
use crate::tree::{Tile, Tree};

/// Writes the ledger with this head into `dir`, which must be empty or not exist.
///
/// Takes as many entries as the head has, in order; what the iterator holds beyond them is newer than the head and is
/// left alone. Refuses entries that do not add up to the signed root.
pub fn write<B, E>(
    dir: &Path,
    head: &SignedTreeHead,
    entries: impl IntoIterator<Item = Result<B, E>>,
) -> Result<(), WriteError>
where
    B: AsRef<[u8]>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    claim_empty(dir)?;
    let mut writer = Writer { dir, tree: Tree::empty(), bundle: Vec::new() };
    let mut entries = entries.into_iter();
    while writer.tree.size() < head.size() {
        let entry = entries.next().ok_or(WriteError::TooFew { size: head.size(), found: writer.tree.size() })?;
        writer.entry(entry.map_err(|error| WriteError::Entries(error.into()))?.as_ref())?;
    }
    writer.finish(head)
}

/// Why no export was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Something is there already.
    #[error("the folder `{}` is not empty: choose one that is empty or does not exist", dir.display())]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// The source of the entries failed.
    #[error("the entries could not be read")]
    Entries(#[source] Box<dyn Error + Send + Sync>),
    /// The source of the entries ended early.
    #[error("the signed head has {size} entries, but only {found} are there")]
    TooFew {
        /// How many entries the head has.
        size: u64,
        /// How many there are.
        found: u64,
    },
    /// An entry cannot be stored.
    #[error("entry {entry} cannot be exported: {source}")]
    Entry {
        /// The number of the entry.
        entry: u64,
        /// What is wrong with it.
        source: TileError,
    },
    /// The entries are not those that were signed.
    #[error("the entries have the root `{computed}`, but `{signed}` was signed: scrub the ledger before exporting it")]
    RootMismatch {
        /// The root of the entries.
        computed: Hash,
        /// The root in the head.
        signed: Hash,
    },
    /// A file could not be written.
    #[error("`{}` could not be written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

struct Writer<'a> {
    dir: &'a Path,
    tree: Tree,
    /// The entries of the tile that is not full.
    bundle: Vec<u8>,
}

impl Writer<'_> {
    fn entry(&mut self, entry: &[u8]) -> Result<(), WriteError> {
        let number = self.tree.size();
        push_entry(&mut self.bundle, entry).map_err(|source| WriteError::Entry { entry: number, source })?;
        let full = self.tree.append(leaf_hash(entry));
        full.iter().try_for_each(|tile| self.tile(tile))
    }

    fn tile(&mut self, tile: &Tile) -> Result<(), WriteError> {
        self.file(&tile.id.path(), &encode_hashes(&tile.hashes))?;
        if tile.id.level() == 0 {
            self.entries(tile.id)?;
        }
        Ok(())
    }

    fn entries(&mut self, tile: TileId) -> Result<(), WriteError> {
        self.file(&tile.entries_path(), &self.bundle)?;
        self.bundle.clear();
        Ok(())
    }

    fn finish(mut self, head: &SignedTreeHead) -> Result<(), WriteError> {
        let (computed, signed) = (self.tree.root(), head.root());
        if computed != signed {
            return Err(WriteError::RootMismatch { computed, signed });
        }
        let partial: Vec<Tile> = self.tree.partial_tiles().collect();
        partial.iter().try_for_each(|tile| self.tile(tile))?;
        self.file(CHECKPOINT, head.to_string().as_bytes())
    }

    fn file(&self, path: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let path = self.dir.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| create(&path, bytes));
        written.map_err(|source| WriteError::Io { path, source })
    }
}

/// Never replaces a file, should somebody else write into the folder at the same time.
fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut fs::File::create_new(path)?, bytes)
}

fn claim_empty(dir: &Path) -> Result<(), WriteError> {
    let failed = |source| WriteError::Io { path: dir.into(), source };
    fs::create_dir_all(dir).map_err(failed)?;
    if fs::read_dir(dir).map_err(failed)?.next().is_some() {
        return Err(WriteError::NotEmpty { dir: dir.into() });
    }
    Ok(())
}
