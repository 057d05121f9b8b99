//! The ledger as seen from outside.

use axum::Json;
use axum::extract::State;
use placet_domain::refusal::Refusal;
use placet_store::{EntryFilter, StoredEntry};
use placet_wire::api;

use super::extract::Query;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{Caller, No};
use crate::read::ledger::{Proven, head_view, proven};

const MOST_ENTRIES: u32 = 1_000;

pub(super) async fn head(State(app): State<App>) -> Result<Json<api::HeadView>, Failure> {
    Ok(Json(head_view(&app).await?))
}

pub(super) async fn entries(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::EntryQuery>,
) -> Result<Json<api::EntryList>, Failure> {
    let limit = query.limit.unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES);
    let filter = EntryFilter { after: query.after, limit, reach: caller.identity.reach, ..EntryFilter::default() };
    let entries = app.store().entries(filter).await.map_err(No::Fault)?;
    let view = |stored: StoredEntry| api::EntryView {
        seq: stored.seq,
        leaf: stored.leaf.to_string(),
        entry: serde_json::from_slice(&stored.bytes).unwrap_or_default(),
    };
    Ok(Json(api::EntryList { entries: entries.into_iter().map(view).collect() }))
}

pub(super) async fn prove(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::ProofQuery>,
) -> Result<Json<api::InclusionProof>, Failure> {
    let Proven { stored, proof, head } = proven(&app, &caller, query.seq).await?;
    Ok(Json(api::InclusionProof {
        seq: stored.seq,
        size: head.head().size(),
        leaf: stored.leaf.to_string(),
        proof: proof.path.iter().map(ToString::to_string).collect(),
        note: head.to_string(),
        entry: String::from_utf8_lossy(&stored.bytes).into_owned(),
    }))
}

pub(super) async fn consistency(
    State(app): State<App>,
    Query(query): Query<api::ConsistencyQuery>,
) -> Result<Json<api::ConsistencyProof>, Failure> {
    let size = app.store().size();
    if query.from == 0 || query.from > query.to || query.to > size {
        let why = format!("give 1 ≤ from ≤ to ≤ {size}");
        return Err(No::Refused(Refusal::invalid(why)).into());
    }
    let proof = app.store().prove_consistency(query.from, query.to).await.map_err(No::Fault)?;
    Ok(Json(api::ConsistencyProof {
        from: query.from,
        to: query.to,
        proof: proof.path.iter().map(ToString::to_string).collect(),
    }))
}
