//! The one writer: one thread, one connection, and one commit for everybody who waits.
//!
//! A batch is all of it or nothing. When it fails, everybody in it gets the fault, the tree in memory is what it was
//! before, and after an error of the disk no further change is taken until a person has looked: what an operating system
//! says about a file after it failed to write it is not to be relied on.

mod cache;
mod checkpoint;
mod fault;
mod ready;
mod save;
mod session;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use placet_domain::command::{IdempotencyKey, Submission};
use placet_domain::identity::Actor;
use placet_domain::time::Timestamp;
use placet_ledger::{SignedTreeHead, Tree};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::{self, Clock};
use crate::error::{StoreError, SubmitError};
use crate::query::{Debts, SeenFile};
use crate::receipt::{Extras, Lease, Receipt};
use crate::unit::{CommandFlow, Turns};
use cache::Cache;
use checkpoint::Log;
use session::Session;

/// More in one commit would not be faster, only make the first of them wait longer.
const MOST_IN_BATCH: usize = 512;
/// Whoever comes when this many wait already, waits outside.
const MOST_WAITING: usize = 4_096;

type Answer = Result<Option<Receipt>, SubmitError>;

/// Something to be written.
#[derive(Debug)]
pub(crate) enum Task {
    Submit(Box<Submission>, Extras),
    Lease(Box<Lease>),
    /// Nothing; but what was answered under a key is known for certain only where answers are written.
    Recall(Box<Actor>, IdempotencyKey),
    KeepHead(Box<SignedTreeHead>),
    /// A follower has settled everything before this entry.
    SetCursor(String, u64),
    /// The same, and what it owes from now on.
    KeepDebts(Box<Debts>),
    /// Somebody has seen a file, or says that they have not.
    MarkSeen(Box<SeenFile>, bool),
    /// Forgets marks on files whose time is over.
    ForgetMarks,
}

#[derive(Debug)]
struct Request {
    task: Task,
    reply: oneshot::Sender<Answer>,
}

/// What the writer lets others see.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The tree over all committed entries.
    tree: Mutex<Tree>,
    /// Why no more changes are taken.
    closed: OnceLock<String>,
    size: watch::Sender<u64>,
    /// The size when the last entry was in that changes more than amounts.
    moved: AtomicU64,
}

impl Shared {
    pub(crate) fn tree(&self) -> Tree {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.get().map(String::as_str)
    }

    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Acquire)
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.size.subscribe()
    }
}

/// The way to the writer. When it is dropped, the writer finishes what waits and stops.
#[derive(Debug)]
pub(crate) struct Handle {
    queue: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Handle {
    /// Starts a writer that continues this tree, whose last entry was written at `last_at`.
    pub(crate) fn start(conn: Connection, clock: Clock, tree: Tree, last_at: Timestamp) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let (size, moved) = (watch::Sender::new(tree.size()), AtomicU64::new(tree.size()));
        let shared = Arc::new(Shared { tree: Mutex::new(tree), closed: OnceLock::new(), size, moved });
        let (cache, turns, log) = (Cache::default(), Turns::default(), Log::default());
        let writer = Writer { conn, clock, last_at, cache, turns, log, shared: shared.clone() };
        let thread = std::thread::Builder::new().name("placet-writer".to_owned()).spawn(|| writer.run(waiting))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), shared })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Has something written, and returns when it is on disk.
    pub(crate) async fn write(&self, task: Task) -> Answer {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.send(Request { task, reply }).await.map_err(|_| StoreError::Stopped)?;
        answer.await.unwrap_or(Err(StoreError::Stopped.into()))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has said so already; its transaction is rolled back.
            let _ = thread.join();
        }
    }
}

struct Writer {
    conn: Connection,
    clock: Clock,
    last_at: Timestamp,
    cache: Cache,
    /// Kept when the cache is cleared, because they do not mirror stored data.
    turns: Turns,
    log: Log,
    shared: Arc<Shared>,
}

impl Writer {
    fn run(mut self, mut waiting: mpsc::Receiver<Request>) {
        let mut batch = Vec::with_capacity(MOST_IN_BATCH);
        while waiting.blocking_recv_many(&mut batch, MOST_IN_BATCH) > 0 {
            self.answer(std::mem::take(&mut batch));
            // After the answers, so that nobody waits for it.
            if let Err(fault) = self.log.copy_if_long(&self.conn) {
                self.fail(&fault);
            }
        }
    }

    fn answer(&mut self, batch: Vec<Request>) {
        let written = match self.shared.closed() {
            Some(why) => Err(StoreError::ReadOnly { why: why.to_owned() }),
            None => self.write(&batch).inspect_err(|fault| self.fail(fault)),
        };
        // Whoever no longer waits for the answer has gone; what was written stays written.
        match written {
            Ok(answers) => {
                batch.into_iter().zip(answers).for_each(|(request, answer)| drop(request.reply.send(answer)))
            }
            Err(fault) => batch.into_iter().for_each(|request| drop(request.reply.send(Err(fault.clone().into())))),
        }
    }

    /// Writes a batch in one transaction. The clock is read once: what is committed together happened together.
    fn write(&mut self, batch: &[Request]) -> Result<Vec<Answer>, StoreError> {
        let now = self.clock.now().max(self.last_at);
        let at = clock::in_entries(now)?;
        let mut tree = self.shared.tree();
        let size_before = tree.size();
        let transaction = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut session = Session::new(&transaction, &mut tree, &mut self.cache, now);
        let mut answers = Vec::with_capacity(batch.len());
        for request in batch {
            let flow = CommandFlow { unit: &mut session, turns: &mut self.turns, now, at: &at };
            match carry_out(flow, &request.task) {
                Err(SubmitError::Fault(fault)) => return Err(fault),
                answer => answers.push(answer),
            }
        }
        let is_moved = session.is_moved;
        fault::commit(transaction, size_before)?;
        self.log.grew(tree.size() - size_before);
        if tree.size() > size_before {
            self.last_at = now;
            self.publish(tree, is_moved);
        }
        Ok(answers)
    }

    fn publish(&self, tree: Tree, is_moved: bool) {
        let size = tree.size();
        if is_moved {
            self.shared.moved.store(size, Ordering::Release);
        }
        *self.shared.tree.lock().unwrap_or_else(PoisonError::into_inner) = tree;
        self.shared.size.send_replace(size);
    }

    /// Forgets what the failed batch left in memory, and takes no more changes if the disk is to blame.
    fn fail(&mut self, fault: &StoreError) {
        self.cache.clear();
        tracing::error!(error = fault.chain(), "the store could not write");
        if let StoreError::Database(error) = fault
            && is_of_the_disk(error)
        {
            self.shared.closed.get_or_init(|| error.to_string());
        }
    }
}

/// Carries out one request within the open transaction.
fn carry_out(mut flow: CommandFlow<'_, Session<'_>>, task: &Task) -> Answer {
    match task {
        Task::Submit(submission, extras) => return flow.submit(submission, extras).map(Some),
        Task::Lease(lease) => return flow.lease_next(lease),
        Task::Recall(actor, key) => return flow.recall(actor, Some(key)),
        Task::KeepHead(head) => flow.unit.keep_head(head)?,
        Task::SetCursor(name, seq) => flow.unit.set_cursor(name, *seq)?,
        Task::KeepDebts(debts) => flow.unit.keep_debts(debts)?,
        Task::MarkSeen(file, is_seen) => flow.unit.mark_seen(file, *is_seen)?,
        Task::ForgetMarks => flow.unit.forget_marks()?,
    }
    Ok(None)
}

/// Whether the disk failed, or what is on it is not a sound database. Anything else left no trace and may be tried again.
fn is_of_the_disk(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::CannotOpen)
    )
}
