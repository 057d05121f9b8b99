//! Tells receivers of webhooks what happened, straight from the ledger.
//!
//! There is no outbox beside the ledger: each receiver has a cursor into it, which advances only after the receiver has
//! said yes. So every entry that is wanted arrives at least once and in order, across failures and restarts, and may
//! arrive twice when the control plane ends between the yes and the cursor. Receivers do not wait for each other, and
//! nothing else waits for them.

use std::sync::Arc;

use placet_domain::canonical;
use placet_store::{EntryFilter, MOST_ROWS, StoreError, StoredEntry};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::app::App;
use crate::flow::No;
use crate::webhook::{Attempt, Delivered, OutgoingHook, post_signed};

/// Gives every receiver that is new its place in the ledger: what comes from now on.
pub(super) async fn enrol(app: &App) -> Result<(), No> {
    for hook in app.settings().hooks.outgoing() {
        let name = hook.name().as_str();
        if app.store().cursor(name).await.map_err(No::Fault)?.is_none() {
            app.store().set_cursor(name, app.store().size()).await.map_err(No::Fault)?;
        }
    }
    Ok(())
}

/// One pump for each receiver.
pub(super) fn start(app: &App, pumps: &mut JoinSet<()>) {
    for hook in app.settings().hooks.outgoing() {
        let follower = Follower { app: app.clone(), hook: Arc::clone(hook), next: 0 };
        pumps.spawn(follower.run());
    }
}

struct Follower {
    app: App,
    hook: Arc<OutgoingHook>,
    /// The first entry that is not settled.
    next: u64,
}

/// Whether there will be anything more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interest {
    Lasting,
    Gone,
}

impl Follower {
    async fn run(mut self) {
        let mut changes = self.app.store().subscribe();
        let mut failures = 0;
        loop {
            match self.catch_up().await {
                Ok(Interest::Gone) => return,
                Ok(Interest::Lasting) => {
                    failures = 0;
                    if changes.changed().await.is_err() {
                        return;
                    }
                }
                Err(fault) => {
                    failures += 1;
                    tracing::error!(hook = %self.hook.name(), %fault, "a webhook cannot read the ledger; trying again");
                    self.wait(failures).await;
                }
            }
        }
    }

    async fn wait(&self, failures: u32) {
        tokio::time::sleep(self.app.settings().hooks.retry().after(failures)).await;
    }

    /// Delivers everything up to the end of the ledger.
    async fn catch_up(&mut self) -> Result<Interest, StoreError> {
        let kept = self.app.store().cursor(self.hook.name().as_str()).await?;
        self.next = self.next.max(kept.unwrap_or(0));
        loop {
            let after = self.next.checked_sub(1);
            let filter = EntryFilter { after, limit: MOST_ROWS, ..EntryFilter::default() };
            let page = self.app.store().entries(filter).await?;
            for entry in &page {
                if self.hook.wants(&entry.kind) && self.deliver(entry).await == Interest::Gone {
                    return Ok(Interest::Gone);
                }
                self.next = entry.seq + 1;
            }
            if (page.len() as u64) < u64::from(MOST_ROWS) {
                return Ok(Interest::Lasting);
            }
            // So that a receiver that wants little need not be searched for from far back after a restart.
            self.settle(self.next).await;
        }
    }

    /// Tries until the receiver has taken the entry, or wants nothing any more.
    async fn deliver(&self, entry: &StoredEntry) -> Interest {
        let (id, body) = (message_id(&self.app, entry, &self.hook), body(entry));
        let mut failures = 0;
        loop {
            let unix_s = self.app.store().now().unix_ms().div_euclid(1_000);
            let attempt = Attempt { id: &id, unix_s, body: &body };
            let (dialer, url, secret) = (self.hook.dialer(), self.hook.url(), self.hook.secret());
            let outcome = post_signed(dialer, url, secret, attempt).await;
            self.app.metrics().delivery(self.hook.name(), &outcome);
            match outcome {
                Delivered::Yes => {
                    self.settle(entry.seq + 1).await;
                    return Interest::Lasting;
                }
                Delivered::Gone => {
                    tracing::warn!(hook = %self.hook.name(), "the receiver wants no more messages (410); none are sent until a restart");
                    return Interest::Gone;
                }
                Delivered::NotYet(why) => {
                    failures += 1;
                    tracing::warn!(hook = %self.hook.name(), seq = entry.seq, failures, why, "a message was not delivered; trying again");
                    self.wait(failures).await;
                }
            }
        }
    }

    /// Remembers how far it has come. If that cannot be written, a message may be sent again after a restart.
    async fn settle(&self, seq: u64) {
        if let Err(fault) = self.app.store().set_cursor(self.hook.name().as_str(), seq).await {
            tracing::error!(hook = %self.hook.name(), %fault, "how far a webhook has come was not written");
        }
    }
}

/// The same for every attempt, so that a receiver knows what it has seen.
fn message_id(app: &App, entry: &StoredEntry, hook: &OutgoingHook) -> String {
    format!("{}/{}/{}", app.store().verifier().name(), entry.seq, hook.name())
}

/// The entry as the ledger holds it, and nothing that it does not hold.
fn body(entry: &StoredEntry) -> Vec<u8> {
    let data: Value = serde_json::from_slice(&entry.bytes).unwrap_or_default();
    canonical::to_bytes(&json!({ "type": entry.kind, "timestamp": data["at"], "data": data }))
}
