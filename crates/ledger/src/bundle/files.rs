//! Reading files of a ledger that may be hostile: bounded lengths, no symbolic links, nothing but regular files.
//!
//! Links are looked for before a file is opened. Somebody who can exchange files while they are being verified can win
//! that race; what they gain is a file whose bytes then fail to match the signed root.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::fault::FileProblem;
use crate::hash::Hash;
use crate::tile::{ReadError, TileId, TileReader, decode_hashes};

/// The folder that a ledger lies in.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Self {
        Folder { root: root.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// Reads a file into `buffer`: at most one byte more than `limit`, so that a longer file is seen to be too long.
    pub(crate) fn read(&self, path: &str, limit: usize, buffer: &mut Vec<u8>) -> Result<(), FileProblem> {
        buffer.clear();
        let full = self.plain_file(path)?;
        let file = File::open(full).map_err(problem)?;
        file.take(limit as u64 + 1).read_to_end(buffer).map_err(problem)?;
        Ok(())
    }

    /// The path of a regular file, none of whose parts below the folder is a link.
    fn plain_file(&self, path: &str) -> Result<PathBuf, FileProblem> {
        let mut full = self.root.clone();
        let mut kind = None;
        for part in path.split('/') {
            full.push(part);
            let found = fs::symlink_metadata(&full).map_err(problem)?.file_type();
            if found.is_symlink() {
                return Err(FileProblem::Symlink);
            }
            kind = Some(found);
        }
        // Opening a pipe or a device could block or have effects.
        if kind.is_some_and(|kind| kind.is_file()) { Ok(full) } else { Err(FileProblem::NotAFile) }
    }
}

fn problem(error: io::Error) -> FileProblem {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind());
    if missing { FileProblem::Missing } else { FileProblem::Unreadable(error.to_string()) }
}

/// The tiles of an export, to build proofs from. Nothing is verified: proofs from damaged tiles fail to verify.
#[derive(Debug, Clone)]
pub struct Tiles {
    folder: Folder,
    tree_size: u64,
}

impl Tiles {
    /// The tiles of the export in `dir`, whose head has `tree_size` entries.
    pub fn open(dir: &Path, tree_size: u64) -> Self {
        Tiles { folder: Folder::new(dir), tree_size }
    }
}

impl TileReader for Tiles {
    fn tile(&self, level: u8, index: u64, width: u16) -> Result<Vec<Hash>, ReadError> {
        // The export holds the tile as wide as its own head needs it, which may be wider than an older tree had it.
        let stored = TileId::in_tree(level, index, self.tree_size).filter(|tile| tile.width() >= width);
        let Some(stored) = stored else {
            let asked = TileId::new(level, index, width).map_or_else(|| "no such tile".into(), |tile| tile.path());
            return Err(ReadError::Missing { path: asked });
        };
        let mut hashes = self.read(stored)?;
        hashes.truncate(usize::from(width));
        Ok(hashes)
    }
}

impl Tiles {
    fn read(&self, tile: TileId) -> Result<Vec<Hash>, ReadError> {
        let path = tile.path();
        let mut bytes = Vec::new();
        let limit = usize::from(tile.width()) * Hash::BYTES;
        match self.folder.read(&path, limit, &mut bytes) {
            Ok(()) => {
                decode_hashes(&bytes, tile.width()).map_err(|error| ReadError::Failed { path, source: Box::new(error) })
            }
            Err(FileProblem::Missing) => Err(ReadError::Missing { path }),
            Err(problem) => {
                let source = io::Error::other(format!("the file {problem}")).into();
                Err(ReadError::Failed { path, source })
            }
        }
    }
}
