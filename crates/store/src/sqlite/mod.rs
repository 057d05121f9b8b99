//! The store on SQLite: one file, one writer, a few readers, one process.

mod audit;
mod connect;
mod lock;
mod place;
mod read;
mod readers;
mod rows;
mod schema;
mod tiles;
mod write;

pub use lock::{Holder, serving_at};

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::command::{IdempotencyKey, Submission};
use placet_domain::deciding::Decision;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::{Actor, Identity, Reach};
use placet_domain::organisation::Organisation;
use placet_domain::policy::Tier;
use placet_domain::project::Project;
use placet_domain::retention::Retention;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use placet_ledger::{ConsistencyProof, InclusionProof, SignedTreeHead, SigningKey, TreeHead, bundle};
use rusqlite::Connection;
use tokio::sync::{Mutex, watch};

use crate::clock::Clock;
use crate::error::{StoreError, SubmitError};
use crate::query::{
    ActionFilter, Debts, DecisionFilter, EntryFilter, Expirable, Kept, Listed, LockedScope, Removal, RunFilter,
    SeenFile, StoredEntry, Taken, Unnamed, WorktreeFilter,
};
use crate::queue::{QueueFilter, Twins, Waits, Whose};
use crate::receipt::{Extras, Lease, Receipt};
use crate::report::{Difference, Scrub};
use readers::Readers;
use tiles::Tiles;
use write::{Handle, Task};

const DATABASE: &str = "placet.db";

#[derive(Debug)]
pub(crate) struct Sqlite {
    // Dropped first: the writer ends, and only then is the lock released.
    writer: Handle,
    readers: Readers,
    key: Arc<SigningKey>,
    /// One signature at a time, so that two do not hash the same entries.
    signing: Mutex<()>,
    lock: lock::Lock,
}

impl Sqlite {
    /// Opens the database in a folder that exists. Blocks.
    pub(crate) fn open(dir: &Path, key: SigningKey, clock: Clock, most_bytes: Option<u64>) -> Result<Self, StoreError> {
        connect::check_version()?;
        let lock = lock::take(dir)?;
        let path = dir.join(DATABASE);
        let mut conn = connect::writer(&path, most_bytes)?;
        schema::prepare(&mut conn)?;
        crate::blob::sync_folder(dir)?;
        let tree = audit::resume(&conn, &key.verifier())?;
        let last_at = last_at(&conn)?;
        let readers = Readers::open(&path)?;
        let writer = Handle::start(conn, clock, tree, last_at).map_err(|error| StoreError::io(&path, error))?;
        Ok(Self { writer, readers, key: Arc::new(key), signing: Mutex::new(()), lock })
    }

    pub(crate) async fn submit(&self, submission: Submission, extras: Extras) -> Result<Receipt, SubmitError> {
        let receipt = self.writer.write(Task::Submit(Box::new(submission), extras)).await?;
        Ok(receipt.ok_or(StoreError::Stopped)?)
    }

    pub(crate) async fn lease_next(&self, lease: Lease) -> Result<Option<Receipt>, SubmitError> {
        self.writer.write(Task::Lease(Box::new(lease))).await
    }

    pub(crate) async fn recall(&self, actor: Actor, key: IdempotencyKey) -> Result<Option<Receipt>, SubmitError> {
        self.writer.write(Task::Recall(Box::new(actor), key)).await
    }

    pub(crate) fn note_address(&self, address: Option<SocketAddr>) -> Result<(), StoreError> {
        self.lock.note(address).map_err(|error| StoreError::io(Path::new("lock"), error))
    }

    pub(crate) fn size(&self) -> u64 {
        *self.subscribe().borrow()
    }

    pub(crate) fn moved(&self) -> u64 {
        self.writer.shared().moved()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.writer.shared().subscribe()
    }

    pub(crate) fn closed(&self) -> Option<String> {
        self.writer.shared().closed().map(str::to_owned)
    }

    pub(crate) async fn head(&self) -> Result<Option<SignedTreeHead>, StoreError> {
        let verifier = self.key.verifier();
        self.readers.read(move |conn| audit::last_head(conn, &verifier)).await
    }

    pub(crate) async fn sign_head(&self) -> Result<SignedTreeHead, StoreError> {
        let _turn = self.signing.lock().await;
        let tree = self.writer.shared().tree();
        if let Some(head) = self.head().await?.filter(|head| head.size() == tree.size()) {
            return Ok(head);
        }
        let (key, origin) = (self.key.clone(), self.key.name().as_str().to_owned());
        let sign = move |conn: &Connection| {
            audit::verified_tree(conn, &key.verifier(), &tree)?;
            Ok(TreeHead::new(origin, tree.size(), tree.root())?.sign(&key)?)
        };
        let head = self.readers.read(sign).await?;
        self.keep(Task::KeepHead(Box::new(head.clone()))).await?;
        Ok(head)
    }

    pub(crate) async fn set_cursor(&self, name: String, seq: u64) -> Result<(), StoreError> {
        self.keep(Task::SetCursor(name, seq)).await
    }

    pub(crate) async fn keep_debts(&self, debts: Debts) -> Result<(), StoreError> {
        self.keep(Task::KeepDebts(Box::new(debts))).await
    }

    pub(crate) async fn mark_seen(&self, file: SeenFile, is_seen: bool) -> Result<(), StoreError> {
        self.keep(Task::MarkSeen(Box::new(file), is_seen)).await
    }

    pub(crate) async fn forget_marks(&self) -> Result<(), StoreError> {
        self.keep(Task::ForgetMarks).await
    }

    /// Has something written that nobody decides about, so nobody refuses it.
    async fn keep(&self, task: Task) -> Result<(), StoreError> {
        match self.writer.write(task).await {
            Ok(_) => Ok(()),
            Err(SubmitError::Fault(fault)) => Err(fault),
            Err(SubmitError::Refused(_) | SubmitError::KeyReused) => Err(StoreError::Stopped),
        }
    }

    pub(crate) async fn prove_entry(&self, seq: u64, size: u64) -> Result<InclusionProof, StoreError> {
        self.readers.read(move |conn| Ok(InclusionProof::build(seq, size, &Tiles(conn))?)).await
    }

    pub(crate) async fn prove_consistency(&self, old: u64, new: u64) -> Result<ConsistencyProof, StoreError> {
        self.readers.read(move |conn| Ok(ConsistencyProof::build(old, new, &Tiles(conn))?)).await
    }

    /// Writes the ledger up to a signed head into an empty folder.
    pub(crate) async fn export(&self, head: SignedTreeHead, dir: PathBuf) -> Result<(), StoreError> {
        let export = move |conn: &Connection| {
            let written = read::bytes_before(conn, head.size(), |entries| bundle::write(&dir, &head, entries))?;
            written.map_err(|error| StoreError::Export(Arc::new(error)))
        };
        self.readers.read(export).await
    }

    pub(crate) async fn scrub(&self) -> Result<Scrub, StoreError> {
        let verifier = self.key.verifier();
        self.readers.read(move |conn| audit::scrub(conn, &verifier)).await
    }

    pub(crate) async fn check_projections(&self) -> Result<Vec<Difference>, StoreError> {
        self.readers.read(audit::differences).await
    }
}

fn last_at(conn: &Connection) -> Result<Timestamp, StoreError> {
    let sql = "SELECT coalesce(max(at_ms), 0) FROM (SELECT at_ms FROM ledger ORDER BY seq DESC LIMIT 1)";
    Ok(Timestamp::from_unix_ms(conn.query_row(sql, [], |row| row.get(0))?))
}

/// One method for each function that reads, which borrows a connection for it.
macro_rules! reads {
    ($($name:ident($($given:ident: $kind:ty => $passed:expr),*) -> $found:ty;)*) => {
        impl Sqlite {
            $(pub(crate) async fn $name(&self, $($given: $kind),*) -> Result<$found, StoreError> {
                self.readers.read(move |conn| read::$name(conn, $($passed),*)).await
            })*
        }
    };
}

reads! {
    identity(id: IdentityId => id) -> Option<Identity>;
    identity_by_token(token: Digest => token) -> Option<Identity>;
    identities() -> Vec<Identity>;
    project(id: ProjectId => id) -> Option<Project>;
    project_by_name(name: String => &name) -> Option<Project>;
    projects() -> Vec<Project>;
    scopes(project: ProjectId => project) -> Vec<LockedScope>;
    scope(project: ProjectId => project, name: String => &name) -> Option<LockedScope>;
    run(id: RunId => id) -> Option<Run>;
    runs(filter: RunFilter => &filter) -> Vec<Listed<Run>>;
    organisation() -> Organisation;
    runs_due(now: Timestamp => now, limit: u32 => limit) -> Vec<RunId>;
    runs_to_host(host: IdentityId => host, reach: Reach => &reach) -> Vec<Run>;
    idle_agents() -> Vec<IdentityId>;
    void(limit: u32 => limit) -> Vec<(RunId, ActionId)>;
    worktree(id: WorktreeId => id) -> Option<Worktree>;
    worktrees(filter: WorktreeFilter => &filter) -> Vec<Listed<Worktree>>;
    action(id: ActionId => id) -> Option<ActionState>;
    actions(filter: ActionFilter => &filter) -> Vec<Listed<ActionState>>;
    queue(filter: QueueFilter => &filter) -> Vec<Listed<ActionState>>;
    twins(of: Vec<(ActionId, Digest)> => &of, whose: Whose => &whose, most: u32 => most) -> Vec<Twins>;
    queue_length(waits: Waits => &waits, reach: Reach => &reach) -> u64;
    action_count(run: RunId => run) -> u64;
    calls(run: RunId => run, most: u32 => most) -> Vec<Taken>;
    counts(reach: Reach => &reach, project: Option<ProjectId> => project) -> std::collections::BTreeMap<ActionStatus, u64>;
    decisions(filter: DecisionFilter => &filter) -> Vec<Decision>;
    has_old_marks(now: Timestamp => now) -> bool;
    seen(files: Vec<SeenFile> => &files) -> Vec<bool>;
    decided_since(who: IdentityId => who, since: Timestamp => since, most: u32 => most) -> u64;
    waiting(reach: Reach => &reach, limit: u32 => limit) -> Vec<(Tier, Timestamp)>;
    lapsing(now: Timestamp => now, limit: u32 => limit) -> Vec<(RunId, ActionId)>;
    outdated(policy: Digest => policy, limit: u32 => limit) -> Vec<(RunId, ActionId)>;
    sealed(action: ActionId => action, digest: Digest => digest) -> Option<Vec<u8>>;
    advice(action: ActionId => action, digest: Digest => digest) -> Option<String>;
    verifier(id: IdentityId => id, digest: Digest => digest) -> Option<String>;
    kept(project: ProjectId => project, digest: Digest => digest) -> Option<Kept>;
    unnamed(project: ProjectId => project, identity: IdentityId => identity, now: Timestamp => now) -> Unnamed;
    expirable_uploads(project: ProjectId => project, now: Timestamp => now) -> Expirable;
    removal(project: ProjectId => project, digest: Digest => digest) -> Option<Removal>;
    expirable(project: ProjectId => project, retention: Retention => retention, now: Timestamp => now) -> Expirable;
    removals(from: u64 => from, limit: u32 => limit) -> Vec<(u64, Digest)>;
    count_removals() -> u64;
    is_kept(digest: Digest => digest) -> bool;
    all_kept(after: Option<Digest> => after, limit: u32 => limit) -> Vec<(Digest, u64)>;
    is_of_agent(agent: IdentityId => agent, digest: Digest => digest) -> bool;
    withholding(project: ProjectId => project, digest: Digest => digest) -> Vec<Run>;
    entries(filter: EntryFilter => &filter) -> Vec<StoredEntry>;
    count_entries(filter: EntryFilter => &filter) -> u64;
    entry(seq: u64 => seq) -> Option<StoredEntry>;
    cursor(name: String => &name) -> Option<u64>;
    debts(follower: String => &follower) -> Vec<(String, String)>;
}
