//! What can go wrong with layers. Three kinds: the tree cannot be read, it is not what was agreed on, the disk failed.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::layer::{Conflict, Special};
use crate::path::{BadPath, TreePath};

/// Why layers could not be read or changed. Unless it says otherwise, nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LayerError {
    /// The kernel said no.
    #[error("cannot {doing} `{path}`")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what; escaped if it comes from a run.
        path: String,
        /// The kernel's reason.
        #[source]
        source: io::Error,
    },
    /// There is more than is looked at.
    #[error("more than {limit} {what}: raise the limit, or discard what the run left")]
    TooLarge {
        /// Which limit.
        what: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A path that cannot be named.
    #[error(transparent)]
    Path(#[from] BadPath),
    /// A cage or another caller is at work.
    #[error("`{0}` is in use: wait for the cage that writes to it, or for the other promotion, to end")]
    Busy(PathBuf),
    /// Something changed while it was read.
    #[error("`{0}` changed while it was read: try again")]
    Moving(TreePath),
    /// Nothing to make a text diff from.
    #[error("`{0}` is not among the changes")]
    NotChanged(TreePath),
    /// The preview is no longer what would be promoted.
    #[error("the changes are no longer those that were previewed{}: preview and decide again", first(.0))]
    Outdated(Vec<TreePath>),
    /// Changes that would destroy what somebody else did.
    #[error("{} of the changes cannot be promoted{}", .0.len(), first_conflict(.0))]
    Conflicts(Vec<(TreePath, Conflict)>),
    /// Something other than a file, directory or link where only those are expected.
    #[error("`{path}` is {what}: only files, directories and symbolic links are taken")]
    Special {
        /// Where.
        path: TreePath,
        /// What it is.
        what: Special,
    },
    /// An earlier promotion into this directory did not end.
    #[error("an earlier promotion into `{0}` did not end: open the run it belongs to first, which ends it")]
    Unfinished(PathBuf),
    /// An earlier promotion can be neither finished nor undone without losing what somebody did since.
    #[error(
        "`{path}` changed after a promotion was interrupted: move it aside and open the run again; what was there before \
         is `{held}` in the directory `.placet-promotion-…` of the lower"
    )]
    Blocked {
        /// What changed.
        path: TreePath,
        /// Under which name the earlier content is kept.
        held: String,
    },
    /// The journal of an earlier promotion is not what was written.
    #[error("the journal `{path}` cannot be understood: {why}")]
    Journal {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Something is where something else was to be put.
    #[error("`{0}` is there already: name another place")]
    Taken(TreePath),
    /// A snapshot is not what it was when it was taken.
    #[error("the snapshot `{0}` is damaged: its content is not what was recorded; use another one")]
    Damaged(PathBuf),
}

/// The first of several paths; the others are in the error itself.
fn first(paths: &[TreePath]) -> String {
    paths.first().map(|path| format!(", first `{path}`")).unwrap_or_default()
}

fn first_conflict(conflicts: &[(TreePath, Conflict)]) -> String {
    conflicts.first().map(|(path, why)| format!(", first `{path}`: {why}")).unwrap_or_default()
}

/// Adds to an error of the kernel what was tried.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: impl ToString) -> Result<T, LayerError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, doing: &'static str, path: impl ToString) -> Result<T, LayerError> {
        self.map_err(|error| LayerError::Io { doing, path: path.to_string(), source: error.into() })
    }
}
