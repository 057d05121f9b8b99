//! The difference of two texts, for a person who reviews. Only for files that are small enough and are text.

use std::time::Duration;

use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::layer::changes::Change;
use crate::layer::node::Node;
use crate::path::TreePath;

/// Nobody reads more than this.
pub const MAX_DIFF_BYTES: u64 = 1 << 20;

/// Texts that are made to be hard to compare get a coarser answer after this.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where git looks for a NUL byte, too.
const BINARY_PROBE_BYTES: usize = 8000;

/// What a reviewer is shown of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A unified diff. It is text of the run: escape it for where it is shown.
    Text(String),
    /// At least one side is no text.
    Binary,
    /// At least one side has more than [`MAX_DIFF_BYTES`].
    TooLarge,
    /// Not a matter of content: directories, modes alone, special files.
    NoContent,
}

/// One side of a change: nothing, or bytes.
enum Side {
    Bytes(Vec<u8>),
    TooLarge,
    NoContent,
}

pub(crate) fn show(change: &Change, upper: &Dir, lower: &Dir) -> Result<Shown, LayerError> {
    let old = side(change.before(), change.path(), lower)?;
    let new = side(change.after(), change.path(), upper)?;
    Ok(match (old, new) {
        (Side::TooLarge, _) | (_, Side::TooLarge) => Shown::TooLarge,
        (Side::Bytes(old), Side::Bytes(new)) if old == new => Shown::NoContent,
        (Side::Bytes(old), Side::Bytes(new)) => unified(change.path(), &old, &new),
        (Side::Bytes(old), Side::NoContent) => unified(change.path(), &old, b""),
        (Side::NoContent, Side::Bytes(new)) => unified(change.path(), b"", &new),
        (Side::NoContent, Side::NoContent) => Shown::NoContent,
    })
}

fn side(node: Option<&Node>, path: &TreePath, root: &Dir) -> Result<Side, LayerError> {
    match node {
        None | Some(Node::Directory { .. } | Node::Special { .. }) => Ok(Side::NoContent),
        Some(Node::Symlink { target }) => Ok(Side::Bytes(target.as_bytes().to_vec())),
        Some(Node::File { size_bytes, .. }) if *size_bytes > MAX_DIFF_BYTES => Ok(Side::TooLarge),
        Some(Node::File { digest, .. }) => read(root, path, *digest).map(Side::Bytes),
    }
}

/// Shows what the change is about, or nothing.
fn read(root: &Dir, path: &TreePath, digest: Digest) -> Result<Vec<u8>, LayerError> {
    let (file, _) = root.parent_of(path).and_then(|parent| parent.file(path.name())).doing("open", path)?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_DIFF_BYTES + 1), &mut bytes).doing("read", path)?;
    if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(LayerError::Outdated(vec![path.clone()])) }
}

fn unified(path: &TreePath, old: &[u8], new: &[u8]) -> Shown {
    let (Some(old), Some(new)) = (text(old), text(new)) else { return Shown::Binary };
    let diff = similar::TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    Shown::Text(diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string())
}

fn text(bytes: &[u8]) -> Option<&str> {
    let binary = bytes.iter().take(BINARY_PROBE_BYTES).any(|&byte| byte == 0);
    std::str::from_utf8(bytes).ok().filter(|_| !binary)
}
