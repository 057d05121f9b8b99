//! The ledger: entries, and the proof for each, hashed up here as a stranger would.

use axum::extract::State;
use axum::response::Response;
use placet_ledger::{Entry, leaf_hash};
use placet_pages::{EntryPage, EntryRow, LedgerPage};
use placet_store::{EntryFilter, Order, StoredEntry};
use serde::Deserialize;

use super::super::extract::{Path, Query};
use super::super::ledger::{self, Proven};
use super::super::problem::Failure;
use super::guard::{Visiting, html};
use super::viewer;
use crate::app::App;
use crate::flow::Caller;

const MOST_ROWS: u32 = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    before: Option<u64>,
}

pub(super) async fn list(
    State(app): State<App>,
    visiting: Visiting,
    Query(query): Query<ListQuery>,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let (reach, order, after) = (visiting.identity.reach.clone(), Order::NewestFirst, query.before);
    let filter = EntryFilter { reach, order, after, limit: MOST_ROWS, ..EntryFilter::default() };
    let found = app.store().entries(filter).await?;
    let older = found.last().filter(|_| found.len() == MOST_ROWS as usize).map(|entry| entry.seq);
    let rows = found.iter().map(row).collect();
    let head = Some(ledger::head(State(app)).await?.0);
    Ok(html(placet_pages::ledger(&viewer, &LedgerPage { head, rows, older })))
}

fn row(stored: &StoredEntry) -> EntryRow {
    let actor = Entry::parse(&stored.bytes).map(|entry| entry.actor).unwrap_or_default();
    EntryRow { seq: stored.seq, kind: stored.kind.clone(), actor, at: stored.at }
}

pub(super) async fn show(
    State(app): State<App>,
    Path(seq): Path<u64>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let Proven { stored, proof, head } = ledger::proven(&app, caller, seq).await?;
    // Hashed from the very bytes that are shown, as a stranger would.
    let leaf = leaf_hash(&stored.bytes);
    let page = EntryPage {
        seq,
        entry: written(&stored.bytes),
        leaf: leaf.to_string(),
        path: proof.path.iter().map(ToString::to_string).collect(),
        is_verified: proof.verify(&leaf, head.head()).is_ok(),
        note: head.to_string(),
        newest: app.store().size(),
    };
    Ok(html(placet_pages::entry(&viewer, &page)))
}

/// Over several lines, for people; what is hashed has none.
fn written(bytes: &[u8]) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    let pretty = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}
