//! `placet ledger prove` and `check-proof`: that one entry is in the ledger, for somebody who has nothing else of it.

use std::path::{Path, PathBuf};

use placet_ledger::{VerifierKey, leaf_hash, verify_inclusion};
use placet_wire::Client;
use placet_wire::api::{InclusionProof, ProofQuery};
use placet_wire::endpoint::ProveEntry;

use super::kept_head::signed_head;
use super::parse_hashes;
use crate::error::{CliError, Code};
use crate::home::read;
use crate::out::{GOOD, Out, styled};

pub(super) async fn prove(client: &Client, seq: u64, to: Option<PathBuf>, out: &Out) -> Result<(), CliError> {
    let proof = client.get(ProveEntry { query: ProofQuery { seq } }).await?;
    if let Some(path) = to {
        std::fs::write(&path, serde_json::to_vec_pretty(&proof).unwrap_or_default())?;
        out.note(&format!("written to {}; check it with `placet ledger check-proof {0} --key KEY`", path.display()));
        return Ok(());
    }
    // Prints the same JSON as it writes to a file, so that the output can be saved and checked later.
    out.data(&serde_json::to_string_pretty(&proof).unwrap_or_default());
    Ok(())
}

pub(super) fn check_proof(file: &Path, key: &VerifierKey, out: &Out) -> Result<(), CliError> {
    let proof: InclusionProof = serde_json::from_str(&read(file)?)
        .map_err(|error| CliError::usage(format!("`{}`: {error}", file.display())))?;
    let broken = |why: String| CliError::new(Code::Integrity, why);
    let head = signed_head(&proof.note, key, file)?;
    let path = parse_hashes(&proof.proof)?;
    let leaf = leaf_hash(proof.entry.as_bytes());
    let checked = verify_inclusion(&leaf, proof.seq, head.size(), &head.root(), &path);
    checked.map_err(|error| broken(format!("entry {} is not under this head: {error}", proof.seq)))?;
    let view = serde_json::json!({ "seq": proof.seq, "size": head.size(), "verified": true });
    out.answer(&view, |_| {
        format!(
            "{} entry {} is in the ledger of {} entries\n{}",
            styled(GOOD, "verified"),
            proof.seq,
            head.size(),
            proof.entry
        )
    });
    Ok(())
}
