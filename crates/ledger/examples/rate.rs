//! Measures how fast a ledger grows, is exported and is verified on one core; prints one line of JSON.
//!
//! `cargo run --release -p placet-ledger --example rate -- 1000000`

use std::convert::Infallible;
use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use placet_ledger::{Entry, SigningKey, Tree, TreeHead, bundle, leaf_hash};
use serde_json::json;

const ORIGIN: &str = "example.com/rate";

fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(300_000), |count| count.parse())?;
    let bytes: Vec<Vec<u8>> = (0..count).map(|seq| entry(seq).to_bytes()).collect::<Result<_, _>>()?;
    let leaves: Vec<_> = bytes.iter().map(|bytes| leaf_hash(bytes)).collect();

    let started = Instant::now();
    let mut tree = Tree::empty();
    for leaf in &leaves {
        black_box(tree.append(*leaf));
    }
    let append_s = started.elapsed().as_secs_f64();

    let key = SigningKey::from_seed(ORIGIN.parse()?, &[7; 32]);
    let head = TreeHead::new(ORIGIN, tree.size(), tree.root())?.sign(&key)?;
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("export");

    let started = Instant::now();
    bundle::write(&dir, &head, bytes.iter().map(Ok::<_, Infallible>))?;
    let export_s = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let report = bundle::verify(&dir, &key.verifier(), None);
    let verify_s = started.elapsed().as_secs_f64();

    let per_s = |seconds: f64| (count as f64 / seconds) as u64;
    let result = json!({
        "entries": count,
        "mean_entry_bytes": bytes.iter().map(Vec::len).sum::<usize>() as u64 / count.max(1),
        "appends_per_s": per_s(append_s),
        "exported_per_s": per_s(export_s),
        "verified_per_s": per_s(verify_s),
        "sound": report.is_sound(),
    });
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}

fn entry(seq: u64) -> Entry {
    Entry {
        v: Entry::VERSION,
        seq,
        at: format!("2026-01-31T{:02}:{:02}:{:02}.000Z", seq / 3_600_000, seq / 60_000 % 60, seq / 1000 % 60),
        project: Some("atlas".into()),
        run: Some("0198f2c4-7d1e-7a55-9b0e-3f2d6c1a8e90".into()),
        action: Some(format!("act-{seq:08}")),
        actor: "agent:planner".into(),
        kind: "action.proposed".into(),
        body: json!({
            "digest": leaf_hash(&seq.to_be_bytes()),
            "tool": "file.write",
            "tier": 2,
        }),
    }
}
