//! How long an answer is waited for, and by how many at once.
//!
//! As long as its agent is there and takes what comes; after that within three bounds. *Time*: who thinks longer than ten minutes is
//! not going to tell. *Bytes*: an answer has an end. *Number*: each is a connection that nobody waits for, and an agent could open
//! them without end; who takes many loses some to who has few ([`Places`]). What reaches a bound is estimated as the longest answer that was paid for, so that to hang up never pays.

use std::sync::Arc;
use std::time::Duration;

use placet_domain::id::RunId;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::answer::Piece;
use super::config::Limits;
use super::places::{Place, Places};

/// The longest answer that is read on for nobody: 128,000 tokens, each an event of 250 bytes. Who sends more does not count tokens.
const MOST_UNHEARD_BYTES: u64 = 32 << 20;

/// Why an answer is waited for no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Its agent left, and a bound of what is done for agents that left is reached.
    Left,
    /// Everything stops.
    Stopped,
}

/// All calls under way: what they have in common, and how they are told to end.
#[derive(Debug)]
pub(crate) struct Calls {
    hang_ups: Arc<Places>,
    hang_up: Duration,
    unread: Duration,
    /// Each call listens to it as long as it lasts.
    stopping: watch::Sender<bool>,
}

impl Calls {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            hang_ups: Places::new(limits.hang_ups),
            hang_up: limits.hang_up(),
            unread: limits.unread(),
            stopping: watch::Sender::new(false),
        }
    }

    pub(crate) fn patience(&self, run: RunId) -> Patience {
        Patience {
            run,
            hang_ups: Arc::clone(&self.hang_ups),
            hang_up: self.hang_up,
            unread: self.unread,
            stopping: self.stopping.subscribe(),
            unheard: None,
        }
    }

    /// Lets calls finish for a while, then has the rest estimated. Returns when each of them is settled. It is for good: a call that
    /// was about to begin, and is counted among those under way only now, is not sent.
    pub(crate) async fn stop(&self, grace: Duration) {
        let _ = timeout(grace, self.stopping.closed()).await;
        self.stopping.send_replace(true);
        self.stopping.closed().await;
    }
}

/// How long an answer is waited for: as long as its agent is there and takes what comes, and for a while after that.
#[derive(Debug)]
pub(crate) struct Patience {
    run: RunId,
    hang_ups: Arc<Places>,
    hang_up: Duration,
    unread: Duration,
    stopping: watch::Receiver<bool>,
    unheard: Option<Unheard>,
}

/// An answer that is read on although its agent left.
#[derive(Debug)]
struct Unheard {
    place: Place,
    until: Instant,
    bytes: u64,
}

impl Patience {
    /// Whether everything stopped before it began.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns when it is over. `left` tells that the agent left.
    pub(crate) async fn over(&mut self, left: impl Future<Output = ()>) -> Over {
        let Self { run, hang_ups, hang_up, stopping, unheard, .. } = self;
        let outstayed = async {
            if unheard.is_none() {
                left.await;
                *unheard = Unheard::begin(hang_ups, *run, *hang_up);
            }
            if let Some(unheard) = unheard {
                unheard.outstayed().await;
            }
        };
        tokio::select! {
            () = outstayed => Over::Left,
            _ = stopping.wait_for(|stopping| *stopping) => Over::Stopped,
        }
    }

    /// Hands a piece over, if somebody is there. Who takes none for too long counts as having left. An upstream that sends without pause
    /// is never waited for, so bounds are looked at here too.
    pub(crate) async fn hand_over(&mut self, to: &mut Option<mpsc::Sender<Piece>>, piece: Piece) -> Result<(), Over> {
        if self.is_stopped() {
            return Err(Over::Stopped);
        }
        if let Some(unheard) = &mut self.unheard {
            return unheard.count(&piece);
        }
        let Some(sender) = to else { return Err(Over::Left) };
        let taken = match sender.try_send(piece) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(piece)) => tokio::select! {
                taken = timeout(self.unread, sender.send(piece)) => matches!(taken, Ok(Ok(()))),
                _ = self.stopping.wait_for(|stopping| *stopping) => return Err(Over::Stopped),
            },
        };
        if taken {
            return Ok(());
        }
        *to = None;
        self.unheard = Unheard::begin(&self.hang_ups, self.run, self.hang_up);
        if self.unheard.is_some() { Ok(()) } else { Err(Over::Left) }
    }
}

impl Unheard {
    fn begin(hang_ups: &Arc<Places>, run: RunId, hang_up: Duration) -> Option<Self> {
        let place = hang_ups.take(run)?;
        Some(Self { place, until: Instant::now() + hang_up, bytes: 0 })
    }

    /// Returns when its time is over, or somebody else has its place.
    async fn outstayed(&mut self) {
        tokio::select! {
            () = sleep_until(self.until) => {}
            () = self.place.lost() => {}
        }
    }

    fn count(&mut self, piece: &Piece) -> Result<(), Over> {
        if let Piece::Bytes(bytes) = piece {
            self.bytes += bytes.len() as u64;
        }
        let goes_on = self.bytes <= MOST_UNHEARD_BYTES && Instant::now() < self.until && !self.place.is_lost();
        if goes_on { Ok(()) } else { Err(Over::Left) }
    }
}
