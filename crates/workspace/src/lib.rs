//! Where agents work, what they changed, and what becomes of it.
//!
//! - [`Repository`]: found and asked without running anything that it names; its branches, what one takes over
//!   from another ([`Merge`]), its one way out ([`Push`]).
//! - [`worktree`]: where one agent works on one branch, plain or sharing the checkout of its base.
//! - [`difference`]: everything that differs from a base, wherever it is kept, and every line that was added.
//! - [`layer`]: the upper of a run is its diff. Preview it, take snapshots and go back to them, promote exactly what was
//!   previewed, or discard it.
//! - [`space`]: the directory of one hosted run: its layers, its agent's memory, snapshots of both, the way back.
//! - [`harvest`]: commits of a run, taken over into the real repository: one branch, checked, nothing else.
//! - [`Git`]: the one way git is run, neutralised.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use placet_workspace::harvest::Harvest;
//! use placet_workspace::layer::{Baseline, Layered};
//! use placet_workspace::{Branch, Limits, ObjectId};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (branch, expected): (Branch, ObjectId) = ("run/7".parse()?, "0".repeat(40).parse()?);
//! let (worktree, run) = (Path::new("/srv/worktrees/7"), Path::new("/srv/runs/7"));
//! let baseline = Baseline::record(worktree, Limits::default())?;
//! // … a cage works in layers above the worktree and above the repository's `.git` …
//! let files = Layered::open(worktree, &run.join("files/upper"), &run.join("files/work"))?;
//! let changes = files.preview(&baseline)?;
//! println!("{} changes, {}", changes.len(), changes.digest());
//! // … somebody approves this digest …
//! let common = Path::new("/srv/repo/.git");
//! let commits = Layered::open(common, &run.join("common/upper"), &run.join("common/work"))?;
//! Harvest::new(&commits, branch, expected).worktree(common.join("worktrees/7")).take()?;
//! files.promote(&baseline, &changes)?;
//! # Ok(())
//! # }
//! ```
//!
//! Every byte that a run left is hostile: names, links, modes, content. Nothing is followed, nothing but plain files is
//! opened, everything is bounded.
//!
//! Blocking code: call it from a blocking thread. It knows nothing of runs, approvals or cages; whoever calls it decides.

mod copy;
pub mod difference;
mod digest;
mod dir;
mod error;
mod git;
pub mod harvest;
pub mod layer;
mod limits;
mod merge;
mod path;
mod push;
mod remove;
mod repository;
mod room;
pub mod space;
pub mod worktree;

pub use difference::{Difference, DifferenceError, Differences};
pub use digest::{BadDigest, Digest};
pub use error::LayerError;
pub use git::{BadName, Branch, Call, Git, GitError, ObjectId, tracks};
pub use limits::Limits;
pub use merge::{Merge, MergeError, Merging};
pub use path::{BadEscape, BadPath, MAX_PATH_BYTES, RawBytes, TreePath};
pub use push::{Outgoing, Push, PushError};
pub use remove::{remove_from_upper, remove_run};
pub use repository::{CommitInfo, Person, Repository, RepositoryError};
pub use space::{Space, SpaceError};
pub use worktree::{CagePaths, Plan, Worktree, WorktreeError, WorktreeName};
