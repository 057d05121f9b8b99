//! The ledger: entries, and the proof for each, hashed up here as a stranger would.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::Caller;
use placet_control::http::{Failure, Path, Query};
use placet_control::read::ledger::{self, Proven};
use placet_domain::id::IdentityId;
use placet_ledger::{Entry, leaf_hash};
use placet_store::{EntryFilter, HEARTBEAT, Kinds, Order, StoredEntry};
use serde::Deserialize;

use super::guard::{Visiting, html};
use super::telling::Telling;
use super::viewer;
use crate::markup::{Concerns, EntryPage, LedgerPage, Wanted};

const MOST_ROWS: u32 = 100;
/// What entries call Placet itself.
const RUNTIME: &str = "runtime";
/// As many entries as are looked through for one page: a page is answered in a moment, whatever is looked for.
const MOST_LOOKED_AT: usize = 5_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    before: Option<u64>,
    /// From this entry on.
    #[serde(default)]
    at: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    run: String,
    #[serde(default)]
    actor: String,
}

pub(super) async fn list(
    State(app): State<App>,
    visiting: Visiting,
    Query(query): Query<ListQuery>,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let from = match query.at.trim() {
        "" => query.before,
        at => Some(at.parse::<u64>().map_err(|_| bad("a number of an entry is a whole number"))?.saturating_add(1)),
    };
    let wanted = wanted(&app, &visiting, query).await?;
    let (found, older) = found(&app, &visiting, &wanted, from).await?;
    let rows = Telling::new(&app).rows(&found).await?;
    let with_heartbeats = is_beating(&wanted);
    let head = Some(ledger::head_view(&app).await?);
    Ok(html(crate::markup::ledger(&viewer, &LedgerPage { head, rows, older, wanted, with_heartbeats })))
}

fn bad(why: &str) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad_query", why)
}

/// Only what such a thing can be: it stands in addresses again.
async fn wanted(app: &App, visiting: &Visiting, query: ListQuery) -> Result<Wanted, Failure> {
    let [kind, run, actor] = [query.kind, query.run, query.actor].map(|text| text.trim().to_owned());
    let actor = actor_id(app, visiting, actor).await?;
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    if [&kind, &run, &actor].iter().all(|text| is_plain(text)) {
        Ok(Wanted { kind, run, actor })
    } else {
        Err(bad("look for a kind or an id as entries have them, and for people by their names"))
    }
}

/// Who did it, as entries name them: by an id, or by the name of somebody whom the viewer meets. Nobody's name stands for what entries call
/// the runtime itself.
async fn actor_id(app: &App, visiting: &Visiting, actor: String) -> Result<String, Failure> {
    if actor.is_empty() || actor == RUNTIME || actor.parse::<IdentityId>().is_ok() {
        return Ok(actor);
    }
    let reach = &visiting.identity.reach;
    let met = app.store().identities().await?.into_iter().filter(|identity| identity.reach.meets(reach));
    let named = met.filter(|identity| identity.name == actor);
    let ids: Vec<String> = named.map(|identity| identity.id.to_string()).collect();
    match ids.as_slice() {
        [] => Ok(actor),
        [one] => Ok(one.clone()),
        [..] => Err(bad(&format!("several go by that name: look for one of {}", ids.join(", ")))),
    }
}

/// Whether somebody looks for heartbeats; otherwise they crowd out everything that tells more.
fn is_beating(wanted: &Wanted) -> bool {
    !wanted.kind.is_empty() && HEARTBEAT.starts_with(&wanted.kind)
}

/// An entry, and what it says where it can be read.
type Row = (StoredEntry, Option<Entry>);

/// Newest first, and from where to look on. What is rare is not looked for without end: then there are fewer rows, and the way on.
async fn found(
    app: &App,
    visiting: &Visiting,
    wanted: &Wanted,
    from: Option<u64>,
) -> Result<(Vec<Row>, Option<u64>), Failure> {
    let kinds = if is_beating(wanted) { Kinds::All } else { Kinds::But(HEARTBEAT) };
    let run = if wanted.run.is_empty() { None } else { Some(wanted.run.parse().map_err(Failure::bad_id)?) };
    let (mut rows, mut after, mut looked_at) = (Vec::new(), from, 0);
    loop {
        let (reach, order) = (visiting.identity.reach.clone(), Order::NewestFirst);
        let filter = EntryFilter { reach, run, kinds, order, after, limit: MOST_ROWS, ..EntryFilter::default() };
        let batch = app.store().entries(filter).await?;
        looked_at += batch.len();
        let is_last = batch.len() < MOST_ROWS as usize;
        after = batch.last().map(|entry| entry.seq);
        rows.extend(batch.into_iter().map(read).filter(|row| is_wanted(wanted, row)));
        if is_last {
            return Ok((rows, None));
        }
        if wanted.is_any() || rows.len() >= MOST_ROWS as usize || looked_at >= MOST_LOOKED_AT {
            return Ok((rows, after));
        }
    }
}

fn is_wanted(wanted: &Wanted, (stored, entry): &Row) -> bool {
    let is_theirs = || entry.as_ref().is_some_and(|entry| entry.actor == wanted.actor);
    stored.kind.starts_with(&wanted.kind) && (wanted.actor.is_empty() || is_theirs())
}

/// What cannot be read has its number and its kind.
fn read(stored: StoredEntry) -> Row {
    let entry = Entry::parse(&stored.bytes).ok();
    (stored, entry)
}

pub(super) async fn show(
    State(app): State<App>,
    Path(seq): Path<u64>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let Proven { stored, proof, head } = ledger::proven(&app, &caller, seq).await?;
    // Hashed from the very bytes that are shown, as a stranger would.
    let leaf = leaf_hash(&stored.bytes);
    let concerns = match Entry::parse(&stored.bytes) {
        Ok(entry) => Telling::new(&app).concerns(&entry).await?,
        Err(_) => Concerns::default(),
    };
    let page = EntryPage {
        seq,
        kind: stored.kind.clone(),
        at: stored.at,
        entry: written(&stored.bytes),
        leaf: leaf.to_string(),
        path: proof.path.iter().map(ToString::to_string).collect(),
        is_verified: proof.verify(&leaf, head.head()).is_ok(),
        note: head.to_string(),
        newest: app.store().size(),
        concerns,
    };
    Ok(html(crate::markup::entry(&viewer, &page)))
}

/// Over several lines, for people; what is hashed has none.
fn written(bytes: &[u8]) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    let pretty = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}
