//! What a run made, for export: plain files of the upper, each with size and digest. Nothing is followed, and nothing
//! but plain files is opened; what was listed is what is read, or nothing is.

use std::io::{Read as _, Write};

use serde::{Deserialize, Serialize};

use super::Space;
use super::closed::{Closed, in_parent_of};
use super::entry::{Entry, Kind};
use super::error::SpaceError;
use super::preview::hides;
use super::restore::{Part, Trees};
use super::root::Root;
use super::tree::Tree;
use crate::digest::{Digest, Hasher};
use crate::error::Doing;
use crate::path::TreePath;

const CHUNK_BYTES: usize = 1 << 16;

/// A file the run made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Where it is in the workspace.
    pub path: TreePath,
    /// Who may read, write and execute.
    pub mode: u32,
    /// Length.
    pub size_bytes: u64,
    /// Of the content.
    pub digest: Digest,
}

pub(super) fn list(space: &Space, wanted: &dyn Fn(&TreePath) -> bool) -> Result<Vec<Output>, SpaceError> {
    let live = Trees::open(space)?.scan(space, None)?;
    let tree = &live.workspace.tree;
    let chosen = tree.entries.iter().filter(|entry| wanted(&entry.path));
    Ok(chosen.filter_map(|entry| output(tree, entry)).collect())
}

/// Which of these files of the base are files no more.
pub(super) fn missing(space: &Space, files: &[TreePath]) -> Result<Vec<TreePath>, SpaceError> {
    let live = Trees::open(space)?.scan(space, None)?;
    let tree = &live.workspace.tree;
    Ok(files.iter().filter(|path| is_missing(tree, path)).cloned().collect())
}

/// What the upper says of a path, or of what is above it; where it says nothing, the base shows through.
fn is_missing(tree: &Tree, path: &TreePath) -> bool {
    if let Some(entry) = tree.get(path) {
        return !matches!(entry.kind, Kind::File { .. } | Kind::Twin(_));
    }
    let above = std::iter::successors(path.parent(), TreePath::parent);
    above.filter_map(|path| tree.get(&path)).any(hides)
}

fn output(tree: &Tree, entry: &Entry) -> Option<Output> {
    let file = match &entry.kind {
        Kind::Twin(first) => tree.get(first)?,
        Kind::File { .. } | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => entry,
    };
    let (path, mode, size_bytes) = (entry.path.clone(), file.meta.mode & crate::layer::MODE_BITS, file.size_bytes());
    Some(Output { path, mode, size_bytes, digest: file.digest()? })
}

/// Whoever gives the sink keeps nothing of it unless this succeeds.
pub(super) fn read(space: &Space, output: &Output, into: &mut dyn Write) -> Result<(), SpaceError> {
    let (path, root) = (&output.path, Root::open(space, Part::Workspace)?);
    let changed = || SpaceError::OutputChanged(path.clone());
    let (file, _) = in_parent_of(&root, path, |parent| {
        let _closed = Closed::open_up(parent, path.name(), &parent.stat(path.name())?)?;
        parent.file(path.name())
    })
    .map_err(|_| changed())?;
    // One byte more than was listed, so that a longer file is not taken for it.
    let mut file = file.take(output.size_bytes + 1);
    let (mut hasher, mut chunk) = (Hasher::default(), vec![0; CHUNK_BYTES]);
    loop {
        let read = file.read(&mut chunk).doing("read", path)?;
        hasher.update(&chunk[..read]);
        into.write_all(&chunk[..read]).doing("hand on", path)?;
        if read == 0 {
            return if hasher.finish() == output.digest { Ok(()) } else { Err(changed()) };
        }
    }
}
