//! How fast a stranger verifies an export.

use std::time::Instant;

use placet_ledger::{Entry, SigningKey, Tree, TreeHead, bundle, leaf_hash};
use serde_json::{Value, json};

use super::stats::per_second;
use crate::error::CliError;

const ENTRIES: u64 = 300_000;

pub(super) fn measure() -> Result<Value, CliError> {
    let dir = std::env::temp_dir().join(format!("placet-bench-{}", uuid::Uuid::now_v7().simple()));
    let key = SigningKey::from_seed("placet/bench".parse().map_err(failed)?, &[7; 32]);
    let mut tree = Tree::empty();
    let entries: Result<Vec<Vec<u8>>, _> = (0..ENTRIES).map(|seq| entry(seq).to_bytes()).collect();
    let entries = entries.map_err(failed)?;
    for bytes in &entries {
        tree.append(leaf_hash(bytes));
    }
    let head =
        TreeHead::new("placet/bench", tree.size(), tree.root()).and_then(|head| head.sign(&key)).map_err(failed)?;
    bundle::write(&dir, &head, entries.into_iter().map(Ok::<_, std::convert::Infallible>)).map_err(failed)?;
    let started = Instant::now();
    let report = bundle::verify(&dir, &key.verifier(), None);
    let took = started.elapsed();
    let _ = std::fs::remove_dir_all(&dir);
    if !report.is_sound() {
        return Err(CliError::failed("the export did not verify"));
    }
    let count = usize::try_from(report.entries).unwrap_or(usize::MAX);
    Ok(json!({ "entries": count, "entries_per_second": per_second(count, took) }))
}

/// About 300 bytes, like a usual entry.
fn entry(seq: u64) -> Entry {
    Entry {
        v: Entry::VERSION,
        seq,
        at: "2026-01-31T09:30:00.000Z".into(),
        project: Some("prj_01a1e1618f3b70698b59c8351b6f4dc7".into()),
        run: Some("run_01a1e1618f3b70698b59c8351b6f4dc7".into()),
        action: Some("act_01a1e1618f3b70698b59c8351b6f4dc7".into()),
        actor: "idn_01a1e1618f3b70698b59c8351b6f4dc7".into(),
        kind: "job.renewed".into(),
        body: json!({ "is": "renewed", "attempt": seq, "expires_at": 1_769_851_800_000_u64 }),
    }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}
