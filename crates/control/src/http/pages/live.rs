//! Staying up to date: a page is told that something happened to what it shows, and asks for itself again.
//!
//! Nothing of what happened is told here, only that it did. The ledger is read once for all viewers, however many there are; each is
//! told only of what lies within its reach.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::Identity;
use placet_ledger::Entry;
use placet_store::{EntryFilter, StoredEntry};
use serde::Deserialize;
use tokio::sync::broadcast;

use super::super::extract::Query;
use super::super::problem::Failure;
use super::guard::Visiting;
use crate::app::{App, StreamPlace};
use crate::flow::{self, Caller};

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const BATCH: u32 = 512;
/// Whoever is further behind than this is told once that something happened, which is all there is to tell.
const MOST_BEHIND: usize = 1_024;

/// That something was recorded, and where.
#[derive(Debug, Clone, Copy)]
struct Notice {
    seq: u64,
    project: Option<ProjectId>,
    run: Option<RunId>,
}

/// Everybody who follows.
#[derive(Debug)]
pub(crate) struct News(broadcast::Sender<Arc<[Notice]>>);

impl Default for News {
    fn default() -> Self {
        Self(broadcast::Sender::new(MOST_BEHIND))
    }
}

impl News {
    fn has_followers(&self) -> bool {
        self.0.receiver_count() > 0
    }
}

/// Reads what is recorded and tells those who follow, until the control plane stops.
pub(crate) async fn spread(app: App) {
    let mut changes = app.store().subscribe();
    let mut after = app.store().size().checked_sub(1);
    loop {
        changes.mark_unchanged();
        // Asked before it is asked who follows: whoever comes between the two is told of what comes after them.
        let reached = app.store().size().checked_sub(1);
        if app.page_state().news.has_followers() {
            after = tell(&app, after).await;
        } else {
            after = reached;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = app.closed() => return,
        }
    }
}

/// Tells of everything after an entry. Gives the last one that was told of.
async fn tell(app: &App, mut after: Option<u64>) -> Option<u64> {
    loop {
        let filter = EntryFilter { after, limit: BATCH, ..EntryFilter::default() };
        let entries = app.store().entries(filter).await.unwrap_or_default();
        let Some(last) = entries.last() else { return after };
        after = Some(last.seq);
        // Whoever was there may be gone.
        let _ = app.page_state().news.0.send(entries.iter().map(notice).collect());
    }
}

fn notice(stored: &StoredEntry) -> Notice {
    let entry = Entry::parse(&stored.bytes).ok();
    let project = entry.as_ref().and_then(|entry| entry.project.as_ref()?.parse().ok());
    let run = entry.as_ref().and_then(|entry| entry.run.as_ref()?.parse().ok());
    Notice { seq: stored.seq, project, run }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LiveQuery {
    /// `inbox`, or the id of a run.
    of: String,
}

/// Who follows what.
struct Viewer {
    app: App,
    identity: Arc<Identity>,
    visit: placet_domain::digest::Digest,
    run: Option<RunId>,
    news: broadcast::Receiver<Arc<[Notice]>>,
    _place: StreamPlace,
}

pub(super) async fn follow(
    State(app): State<App>,
    visiting: Visiting,
    caller: Caller,
    Query(query): Query<LiveQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let run = match query.of.as_str() {
        "inbox" => None,
        id => Some(flow::find_run(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?.id),
    };
    let busy = || Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many viewers at once; reload in a moment");
    let place = app.stream_place(visiting.identity.id).ok_or_else(busy)?;
    let news = app.page_state().news.0.subscribe();
    let viewer = Viewer { app, identity: visiting.identity, visit: visiting.visit, run, news, _place: place };
    Ok(Sse::new(stream::unfold(viewer, next)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

impl Viewer {
    fn concerns(&self, notice: &Notice) -> bool {
        let within = notice.project.is_none_or(|project| self.identity.reach.includes(project));
        // What is of no project concerns everybody: that everything is stopped, above all.
        within && self.run.is_none_or(|run| notice.run == Some(run) || notice.project.is_none())
    }

    /// Whether the visit still counts: a page in a browser that was left open must not be told for ever.
    async fn still_counts(&self) -> bool {
        let now = self.app.store().now();
        let found = self.app.store().identity(self.identity.id).await.ok().flatten();
        found.is_some_and(|identity| !identity.revoked && identity.doors.visit(self.visit, now).is_some())
    }
}

async fn next(mut viewer: Viewer) -> Option<(Result<Event, Infallible>, Viewer)> {
    loop {
        let heard = tokio::select! {
            heard = viewer.news.recv() => heard,
            () = viewer.app.closed() => return None,
        };
        let seq = match heard {
            Ok(notices) => notices.iter().rev().find(|notice| viewer.concerns(notice)).map(|notice| notice.seq),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(viewer.app.store().size().saturating_sub(1)),
            Err(broadcast::error::RecvError::Closed) => return None,
        };
        let Some(seq) = seq else { continue };
        if !viewer.still_counts().await {
            return None;
        }
        return Some((Ok(Event::default().id(seq.to_string()).event("news").data(seq.to_string())), viewer));
    }
}
