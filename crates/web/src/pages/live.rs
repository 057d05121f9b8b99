//! Staying up to date: a page is told that something happened to what it shows, and asks for itself again.
//!
//! Nothing of what happened is told here, only that it did, and no number. A page says how far the ledger was when it was made: what
//! happened since, until it follows, is told at once, so that nothing is missed and nobody looks again for nothing. The ledger is read
//! once for all viewers, however many there are; each is told only of what lies within its reach. What a program says while it works is
//! not in the ledger: a page that shows it is told that there is more, once a second at most, and asks for that part alone.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Query};
use placet_control::{Speaker, StreamPlace};
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::{Identity, Reach};
use placet_ledger::Entry;
use placet_store::{EntryFilter, StoredEntry};
use serde::Deserialize;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use super::guard::Visiting;
use super::marks::FURTHEST;
use super::state::Web;

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const BATCH: u32 = 512;
/// However much a program says: nobody reads faster.
const BETWEEN_WORDS: Duration = Duration::from_secs(1);
/// Whoever is further behind than this is told once that something happened, which is all there is to tell.
const MOST_BEHIND: usize = 1_024;

/// That something was recorded, and where.
#[derive(Debug, Clone, Copy)]
struct Notice {
    project: Option<ProjectId>,
    run: Option<RunId>,
}

/// Everybody who follows.
#[derive(Debug)]
pub(super) struct News(broadcast::Sender<Arc<[Notice]>>);

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
pub(super) async fn spread(app: Web) {
    let mut changes = app.store().subscribe();
    let mut after = app.store().size().checked_sub(1);
    loop {
        changes.mark_unchanged();
        // Asked before it is asked who follows: whoever comes between the two is told of what comes after them.
        let reached = app.store().size().checked_sub(1);
        if app.memory().news.has_followers() {
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
async fn tell(app: &Web, mut after: Option<u64>) -> Option<u64> {
    loop {
        let filter = EntryFilter { after, limit: BATCH, ..EntryFilter::default() };
        let entries = app.store().entries(filter).await.unwrap_or_default();
        let Some(last) = entries.last() else { return after };
        after = Some(last.seq);
        // Whoever was there may be gone.
        let _ = app.memory().news.0.send(entries.iter().map(notice).collect());
    }
}

fn notice(stored: &StoredEntry) -> Notice {
    let entry = Entry::parse(&stored.bytes).ok();
    let project = entry.as_ref().and_then(|entry| entry.project.as_ref()?.parse().ok());
    let run = entry.as_ref().and_then(|entry| entry.run.as_ref()?.parse().ok());
    Notice { project, run }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LiveQuery {
    /// `inbox`, or the id of a run.
    of: String,
    /// The mark of the page that follows.
    since: Option<String>,
    /// Whose words it shows besides: the id of the run, for its agent, or of an action of it.
    log: Option<String>,
}

/// Who follows what.
struct Viewer {
    app: Web,
    identity: Arc<Identity>,
    visit: placet_domain::digest::Digest,
    run: Option<RunId>,
    news: broadcast::Receiver<Arc<[Notice]>>,
    words: Option<Words>,
    /// Something happened between the page and now.
    is_behind: bool,
    _place: StreamPlace,
}

/// More of what a program says.
struct Words {
    more: watch::Receiver<u64>,
    not_before: Instant,
}

/// Until there is more, and not too soon after the last time. For ever, where nothing is followed.
async fn spoken(words: Option<&mut Words>) {
    let Some(words) = words else { return std::future::pending().await };
    tokio::time::sleep_until(words.not_before).await;
    if words.more.changed().await.is_err() {
        return std::future::pending().await;
    }
    words.not_before = Instant::now() + BETWEEN_WORDS;
}

/// Whose words an id stands for, if they are of the run that is followed.
async fn speaker(app: &Web, caller: &Caller, run: Option<RunId>, id: &str) -> Result<Speaker, Failure> {
    if let Ok(of) = id.parse::<RunId>() {
        return Ok(Speaker::Agent(flow::find_run(app, caller, of).await?.id));
    }
    let action = flow::find_action(app, caller, id.parse().map_err(Failure::bad_id)?).await?;
    let other = || Failure::new(StatusCode::BAD_REQUEST, "bad_query", "follow the run of the action");
    if run == Some(action.run) { Ok(Speaker::Action(action.id)) } else { Err(other()) }
}

pub(super) async fn follow(
    State(app): State<Web>,
    visiting: Visiting,
    caller: Caller,
    Query(query): Query<LiveQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let run = match query.of.as_str() {
        "inbox" => None,
        id => Some(flow::find_run(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?.id),
    };
    let words = match &query.log {
        None => None,
        Some(id) => {
            let more = app.follow_log(speaker(&app, &caller, run, id).await?);
            Some(Words { more, not_before: Instant::now() })
        }
    };
    let busy = || Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many viewers at once; reload in a moment");
    let place = app.stream_place(visiting.identity.id).ok_or_else(busy)?;
    let news = app.memory().news.0.subscribe();
    let (identity, visit) = (visiting.identity, visiting.visit);
    let mut viewer = Viewer { app, identity, visit, run, news, words, is_behind: false, _place: place };
    // After it follows: what happens from here on comes as news.
    viewer.is_behind = match query.since {
        Some(mark) => viewer.missed(&mark).await,
        None => false,
    };
    Ok(Sse::new(stream::unfold(viewer, next)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

impl Notice {
    fn concerns(&self, reach: &Reach, run: Option<RunId>) -> bool {
        let within = self.project.is_none_or(|project| reach.includes(project));
        // What is of no project concerns everybody: that everything is stopped, above all.
        within && run.is_none_or(|run| self.run == Some(run) || self.project.is_none())
    }
}

impl Viewer {
    fn is_concerned(&self, notice: &Notice) -> bool {
        notice.concerns(&self.identity.reach, self.run)
    }

    /// Whether something that concerns them was recorded since a mark. Mostly nothing was, and nothing is read.
    async fn missed(&self, mark: &str) -> bool {
        let size = self.app.store().size();
        let Some(made_at) = self.app.memory().marks.size_at(mark, size) else { return true };
        if made_at == size {
            return false;
        }
        let filter = EntryFilter { after: made_at.checked_sub(1), limit: FURTHEST, ..EntryFilter::default() };
        let entries = self.app.store().entries(filter).await;
        entries.map_or(true, |entries| entries.iter().map(notice).any(|notice| self.is_concerned(&notice)))
    }

    /// Whether the visit still counts: a page in a browser that was left open must not be told for ever.
    async fn still_counts(&self) -> bool {
        let now = self.app.store().now();
        let found = self.app.store().identity(self.identity.id).await.ok().flatten();
        found.is_some_and(|identity| !identity.revoked && identity.doors.visit(self.visit, now).is_some())
    }
}

async fn next(mut viewer: Viewer) -> Option<(Result<Event, Infallible>, Viewer)> {
    if std::mem::take(&mut viewer.is_behind) {
        return Some((Ok(told()), viewer));
    }
    loop {
        let heard = tokio::select! {
            heard = viewer.news.recv() => heard,
            () = spoken(viewer.words.as_mut()) => return Some((Ok(Event::default().event("log").data("look")), viewer)),
            () = viewer.app.closed() => return None,
        };
        let is_concerned = match heard {
            Ok(notices) => notices.iter().any(|notice| viewer.is_concerned(notice)),
            Err(broadcast::error::RecvError::Lagged(_)) => true,
            Err(broadcast::error::RecvError::Closed) => return None,
        };
        if !is_concerned {
            continue;
        }
        if !viewer.still_counts().await {
            return None;
        }
        return Some((Ok(told()), viewer));
    }
}

/// Browsers pass on only what has something in it.
fn told() -> Event {
    Event::default().event("news").data("look")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn c16_news_concern_whoever_reaches_the_project_and_follows_the_run_or_all() {
        let [ours, theirs] = [1, 2].map(|n| ProjectId::from_bytes([n; 16]));
        let [run, other] = [1, 2].map(|n| RunId::from_bytes([n; 16]));
        let reach = Reach::Only(BTreeSet::from([ours]));
        for (project, of, told_all, told_run) in [
            (Some(ours), Some(run), true, true),
            (Some(ours), Some(other), true, false),
            (Some(ours), None, true, false),
            (Some(theirs), Some(other), false, false),
            (Some(theirs), None, false, false),
            (None, None, true, true),
        ] {
            let notice = Notice { project, run: of };
            assert_eq!(
                (notice.concerns(&reach, None), notice.concerns(&reach, Some(run))),
                (told_all, told_run),
                "{notice:?}"
            );
        }
    }
}
