//! The steps of a rollback, as they are written down before the first is taken.

use serde::{Deserialize, Serialize};

use super::super::State;
use super::super::entry::Meta;
use crate::path::TreePath;

/// Which of the two trees of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::space) enum Part {
    Workspace,
    Memory,
}

/// Everything that is left to do once it exists.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Which run of the machine wrote it. Nothing is flushed, so to another one it says nothing.
    pub(super) boot: String,
    /// Which snapshot it goes back to, and what that is.
    pub(super) number: u64,
    pub(super) state: State,
    pub(super) steps: Vec<Step>,
    pub(super) touched: Vec<Touched>,
}

/// One place that something else takes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) part: Part,
    /// Nothing for the whole tree.
    pub(super) path: Option<TreePath>,
    /// Under which number it waits, and what was there is kept.
    pub(super) held: String,
    /// The inode of what is put there; nothing, if nothing is.
    pub(super) fresh: Option<u64>,
}

/// A directory that stays, with what it has in the end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Touched {
    pub(super) part: Part,
    /// Nothing for the root.
    pub(super) path: Option<TreePath>,
    pub(super) meta: Meta,
}
