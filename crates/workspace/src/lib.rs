//! What a run changed, and what becomes of it.
//!
//! - [`layer`]: the upper of a run is its diff. Preview it, take snapshots and go back to them, promote exactly what was
//!   previewed, or discard it.
//! - [`harvest`]: commits of a run, taken over into the real repository: one branch, checked, nothing else.
//! - [`Git`]: the one way git is run, neutralised.
//!
//! Every byte that a run left is hostile: names, links, modes, content. Nothing is followed, nothing but plain files is
//! opened, everything is bounded.
//!
//! Blocking code: call it from a blocking thread. It knows nothing of runs, approvals or cages; whoever calls it decides.

mod copy;
mod digest;
mod dir;
mod error;
mod git;
pub mod harvest;
pub mod layer;
mod limits;
mod path;
mod remove;

pub use digest::{BadDigest, Digest};
pub use error::LayerError;
pub use git::{BadName, Branch, Call, Git, GitError, ObjectId};
pub use limits::Limits;
pub use path::{BadEscape, BadPath, MAX_PATH_BYTES, RawBytes, TreePath};
