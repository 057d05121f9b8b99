//! What can be looked for, and in which form it is found.

use std::ops::Deref;

use placet_domain::action::ActionStatus;
use placet_domain::deciding::WINDOW_MS;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_domain::retention::Expiry;
use placet_domain::run::RunStatus;
use placet_domain::scope::Scope;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Ticket;
use placet_ledger::Hash;

/// No answer is longer, whatever was asked for: page on instead.
pub const MOST_ROWS: u32 = 1_000;
pub(crate) const USUAL_ROWS: u32 = 100;

/// What a follower of the ledger owes whom after everything before `next_seq`, as it writes that down for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debts {
    pub follower: String,
    /// The first entry that it has not settled.
    pub next_seq: u64,
    /// Recipient and state, of those that changed.
    pub states: Vec<(String, String)>,
}

/// Marks on files that are deleted in one step: no more than others would notice.
pub(crate) const MOST_FORGOTTEN: u32 = 512;
/// Marks of one person: more files than anybody reads in a month.
pub(crate) const MOST_SEEN: u32 = 2_000;

/// Marks on files from before this moment are deleted.
pub(crate) fn marks_kept_from_ms(now: Timestamp) -> i64 {
    now.unix_ms().saturating_sub(i64::try_from(WINDOW_MS).unwrap_or(i64::MAX))
}

/// A file that somebody looks at: which bytes at which path of which project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    pub who: IdentityId,
    pub project: ProjectId,
    pub path: String,
    pub digest: Digest,
}

/// In which direction a list goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    OldestFirst,
    NewestFirst,
}

/// Which runs; the newest first.
#[derive(Debug, Clone)]
pub struct RunFilter {
    pub reach: Reach,
    pub project: Option<ProjectId>,
    pub status: Option<RunStatus>,
    /// Only runs that are not over and in which an order was given.
    pub with_orders: bool,
    /// Only runs older than the one that was created with this entry.
    pub before: Option<u64>,
    pub limit: u32,
}

impl Default for RunFilter {
    fn default() -> Self {
        let (project, status, before) = (None, None, None);
        Self { reach: Reach::Everywhere, project, status, with_orders: false, before, limit: USUAL_ROWS }
    }
}

/// Which worktrees; the oldest first.
#[derive(Debug, Clone)]
pub struct WorktreeFilter {
    pub reach: Reach,
    pub project: Option<ProjectId>,
    pub ticket: Option<Ticket>,
    /// Only worktrees that were made after this entry.
    pub after: Option<u64>,
    pub limit: u32,
}

impl Default for WorktreeFilter {
    fn default() -> Self {
        Self { reach: Reach::Everywhere, project: None, ticket: None, after: None, limit: USUAL_ROWS }
    }
}

/// Which actions.
#[derive(Debug, Clone)]
pub struct ActionFilter {
    pub reach: Reach,
    pub project: Option<ProjectId>,
    pub run: Option<RunId>,
    /// Any of these; none given means all.
    pub statuses: Vec<ActionStatus>,
    /// Only actions of which something was recorded at this time or later.
    pub changed_since: Option<Timestamp>,
    pub order: Order,
    /// Only actions that come, in this order, after the one that was created with this entry.
    pub after: Option<u64>,
    pub limit: u32,
}

impl Default for ActionFilter {
    fn default() -> Self {
        let (project, run, changed_since, after) = (None, None, None, None);
        let (reach, order) = (Reach::Everywhere, Order::OldestFirst);
        Self { reach, project, run, statuses: Vec::new(), changed_since, order, after, limit: USUAL_ROWS }
    }
}

/// Which ends of questions to people; the newest first.
#[derive(Debug, Clone)]
pub struct DecisionFilter {
    pub reach: Reach,
    pub project: Option<ProjectId>,
    /// Only what this person decided.
    pub reviewer: Option<IdentityId>,
    pub since: Timestamp,
    /// Only what was decided before.
    pub until: Option<Timestamp>,
    pub limit: u32,
}

/// Which ledger entries.
#[derive(Debug, Clone)]
pub struct EntryFilter {
    /// Entries that belong to no project are seen only by those who reach everywhere.
    pub reach: Reach,
    pub project: Option<ProjectId>,
    pub run: Option<RunId>,
    pub action: Option<ActionId>,
    pub kinds: Kinds,
    pub order: Order,
    /// Only entries that come, in this order, after the one with this number.
    pub after: Option<u64>,
    pub limit: u32,
}

impl Default for EntryFilter {
    fn default() -> Self {
        let (reach, project, run, action, after) = (Reach::Everywhere, None, None, None, None);
        let (kinds, order, limit) = (Kinds::All, Order::OldestFirst, USUAL_ROWS);
        Self { reach, project, run, action, kinds, order, after, limit }
    }
}

/// Entries of which kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kinds {
    #[default]
    All,
    /// All but this one.
    But(&'static str),
    Only(&'static str),
}

/// The kind of which there are most, and that tells least: a worker still holds what it holds.
pub const HEARTBEAT: &str = "job.renewed";

/// What calls of models took from the first one until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub at: Timestamp,
    pub tokens: u64,
    pub usd_micros: u64,
}

/// Something found in a list, with the entries that made and last changed it. The number of the first is its cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    pub created: u64,
    pub created_at: Timestamp,
    pub changed: u64,
    pub changed_at: Timestamp,
    pub state: T,
}

impl<T> Deref for Listed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

/// A scope that was locked in a project under a name; later ones of the same name are its newer versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedScope {
    pub name: String,
    pub scope: Scope,
    /// The entry that locked it.
    pub seq: u64,
    pub at: Timestamp,
}

/// Bytes of uploads that are not referenced yet. Each upload counts at least one disk block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unnamed {
    pub of_identity: u64,
    pub of_project: u64,
}

/// Bytes that a project keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub size_bytes: u64,
    /// The ledger entry that says so, and when it was written.
    pub seq: u64,
    pub at: Timestamp,
}

/// Bytes that a project kept once, and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// The ledger entry that says so, and when it was written.
    pub seq: u64,
    pub at: Timestamp,
    /// The entry by which they were kept before.
    pub kept: u64,
}

/// What of a project may be removed, and what of it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expirable {
    pub expiry: Expiry,
    /// Contents that runs which are not over, or are preserved, name.
    pub needed: u64,
    /// Contents whose time has not come.
    pub young: u64,
}

/// A ledger entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: String,
    /// The canonical bytes, which are what was hashed.
    pub bytes: Vec<u8>,
    pub leaf: Hash,
}
