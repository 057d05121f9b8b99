//! INSPECT: looks for secrets in what is kept, and tells later what was seen. The bytes themselves stay as they are: they are
//! what was executed or left, and their digest says so.
//!
//! It is done here and not by workers, because a worker is believed in nothing but what it uploads.

use bytes::Bytes;
use placet_domain::command::About;
use placet_domain::evidence::{Manifest, SecretSeen, SecretsSeen};
use placet_domain::id::ProjectId;
use placet_domain::record::{Event, Record};
use placet_ledger::Entry;
use placet_secrets::{Finding, Scanner};

use super::No;
use crate::app::App;

/// What looks like a secret in the bytes. Takes the time of a hash or two, in a thread of its own.
pub async fn inspect(bytes: Bytes) -> Result<SecretsSeen, No> {
    let looked = tokio::task::spawn_blocking(move || SecretsSeen::new(Scanner::shipped().findings(&bytes).map(seen)));
    looked.await.map_err(|_| No::Unseen)
}

fn seen(finding: Finding) -> SecretSeen {
    let fingerprint = finding.fingerprint_hex();
    let Finding { rule, line, column, redacted: shown, .. } = finding;
    SecretSeen { rule, line, column, shown, fingerprint }
}

/// What was seen in each piece of evidence that a manifest names, by the ledger.
pub(crate) async fn seen_in(app: &App, project: ProjectId, manifest: &Manifest) -> Result<Vec<SecretsSeen>, No> {
    let mut all = Vec::with_capacity(manifest.items.len());
    for item in &manifest.items {
        let kept = app.store().kept(project, item.digest).await.map_err(No::Fault)?;
        let removed = app.store().removal(project, item.digest).await.map_err(No::Fault)?;
        // What was seen in it is known also when it is gone.
        all.push(match kept.map(|kept| kept.seq).or(removed.map(|removal| removal.kept)) {
            Some(seq) => recorded(app, seq).await?,
            None => SecretsSeen::default(),
        });
    }
    Ok(all)
}

async fn recorded(app: &App, seq: u64) -> Result<SecretsSeen, No> {
    let stored = app.store().entry(seq).await.map_err(No::Fault)?;
    let entry = stored.and_then(|stored| Entry::parse(&stored.bytes).ok());
    let read = entry.and_then(|entry| Record::read(About::default(), &entry.kind, entry.body).ok());
    Ok(match read.map(|record| record.event) {
        Some(Event::BlobKept(kept)) => kept.secrets,
        Some(_) | None => SecretsSeen::default(),
    })
}
