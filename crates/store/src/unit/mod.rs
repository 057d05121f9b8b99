//! The unit of work: how commands are decided and recorded, in whatever backend.
//!
//! ```text
//! admit ─► replay ─► load ─► decide ─► append ─► save ─► remember        (commit: the backend, for many commands at once)
//! ```
//!
//! A backend implements [`UnitOfWork`] for an open transaction: rows by key, and writes. It decides nothing. The rules are in
//! `placet_domain`; which rows a rule needs is in [`load`](self::load), and which writes follow from its answer in [`save`](self::save).
//! Everything is refused before the first write of a command, so a refusal leaves nothing to undo.

mod entry;
mod lease;
mod load;
mod replay;
mod save;
mod submit;
mod turns;

pub(crate) use entry::{NewEntry, Thing, read_record};
pub(crate) use submit::CommandFlow;
pub(crate) use turns::Turns;

use std::collections::BTreeSet;
use std::ops::Range;

use placet_domain::action::ActionState;
use placet_domain::approval::Asking;
use placet_domain::deciding::Decision;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::{Actor, Identity};
use placet_domain::organisation::Organisation;
use placet_domain::project::Project;
use placet_domain::run::{Beside, Questions, Run};
use placet_domain::scope::Scope;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;

use crate::error::StoreResult;
use crate::receipt::Lease;

/// An open transaction of a backend. Reads see what the transaction wrote. Methods take `&mut self`, because a backend may cache.
pub(crate) trait UnitOfWork {
    /// Digest of the token by which an identity is known now; `None` if it is unknown or revoked.
    fn credential(&mut self, id: IdentityId) -> StoreResult<Option<Digest>>;
    fn identity(&mut self, id: IdentityId) -> StoreResult<Option<Identity>>;
    /// All identities, also revoked ones.
    fn identities(&mut self) -> StoreResult<Vec<Identity>>;
    /// Counts the identities that have or had a name.
    fn count_named(&mut self, name: &str) -> StoreResult<u64>;
    /// Whether an identity has or had a token; a revoked identity keeps it.
    fn is_token_taken(&mut self, token: Digest) -> StoreResult<bool>;
    fn organisation(&mut self) -> StoreResult<Organisation>;
    fn project(&mut self, id: ProjectId) -> StoreResult<Option<Project>>;
    fn projects(&mut self) -> StoreResult<Vec<Project>>;
    fn is_project_name_taken(&mut self, name: &str) -> StoreResult<bool>;
    fn run(&mut self, id: RunId) -> StoreResult<Option<Run>>;
    /// Unfinished runs, of one project or of all.
    fn unfinished_runs(&mut self, project: Option<ProjectId>) -> StoreResult<Vec<Run>>;
    /// Unfinished runs of a project that other runs have made.
    fn child_runs(&mut self, project: ProjectId) -> StoreResult<Vec<Run>>;
    /// Unfinished runs whose state names an identity.
    fn runs_naming(&mut self, id: IdentityId) -> StoreResult<Vec<Run>>;
    fn action(&mut self, id: ActionId) -> StoreResult<Option<ActionState>>;
    /// Unstarted actions whose state names an identity.
    fn unstarted_actions_naming(&mut self, id: IdentityId) -> StoreResult<Vec<ActionState>>;
    /// Whether a worker holds an action.
    fn is_action_at_work(&mut self) -> StoreResult<bool>;
    /// Counts the open actions of a run, without the given ones.
    fn count_beside(&mut self, run: &Run, without: &[ActionId]) -> StoreResult<Beside>;
    /// Counts the questions of a run's family; `first` is the run at the top of it.
    fn count_questions(&mut self, run: &Run, first: RunId, terms: &Asking) -> StoreResult<Questions>;
    fn worktree(&mut self, id: WorktreeId) -> StoreResult<Option<Worktree>>;
    /// Worktrees whose state names an identity.
    fn worktrees_naming(&mut self, id: IdentityId) -> StoreResult<Vec<Worktree>>;
    /// Contents that are named by entries from this one on, or by documents that were sealed with one of them.
    fn touched_contents(&mut self, from: u64) -> StoreResult<BTreeSet<Digest>>;
    /// Whether a project removed a content and does not keep it again.
    fn is_content_removed(&mut self, project: ProjectId, digest: Digest) -> StoreResult<bool>;

    /// Runs with approved actions, in any order.
    fn waiting_runs(&mut self) -> StoreResult<Vec<WaitingRun>>;
    /// The action of a run that could be leased and has the earliest deadline, after leaving out the first `skipped`. It leaves out
    /// actions that the domain would refuse, as far as rows show it.
    fn next_ready(&mut self, run: RunId, lease: &Lease, skipped: u32) -> StoreResult<Option<ActionId>>;

    /// Number of entries, with those of this transaction.
    fn size(&self) -> u64;
    fn entry(&mut self, seq: u64) -> StoreResult<StoredLine>;
    /// Entries that changed the state of a thing, before the entry `end`.
    fn entries_of(&mut self, thing: Thing, end: u64) -> StoreResult<Vec<StoredLine>>;
    /// The request under an actor's idempotency key: its digest, and the entries that answered it.
    fn answered(&mut self, actor: &Actor, key: &str) -> StoreResult<Option<(Digest, Range<u64>)>>;

    /// Appends entries to the ledger and its Merkle tree. The first is numbered [`size`](Self::size).
    fn append(&mut self, entries: &[NewEntry]) -> StoreResult<()>;
    fn save(&mut self, row: RowChange<'_>) -> StoreResult<()>;
}

/// An entry as it is stored.
#[derive(Debug)]
pub(crate) struct StoredLine {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) bytes: Vec<u8>,
}

/// A run with actions that wait for a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingRun {
    pub(crate) id: RunId,
    pub(crate) agent: IdentityId,
    /// The earliest deadline of its waiting actions.
    pub(crate) due_ms: i64,
}

/// One ledger entry's place in order and in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
}

/// The entries that made and last changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) created: Stamp,
    pub(crate) changed: Stamp,
}

impl Span {
    pub(crate) const fn starting(stamp: Stamp) -> Self {
        Self { created: stamp, changed: stamp }
    }
}

/// A row to be written. `created` counts only where the row is new: of the rest a backend changes what follows from the state.
#[derive(Debug)]
pub(crate) enum RowChange<'a> {
    Organisation {
        state: &'a Organisation,
        changed: u64,
    },
    Project {
        state: &'a Project,
        created: Stamp,
    },
    Scope {
        project: ProjectId,
        name: &'a str,
        scope: &'a Scope,
        locked: Stamp,
    },
    Identity {
        state: &'a Identity,
        created: u64,
    },
    Run {
        state: &'a Run,
        span: Span,
    },
    Action {
        state: &'a ActionState,
        /// The state in the row; `None` for a new action.
        before: Option<&'a ActionState>,
        span: Span,
    },
    Worktree {
        state: &'a Worktree,
        span: Span,
    },
    /// Bytes that a project began to keep, or ceased to keep.
    Evidence {
        project: ProjectId,
        digest: Digest,
        size_bytes: u64,
        is_removed: bool,
        seq: u64,
    },
    Decision {
        decision: &'a Decision,
        seq: u64,
    },
    Password {
        person: IdentityId,
        verifier: &'a str,
    },
    /// The bytes of an action or of the manifest of its results. A late result may be there already.
    Sealed {
        action: ActionId,
        digest: Digest,
        bytes: &'a [u8],
    },
    Advice {
        action: ActionId,
        words: &'a str,
    },
    /// Bytes that nothing names yet. It renews an upload that is there, and does nothing if the project kept the bytes before.
    UploadBegun {
        project: ProjectId,
        digest: Digest,
        owner: IdentityId,
        size_bytes: u64,
        kept: Stamp,
    },
    UploadEnded {
        project: ProjectId,
        digest: Digest,
    },
    /// The answer to a request under the caller's own name for it.
    Answer {
        actor: &'a Actor,
        key: &'a str,
        request: Digest,
        seqs: Range<u64>,
    },
}
