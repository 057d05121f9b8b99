//! The store as others see it, whatever it is kept in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::approval::Terms;
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
use placet_ledger::{ConsistencyProof, InclusionProof, SignedTreeHead, VerifierKey};
use tokio::sync::watch;

use crate::blob::{self, Blobs};
use crate::clock::Clock;
use crate::config::Config;
use crate::error::{StoreError, SubmitError};
use crate::query::{
    ActionFilter, Debts, DecisionFilter, EntryFilter, Expirable, Kept, Listed, LockedScope, Removal, RunFilter,
    SeenFile, StoredEntry, Taken, Unnamed, WorktreeFilter,
};
use crate::queue::{QueueFilter, Seat, Twins, Waits, Whose};
use crate::receipt::{Extras, Lease, Receipt};
use crate::report::{Difference, Scrub};
use crate::sqlite::Sqlite;

/// Everything that is known and kept. Cheap to clone; the last clone to go closes it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Backend,
    blobs: Blobs,
    clock: Clock,
    verifier: VerifierKey,
    dir: PathBuf,
}

/// What the store is kept in. All of them pass the same conformance suite.
#[derive(Debug)]
enum Backend {
    Sqlite(Sqlite),
}

/// Hands a call on to whatever the store is kept in.
macro_rules! backend {
    ($store:ident, $sqlite:ident => $call:expr) => {
        match &$store.0.backend {
            Backend::Sqlite($sqlite) => $call,
        }
    };
}

/// Minimum free space on the disk. A batch of entries is smaller; with less space the next change may fail.
const LEAST_ROOM_BYTES: u64 = 1 << 20;

impl Store {
    /// Opens a store, making it where there is none. Refuses one that another process uses, that a newer version wrote,
    /// or whose ledger does not continue the last signed head.
    pub async fn open(config: Config) -> Result<Self, StoreError> {
        let opened = tokio::task::spawn_blocking(move || Self::open_blocking(config));
        opened.await.unwrap_or(Err(StoreError::Stopped))
    }

    fn open_blocking(config: Config) -> Result<Self, StoreError> {
        let Config { dir, ledger_key, evidence_key, clock, most_database_bytes } = config;
        blob::make_folder(&dir)?;
        let verifier = ledger_key.verifier();
        let sqlite = Sqlite::open(&dir, ledger_key, clock.clone(), most_database_bytes)?;
        let blobs = Blobs::open(&dir.join("evidence"), evidence_key)?;
        Ok(Self(Arc::new(Inner { backend: Backend::Sqlite(sqlite), blobs, clock, verifier, dir })))
    }

    /// Says where whoever keeps it open answers, or that they answer no more, to others who would open it ([`StoreError::InUse`]).
    pub fn note_address(&self, address: Option<SocketAddr>) -> Result<(), StoreError> {
        backend!(self, sqlite => sqlite.note_address(address))
    }

    /// Decides a command and, in the same transaction, records what follows. What this returns is on disk.
    pub async fn submit(&self, submission: Submission, extras: Extras) -> Result<Receipt, SubmitError> {
        backend!(self, sqlite => sqlite.submit(submission, extras).await)
    }

    /// What was answered to somebody under this key, if anything was. For requests that cost something before they become a command.
    pub async fn recall(&self, actor: Actor, key: IdempotencyKey) -> Result<Option<Receipt>, SubmitError> {
        backend!(self, sqlite => sqlite.recall(actor, key).await)
    }

    /// Leases the oldest action that the worker may execute now; nothing if there is none.
    pub async fn lease_next(
        &self,
        worker: Identity,
        terms: Terms,
        policy: Digest,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Option<Receipt>, SubmitError> {
        backend!(self, sqlite => sqlite.lease_next(Lease { worker, terms, policy, idempotency }).await)
    }

    /// Evidence, by content.
    pub fn blobs(&self) -> &Blobs {
        &self.0.blobs
    }

    /// The time by the store's clock. Entries may be stamped later than this, never earlier than the entry before them.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Checks whether the disk has room for changes. The result is not cached, so that freed space counts immediately.
    pub fn has_room(&self) -> Result<bool, StoreError> {
        let failed = |error: rustix::io::Errno| StoreError::io(&self.0.dir, error.into());
        let disk = rustix::fs::statvfs(&self.0.dir).map_err(failed)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize) >= LEAST_ROOM_BYTES)
    }

    /// Why the store takes no more changes, if it does not. Reading goes on.
    pub fn read_only(&self) -> Option<String> {
        backend!(self, sqlite => sqlite.closed())
    }
}

/// Looking things up. What is not there is `None`; what is found is as of one moment.
impl Store {
    /// Who holds this token. Revoked identities are not found.
    pub async fn identity_by_token(&self, token: Digest) -> Result<Option<Identity>, StoreError> {
        backend!(self, sqlite => sqlite.identity_by_token(token).await)
    }

    pub async fn identity(&self, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        backend!(self, sqlite => sqlite.identity(id).await)
    }

    pub async fn identities(&self) -> Result<Vec<Identity>, StoreError> {
        backend!(self, sqlite => sqlite.identities().await)
    }

    pub async fn project(&self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        backend!(self, sqlite => sqlite.project(id).await)
    }

    pub async fn project_by_name(&self, name: &str) -> Result<Option<Project>, StoreError> {
        backend!(self, sqlite => sqlite.project_by_name(name.to_owned()).await)
    }

    pub async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        backend!(self, sqlite => sqlite.projects().await)
    }

    /// All scopes of a project in the order they were locked.
    pub async fn scopes(&self, project: ProjectId) -> Result<Vec<LockedScope>, StoreError> {
        backend!(self, sqlite => sqlite.scopes(project).await)
    }

    /// The newest scope of this name.
    pub async fn scope(&self, project: ProjectId, name: &str) -> Result<Option<LockedScope>, StoreError> {
        backend!(self, sqlite => sqlite.scope(project, name.to_owned()).await)
    }

    pub async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        backend!(self, sqlite => sqlite.run(id).await)
    }

    pub async fn runs(&self, filter: RunFilter) -> Result<Vec<Listed<Run>>, StoreError> {
        backend!(self, sqlite => sqlite.runs(filter).await)
    }

    pub async fn organisation(&self) -> Result<Organisation, StoreError> {
        backend!(self, sqlite => sqlite.organisation().await)
    }

    /// Runs that the clockwork should look at, the most urgent first.
    pub async fn runs_due(&self, now: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        backend!(self, sqlite => sqlite.runs_due(now, limit).await)
    }

    /// Runs of which something is wanted of this host, and those within its reach that want one; the oldest first.
    pub async fn runs_to_host(&self, host: IdentityId, reach: Reach) -> Result<Vec<Run>, StoreError> {
        backend!(self, sqlite => sqlite.runs_to_host(host, reach).await)
    }

    /// The agents of hosted runs that are over and not cleaned up yet, as long as they are not revoked.
    pub async fn idle_agents(&self) -> Result<Vec<IdentityId>, StoreError> {
        backend!(self, sqlite => sqlite.idle_agents().await)
    }

    /// Actions that were proposed before their run was rolled back, and still wait.
    pub async fn void(&self, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
        backend!(self, sqlite => sqlite.void(limit).await)
    }

    pub async fn worktree(&self, id: WorktreeId) -> Result<Option<Worktree>, StoreError> {
        backend!(self, sqlite => sqlite.worktree(id).await)
    }

    pub async fn worktrees(&self, filter: WorktreeFilter) -> Result<Vec<Listed<Worktree>>, StoreError> {
        backend!(self, sqlite => sqlite.worktrees(filter).await)
    }

    pub async fn action(&self, id: ActionId) -> Result<Option<ActionState>, StoreError> {
        backend!(self, sqlite => sqlite.action(id).await)
    }

    pub async fn actions(&self, filter: ActionFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
        backend!(self, sqlite => sqlite.actions(filter).await)
    }

    /// What waits for a reviewer: the riskiest first, then the oldest.
    pub async fn queue(&self, filter: QueueFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
        backend!(self, sqlite => sqlite.queue(filter).await)
    }

    /// For each of these actions, by what it asks, the others that ask the same of these people: so many of the oldest, and how many there are.
    pub async fn twins(&self, of: Vec<(ActionId, Digest)>, whose: Whose, most: u32) -> Result<Vec<Twins>, StoreError> {
        backend!(self, sqlite => sqlite.twins(of, whose, most).await)
    }

    /// How many wait for an approval in runs that are open, whosever.
    pub async fn queue_length(&self, reach: Reach) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.queue_length(Waits::ForApproval(Whose::All), reach).await)
    }

    /// How many wait for an approval, but for those that somebody set aside.
    pub async fn queue_length_for(&self, reach: Reach, seat: Seat) -> Result<u64, StoreError> {
        let all = self.queue_length(reach.clone()).await?;
        Ok(all.saturating_sub(self.aside_length(reach, seat).await?))
    }

    /// How many of them somebody set aside.
    pub async fn aside_length(&self, reach: Reach, seat: Seat) -> Result<u64, StoreError> {
        let waits = Waits::ForApproval(Whose::AsideBy(seat));
        backend!(self, sqlite => sqlite.queue_length(waits, reach).await)
    }

    /// How many were interrupted and wait for somebody who says what becomes of them.
    pub async fn interrupted(&self, reach: Reach) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.queue_length(Waits::ForResolution, reach).await)
    }

    /// How many actions were proposed in a run.
    pub async fn action_count(&self, run: RunId) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.action_count(run).await)
    }

    /// What calls of models took in a run, from the first call on: so many sums at most, of which the last is of all of them.
    pub async fn calls(&self, run: RunId, most: u32) -> Result<Vec<Taken>, StoreError> {
        backend!(self, sqlite => sqlite.calls(run, most).await)
    }

    /// How many actions stand where; a status without actions is left out.
    pub async fn counts(
        &self,
        reach: Reach,
        project: Option<ProjectId>,
    ) -> Result<BTreeMap<ActionStatus, u64>, StoreError> {
        backend!(self, sqlite => sqlite.counts(reach, project).await)
    }

    /// How questions to people ended, the newest first.
    pub async fn decisions(&self, filter: DecisionFilter) -> Result<Vec<Decision>, StoreError> {
        backend!(self, sqlite => sqlite.decisions(filter).await)
    }

    /// How many decisions somebody made since then; no further than `most` is counted.
    pub async fn decided_since(&self, who: IdentityId, since: Timestamp, most: u32) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.decided_since(who, since, most).await)
    }

    /// Marks a file as seen by somebody, or takes that back. It is about people: beside the ledger, and forgotten after its time.
    pub async fn mark_seen(&self, file: SeenFile, is_seen: bool) -> Result<(), StoreError> {
        backend!(self, sqlite => sqlite.mark_seen(file, is_seen).await)
    }

    /// Which of these are marked.
    pub async fn seen(&self, files: Vec<SeenFile>) -> Result<Vec<bool>, StoreError> {
        backend!(self, sqlite => sqlite.seen(files).await)
    }

    /// Whether there is a mark on a file whose time is over.
    pub async fn has_old_marks(&self) -> Result<bool, StoreError> {
        let now = self.now();
        backend!(self, sqlite => sqlite.has_old_marks(now).await)
    }

    /// Forgets marks whose time is over: some hundreds of them, the oldest.
    pub async fn forget_marks(&self) -> Result<(), StoreError> {
        backend!(self, sqlite => sqlite.forget_marks().await)
    }

    /// What waits for people in runs that are open, the oldest first: of which tier, and since when.
    pub async fn waiting(&self, reach: Reach, limit: u32) -> Result<Vec<(Tier, Timestamp)>, StoreError> {
        backend!(self, sqlite => sqlite.waiting(reach, limit).await)
    }

    /// Actions whose deadline or lease has run out by `now`.
    pub async fn lapsing(&self, now: Timestamp, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
        backend!(self, sqlite => sqlite.lapsing(now, limit).await)
    }

    /// Actions that still wait under a verdict of another policy than this one: they have to be judged again.
    pub async fn outdated(&self, policy: Digest, limit: u32) -> Result<Vec<(RunId, ActionId)>, StoreError> {
        backend!(self, sqlite => sqlite.outdated(policy, limit).await)
    }

    /// The bytes of a sealed action, or of the manifest of what an execution left, hashed again.
    pub async fn sealed(&self, action: ActionId, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        backend!(self, sqlite => sqlite.sealed(action, digest).await)
    }

    /// The words an agent gave for a proposal, hashed again. Not to be trusted.
    pub async fn advice(&self, action: ActionId, digest: Digest) -> Result<Option<String>, StoreError> {
        backend!(self, sqlite => sqlite.advice(action, digest).await)
    }

    /// What the password of a person is compared with, hashed again.
    pub async fn password_verifier(&self, id: IdentityId, digest: Digest) -> Result<Option<String>, StoreError> {
        backend!(self, sqlite => sqlite.verifier(id, digest).await)
    }

    /// Sums the unreferenced uploads of the last day: those of an identity, and those of a whole project without its
    /// workers.
    pub async fn unnamed(&self, project: ProjectId, identity: IdentityId) -> Result<Unnamed, StoreError> {
        backend!(self, sqlite => sqlite.unnamed(project, identity, self.now()).await)
    }

    /// Finds the uploads of a project that are a day old and that no run or worktree names. To remove them, submit the
    /// result.
    pub async fn expirable_uploads(&self, project: ProjectId) -> Result<Expirable, StoreError> {
        backend!(self, sqlite => sqlite.expirable_uploads(project, self.now()).await)
    }

    /// What a project keeps under this digest, if anything.
    pub async fn kept(&self, project: ProjectId, digest: Digest) -> Result<Option<Kept>, StoreError> {
        backend!(self, sqlite => sqlite.kept(project, digest).await)
    }

    /// When a project removed what it kept under this digest, if it did and keeps nothing under it now.
    pub async fn removal(&self, project: ProjectId, digest: Digest) -> Result<Option<Removal>, StoreError> {
        backend!(self, sqlite => sqlite.removal(project, digest).await)
    }

    /// What of a project may be removed by these rules, as of now. To remove it, submit it.
    pub async fn expirable(&self, project: ProjectId, retention: Retention) -> Result<Expirable, StoreError> {
        backend!(self, sqlite => sqlite.expirable(project, retention, self.now()).await)
    }

    /// Whether these bytes are an agent's own: given to one of its runs, made there, or left by one of its actions.
    pub async fn is_of_agent(&self, agent: IdentityId, digest: Digest) -> Result<bool, StoreError> {
        backend!(self, sqlite => sqlite.is_of_agent(agent, digest).await)
    }

    /// The runs of a project that made these bytes, if none of them has let them out.
    pub async fn withholding(&self, project: ProjectId, digest: Digest) -> Result<Vec<Run>, StoreError> {
        backend!(self, sqlite => sqlite.withholding(project, digest).await)
    }
}

/// Contents that were removed, and those that were not.
impl Store {
    pub(crate) async fn removals(&self, from: u64, limit: u32) -> Result<Vec<(u64, Digest)>, StoreError> {
        backend!(self, sqlite => sqlite.removals(from, limit).await)
    }

    pub(crate) async fn count_removals(&self) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.count_removals().await)
    }

    pub(crate) async fn is_kept(&self, digest: Digest) -> Result<bool, StoreError> {
        backend!(self, sqlite => sqlite.is_kept(digest).await)
    }

    pub(crate) async fn all_kept(&self, after: Option<Digest>, limit: u32) -> Result<Vec<(Digest, u64)>, StoreError> {
        backend!(self, sqlite => sqlite.all_kept(after, limit).await)
    }
}

/// The ledger, and what strangers need to check it.
impl Store {
    /// The key that others check signed heads with.
    pub fn verifier(&self) -> &VerifierKey {
        &self.0.verifier
    }

    /// How many entries are committed; the next one gets this number.
    pub fn size(&self) -> u64 {
        backend!(self, sqlite => sqlite.size())
    }

    /// Its size when it last got an entry that changes more than how much of a budget is held or spent. As long as this is the same,
    /// everybody may do what they were allowed, however many calls were charged meanwhile.
    pub fn moved(&self) -> u64 {
        backend!(self, sqlite => sqlite.moved())
    }

    /// Tells how many entries are committed, each time it changes.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        backend!(self, sqlite => sqlite.subscribe())
    }

    pub async fn entries(&self, filter: EntryFilter) -> Result<Vec<StoredEntry>, StoreError> {
        backend!(self, sqlite => sqlite.entries(filter).await)
    }

    /// How many entries there are of which a filter tells, however many it would list.
    pub async fn count_entries(&self, filter: EntryFilter) -> Result<u64, StoreError> {
        backend!(self, sqlite => sqlite.count_entries(filter).await)
    }

    pub async fn entry(&self, seq: u64) -> Result<Option<StoredEntry>, StoreError> {
        backend!(self, sqlite => sqlite.entry(seq).await)
    }

    /// The first entry that the follower of this name has not settled; nothing if it was never heard of.
    pub async fn cursor(&self, name: &str) -> Result<Option<u64>, StoreError> {
        backend!(self, sqlite => sqlite.cursor(name.to_owned()).await)
    }

    /// Remembers that a follower has settled everything before `seq`. A cursor never goes back.
    pub async fn set_cursor(&self, name: &str, seq: u64) -> Result<(), StoreError> {
        backend!(self, sqlite => sqlite.set_cursor(name.to_owned(), seq).await)
    }

    /// What a follower wrote down as owed, by recipient.
    pub async fn debts(&self, follower: &str) -> Result<Vec<(String, String)>, StoreError> {
        backend!(self, sqlite => sqlite.debts(follower.to_owned()).await)
    }

    /// Remembers what a follower owes whom and how far it has come: both are on disk when this returns, or neither.
    pub async fn keep_debts(&self, debts: Debts) -> Result<(), StoreError> {
        backend!(self, sqlite => sqlite.keep_debts(debts).await)
    }

    /// The last head that was signed.
    pub async fn head(&self) -> Result<Option<SignedTreeHead>, StoreError> {
        backend!(self, sqlite => sqlite.head().await)
    }

    /// Hashes everything again that was written since the last head, and signs a new one only if it is what was written.
    pub async fn sign_head(&self) -> Result<SignedTreeHead, StoreError> {
        backend!(self, sqlite => sqlite.sign_head().await)
    }

    /// Shows that the entry `seq` is in the ledger of `size` entries.
    pub async fn prove_entry(&self, seq: u64, size: u64) -> Result<InclusionProof, StoreError> {
        backend!(self, sqlite => sqlite.prove_entry(seq, size).await)
    }

    /// Shows that the ledger of `new` entries begins with that of `old` entries.
    pub async fn prove_consistency(&self, old: u64, new: u64) -> Result<ConsistencyProof, StoreError> {
        backend!(self, sqlite => sqlite.prove_consistency(old, new).await)
    }

    /// Signs a head and writes the ledger up to it into an empty folder, for strangers to verify.
    pub async fn export(&self, dir: PathBuf) -> Result<SignedTreeHead, StoreError> {
        let head = self.sign_head().await?;
        backend!(self, sqlite => sqlite.export(head.clone(), dir).await)?;
        Ok(head)
    }

    /// Hashes every entry again and compares every tile and every signed head.
    pub async fn scrub(&self) -> Result<Scrub, StoreError> {
        backend!(self, sqlite => sqlite.scrub().await)
    }

    /// Computes all projections again from the ledger and tells where they differ from what is stored.
    pub async fn check_projections(&self) -> Result<Vec<Difference>, StoreError> {
        backend!(self, sqlite => sqlite.check_projections().await)
    }
}
