//! Server-sent events straight from the ledger: the event id is the ledger number, so nothing is lost on reconnect. Each is named
//! by its headline; what it carries is the entry, byte for byte. Of one run, or of all runs that somebody sees: of what belongs to no
//! run, only that it happened.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use placet_domain::headline::headline;
use placet_domain::id::RunId;
use placet_domain::identity::{Identity, Reach, Role};
use placet_ledger::Entry;
use placet_store::{EntryFilter, HEARTBEAT, Kinds, Order, StoredEntry};
use placet_wire::api;
use tokio::sync::watch::Receiver;

use super::caller::single;
use super::extract::{Path, Query};
use super::inbox;
use super::problem::Failure;
use crate::app::{App, StreamPlace};
use crate::flow::{self, Caller, No};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const BATCH: u32 = 256;
/// As many as a window shows of what happened last.
const MOST_NEWEST: u32 = 200;
/// Among so many of the newest entries they are looked for.
const LOOKED_THROUGH: u32 = 1_000;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What is not told of an entry that belongs to no run: everything but its number.
const UNTOLD: &str = "other";

/// One viewer, and how far it has read.
struct Viewer {
    app: App,
    what: What,
    identity: Identity,
    after: Option<u64>,
    changes: Receiver<u64>,
    ready: std::vec::IntoIter<StoredEntry>,
    _place: StreamPlace,
}

/// What is followed.
enum What {
    Run(RunId),
    /// All runs within a reach.
    All(Reach),
}

pub(super) async fn run(
    State(app): State<App>,
    Path(id): Path<RunId>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let run = flow::find_run(&app, &caller, id).await?.id;
    let after = last_event_id(&headers, app.store().size())?;
    begin(app, What::Run(run), caller.identity, after)
}

/// Without the number of an event it begins now, or with what happened last: what waits is asked for elsewhere.
pub(super) async fn all(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Query(query): Query<api::StreamQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let reach = inbox::reach(&caller, query.project)?;
    let size = app.store().size();
    let after = match (last_event_id(&headers, size)?, query.last) {
        (Some(seq), _) => Some(seq),
        (None, Some(last)) => before_newest(&app, &reach, last.min(MOST_NEWEST), size).await?,
        (None, None) => size.checked_sub(1),
    };
    begin(app, What::All(reach), caller.identity, after)
}

/// After which entry the newest so many begin that are told; nothing where that is the first of all. What belongs to no run is not counted, and
/// heartbeats are no news. Not looked for further back than a batch: who wants more asks the ledger.
async fn before_newest(app: &App, reach: &Reach, last: u32, size: u64) -> Result<Option<u64>, Failure> {
    let (kinds, order, limit) = (Kinds::But(HEARTBEAT), Order::NewestFirst, LOOKED_THROUGH);
    let filter = EntryFilter { reach: reach.clone(), kinds, order, limit, ..EntryFilter::default() };
    let newest = app.store().entries(filter).await.map_err(No::Fault)?;
    let mut told = newest.iter().filter(|entry| is_of_a_run(entry)).take(last as usize);
    Ok(match told.by_ref().last() {
        Some(oldest) => oldest.seq.checked_sub(1),
        None => size.checked_sub(1),
    })
}

fn begin(
    app: App,
    what: What,
    identity: Identity,
    after: Option<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let place = app.stream_place(identity.id).ok_or_else(busy)?;
    let changes = app.store().subscribe();
    let viewer = Viewer { app, what, identity, after, changes, ready: Vec::new().into_iter(), _place: place };
    Ok(Sse::new(stream::unfold(viewer, next)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn busy() -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many viewers at once; try again in a moment")
}

/// Where to go on. A number that no entry has yet is a mistake, and would silently hide what comes until then.
fn last_event_id(headers: &HeaderMap, size: u64) -> Result<Option<u64>, Failure> {
    let Some(value) = single(headers, &LAST_EVENT_ID)? else { return Ok(None) };
    let seq = value.parse().ok().filter(|seq| *seq < size);
    let bad = || {
        Failure::new(StatusCode::BAD_REQUEST, "bad_event_id", "Last-Event-ID is the number of the last event you got")
    };
    seq.map(Some).ok_or_else(bad)
}

/// The next entry of the run, as soon as there is one. The stream ends when the store cannot be read, when the viewer is
/// revoked, and when the control plane stops.
async fn next(mut viewer: Viewer) -> Option<(Result<Event, Infallible>, Viewer)> {
    loop {
        if let Some(entry) = viewer.ready.next() {
            viewer.after = Some(entry.seq);
            let told = viewer.what.tell(&entry, &viewer.identity);
            return Some((Ok(told), viewer));
        }
        // Marked before reading: what is committed in between wakes us again instead of being missed.
        viewer.changes.mark_unchanged();
        viewer.app.still_knows(&viewer.identity).await.ok()?;
        let filter = viewer.what.filter(viewer.after);
        let entries = viewer.app.store().entries(filter).await.ok()?;
        if entries.is_empty() {
            tokio::select! {
                changed = viewer.changes.changed() => changed.ok()?,
                () = viewer.app.closed() => return None,
            }
        }
        viewer.ready = entries.into_iter();
    }
}

fn is_of_a_run(entry: &StoredEntry) -> bool {
    Entry::parse(&entry.bytes).is_ok_and(|entry| entry.run.is_some())
}

impl What {
    fn filter(&self, after: Option<u64>) -> EntryFilter {
        let all = EntryFilter { after, limit: BATCH, ..EntryFilter::default() };
        match self {
            Self::Run(run) => EntryFilter { run: Some(*run), ..all },
            Self::All(reach) => EntryFilter { reach: reach.clone(), ..all },
        }
    }

    /// An entry of a run is told to whoever sees the run; the rest of the ledger is read by others.
    fn tell(&self, entry: &StoredEntry, viewer: &Identity) -> Event {
        let is_told = match self {
            // How much of an order is left, and who looks at what, is nothing that an agent should plan with.
            Self::Run(_) => !(viewer.has(Role::Agent) && is_among_people(&entry.kind)),
            Self::All(_) => is_of_a_run(entry),
        };
        if is_told { event(entry) } else { Event::default().id(entry.seq.to_string()).event(UNTOLD).data("{}") }
    }
}

fn is_among_people(kind: &str) -> bool {
    kind.starts_with("run.order_") || matches!(kind, "action.assigned" | "action.deferred")
}

fn event(entry: &StoredEntry) -> Event {
    Event::default().id(entry.seq.to_string()).event(headline(&entry.kind)).data(String::from_utf8_lossy(&entry.bytes))
}
