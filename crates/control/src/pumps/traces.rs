//! Sends traces of runs to a collector, straight from the ledger.
//!
//! Like webhooks it has a cursor into the ledger, which advances when the collector took everything that ended before it. A span
//! that is sent twice, because the control plane ended in between, has the same ids twice. A collector that refuses what it got for
//! good is not asked again about the same; one that cannot be reached is, without end.

use std::collections::BTreeSet;

use placet_domain::id::RunId;
use placet_store::{EntryFilter, MOST_ROWS, StoreError};

use crate::app::App;
use crate::flow::No;
use crate::otel::{Collector, Sender, Span, Taken, Told, request, spans};

/// No receiver of webhooks can have this name.
const CURSOR: &str = "otel/traces";
/// So that a request stays far below what collectors take (4 MiB).
const MOST_SPANS: usize = 500;

/// A collector that is new is told of what ends from now on.
pub(super) async fn enrol(app: &App) -> Result<(), No> {
    if app.settings().collector.is_some() && app.store().cursor(CURSOR).await.map_err(No::Fault)?.is_none() {
        app.store().set_cursor(CURSOR, app.store().size()).await.map_err(No::Fault)?;
    }
    Ok(())
}

pub(super) async fn run(app: App, collector: Collector) {
    let Some(sender) = Sender::new(collector.traces()) else { return };
    let mut exporter = Exporter { app, sender, failures: 0 };
    let mut changes = exporter.app.store().subscribe();
    loop {
        changes.mark_unchanged();
        match exporter.catch_up().await {
            Ok(true) => continue,
            Ok(false) => {
                if changes.changed().await.is_err() {
                    return;
                }
            }
            Err(fault) => {
                tracing::error!(%fault, "traces cannot be read from the ledger; trying again");
                exporter.wait().await;
            }
        }
    }
}

struct Exporter {
    app: App,
    sender: Sender,
    failures: u32,
}

impl Exporter {
    async fn wait(&mut self) {
        self.failures = self.failures.saturating_add(1);
        tokio::time::sleep(self.app.settings().hooks.retry().after(self.failures)).await;
    }

    /// Sends what ended within the next entries. Tells whether there may be more.
    async fn catch_up(&mut self) -> Result<bool, StoreError> {
        let from = self.app.store().cursor(CURSOR).await?.unwrap_or(0);
        let filter = EntryFilter { after: from.checked_sub(1), limit: MOST_ROWS, ..EntryFilter::default() };
        let page = self.app.store().entries(filter).await?;
        let Some(last) = page.last().map(|entry| entry.seq) else { return Ok(false) };
        let runs: BTreeSet<RunId> = page.iter().filter_map(|entry| Told::of(entry)?.run.parse().ok()).collect();
        let mut ended = Vec::new();
        for run in runs {
            let told = self.told(run, last).await?;
            ended.extend(spans(&told).into_iter().filter(|span| (from..=last).contains(&span.ended_by)));
        }
        for some in ended.chunks(MOST_SPANS) {
            self.deliver(some).await;
        }
        self.app.store().set_cursor(CURSOR, last + 1).await?;
        Ok(true)
    }

    /// The entries of a run, up to this one.
    async fn told(&self, run: RunId, last: u64) -> Result<Vec<Told>, StoreError> {
        let mut all: Vec<Told> = Vec::new();
        loop {
            let after = all.last().map(|told| told.seq);
            let filter = EntryFilter { run: Some(run), after, limit: MOST_ROWS, ..EntryFilter::default() };
            let page = self.app.store().entries(filter).await?;
            let told: Vec<Told> = page.iter().filter(|entry| entry.seq <= last).filter_map(Told::of).collect();
            if told.is_empty() {
                return Ok(all);
            }
            all.extend(told);
        }
    }

    /// Tries until the collector took them, or never will.
    async fn deliver(&mut self, spans: &[Span]) {
        let instance = self.app.store().verifier().name().to_string();
        let body = request(&instance, spans).to_string();
        loop {
            match self.sender.send(body.clone()).await {
                Taken::Yes => {
                    self.failures = 0;
                    return;
                }
                Taken::Refused(why) => {
                    tracing::error!(why, spans = spans.len(), "the collector refuses traces; they are not sent again");
                    return;
                }
                Taken::NotYet(why) => {
                    tracing::warn!(why, failures = self.failures, "traces were not delivered; trying again");
                    self.wait().await;
                }
            }
        }
    }
}
