//! The ledger as seen from outside: its newest head, and entries with their proofs.

use placet_domain::refusal::Refusal;
use placet_ledger::{InclusionProof, SignedTreeHead};
use placet_store::{EntryFilter, StoredEntry};
use placet_wire::api;

use crate::app::App;
use crate::error::No;
use crate::flow::Caller;

/// The newest head, signed now if entries have come since.
async fn newest_head(app: &App) -> Result<SignedTreeHead, No> {
    Ok(app.store().sign_head().await?)
}

/// The newest head, for responses and pages.
pub async fn head_view(app: &App) -> Result<api::HeadView, No> {
    let head = newest_head(app).await?;
    let (size, root) = (head.head().size(), head.head().root().to_string());
    Ok(api::HeadView { size, root, note: head.to_string(), key: app.store().verifier().to_string() })
}

/// An entry with the way from it to the newest head.
#[derive(Debug)]
pub struct Proven {
    pub stored: StoredEntry,
    pub proof: InclusionProof,
    pub head: SignedTreeHead,
}

/// Proves that an entry is under the newest head.
pub async fn proven(app: &App, caller: &Caller, seq: u64) -> Result<Proven, No> {
    let unknown = || No::Refused(Refusal::Unknown { what: "entry" });
    // Asked for as a list of one, so that the caller's reach applies to it like to every other list.
    let filter = EntryFilter {
        after: seq.checked_sub(1),
        limit: 1,
        reach: caller.identity.reach.clone(),
        ..EntryFilter::default()
    };
    let found = app.store().entries(filter).await?.pop();
    let stored = found.filter(|stored| stored.seq == seq).ok_or_else(unknown)?;
    let head = newest_head(app).await?;
    let proof = app.store().prove_entry(seq, head.head().size()).await?;
    Ok(Proven { stored, proof, head })
}
