//! Finding what lies in a ledger without belonging to it.
//!
//! Nothing that no signature covers may pass as a part of what was verified: a reader who finds `tile/entries/007` in a
//! folder that "verified" would believe it.

use std::fs;
use std::path::Path;

use super::CHECKPOINT;
use super::files::Folder;
use crate::fault::{Fault, Faults};
use crate::tile::{TileId, TilePath};

/// No path of a ledger has more parts: `tile`, the level, seven groups of three digits, the width.
const MAX_PARTS: usize = 10;

/// Reports every file and link in `folder` that a ledger of `size` entries does not have.
pub(crate) fn find_strays(folder: &Folder, size: u64, faults: &mut Faults) {
    let mut walk = Walk { size, faults, strays: Vec::new() };
    walk.folder(folder.path(), "", 1);
    let Walk { mut strays, .. } = walk;
    // The system lists files in no particular order; a report should not depend on it.
    strays.sort();
    faults.extend(strays);
}

struct Walk<'a> {
    size: u64,
    faults: &'a Faults,
    strays: Vec<Fault>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, path: &str, parts: usize) {
        let Ok(found) = fs::read_dir(folder) else { return self.stray(path) };
        for item in found {
            if self.faults.len() + self.strays.len() > crate::fault::MAX_FAULTS {
                return;
            }
            match item {
                Ok(item) => self.item(&item, path, parts),
                Err(_) => self.stray(path),
            }
        }
    }

    fn item(&mut self, item: &fs::DirEntry, path: &str, parts: usize) {
        let name = item.file_name();
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let path = format!("{below}{}", name.to_string_lossy());
        let is_folder = item.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && parts < MAX_PARTS {
            self.folder(&item.path(), &path, parts + 1);
        } else if is_folder || name.to_str().is_none() || !belongs(&path, self.size) {
            self.stray(&path);
        }
    }

    fn stray(&mut self, path: &str) {
        self.strays.push(Fault::Unexpected { path: path.into(), size: self.size });
    }
}

fn belongs(path: &str, size: u64) -> bool {
    let in_tree = |tile: TileId| TileId::in_tree(tile.level(), tile.index(), size) == Some(tile);
    path == CHECKPOINT || path.parse().is_ok_and(|path: TilePath| in_tree(path.tile()))
}
