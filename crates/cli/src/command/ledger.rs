//! `placet ledger`: check, prove and export the record of everything. Checking needs only files and a public key.

use std::path::{Path, PathBuf};

use placet_domain::canonical;
use placet_ledger::{Hash, SignedTreeHead, VerifierKey, bundle, leaf_hash, verify_inclusion};
use placet_wire::Client;
use placet_wire::api::{EntryList, HeadView, InclusionProof};

use super::serve::open_store;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::read;
use crate::out::{BAD, DIM, GOOD, Out, styled};
use crate::progress::Spinner;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// The newest signed tree head; keep it, it is what you can hold the ledger to later
    Head,
    /// Write the whole ledger to an empty directory that anybody can verify
    Export {
        dir: PathBuf,
        /// Read the store of the home directly, while no control plane runs
        #[arg(long)]
        offline: bool,
    },
    /// Verify an export with nothing but its files and a public key
    #[command(
        after_help = "Examples:\n  placet ledger verify export/ --key 'placet/ab12+…'\n  placet ledger verify export/ --key ledger.pub --since last-week.head\n\nExit code 4 means it is not what was signed; every fault is named and located."
    )]
    Verify {
        dir: PathBuf,
        /// The ledger's verifier key, or a file that holds it
        #[arg(long)]
        key: String,
        /// A signed head you kept: detects a rollback to an older copy and a rewritten history
        #[arg(long, value_name = "FILE")]
        since: Option<PathBuf>,
    },
    /// Prove that one entry is in the ledger; the proof can be checked offline
    Prove {
        seq: u64,
        /// Write the proof here instead of printing it
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Check a proof made by `prove`, offline
    CheckProof {
        file: PathBuf,
        #[arg(long)]
        key: String,
    },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    match command {
        Command::Head => {
            let head: HeadView = who.client()?.get("/api/v1/ledger/head").await?;
            out.answer(&head, |head| format!("{}{}", head.note, styled(DIM, format!("\nkey {}", head.key))));
            Ok(())
        }
        Command::Export { dir, offline: true } => {
            let store = open_store(&who.home()?).await?;
            let head = store.export(dir.clone()).await.map_err(|error| CliError::failed(error.to_string()))?;
            exported(out, &dir, &head, &store.verifier().to_string());
            Ok(())
        }
        Command::Export { dir, offline: false } => {
            let (head, key) = export(&who.client()?, &dir, out).await?;
            exported(out, &dir, &head, &key.to_string());
            Ok(())
        }
        Command::Verify { dir, key, since } => verify(&dir, &parse_key(&key)?, since.as_deref(), out),
        Command::Prove { seq, to } => prove(&who.client()?, seq, to, out).await,
        Command::CheckProof { file, key } => check_proof(&file, &parse_key(&key)?, out),
    }
}

fn exported(out: &Out, dir: &Path, head: &SignedTreeHead, key: &str) {
    let view = serde_json::json!({ "dir": dir, "size": head.size(), "key": key });
    let dir = dir.display();
    out.answer(&view, |_| format!("{} entries in {dir}", head.size()));
    out.next(&format!("placet ledger verify {dir} --key '{key}'"));
}

fn parse_key(text: &str) -> Result<VerifierKey, CliError> {
    let text = if Path::new(text).is_file() { read(Path::new(text))? } else { text.to_owned() };
    text.trim().parse().map_err(|error| CliError::usage(format!("not a verifier key: {error}")))
}

/// Fetches head and entries and writes them as an export. The server is not trusted: the export is verified afterwards.
pub(super) async fn export(client: &Client, dir: &Path, out: &Out) -> Result<(SignedTreeHead, VerifierKey), CliError> {
    let _spinner = Spinner::start(out, "fetching the ledger");
    let view: HeadView = client.get("/api/v1/ledger/head").await?;
    let key = parse_key(&view.key)?;
    let head = SignedTreeHead::verify(view.note.as_bytes(), &key);
    let head =
        head.map_err(|error| CliError::new(Code::Integrity, format!("the head is not signed by its key: {error}")))?;
    let mut entries: Vec<Vec<u8>> = Vec::new();
    while (entries.len() as u64) < head.size() {
        let after = entries.len().checked_sub(1).map_or_else(String::new, |last| format!("?after={last}"));
        let page: EntryList = client.get(&format!("/api/v1/ledger/entries{after}")).await?;
        if page.entries.is_empty() {
            return Err(CliError::new(
                Code::Refused,
                "you do not see the whole ledger; ask an auditor of all projects",
            ));
        }
        entries.extend(page.entries.iter().map(|entry| canonical::to_bytes(&entry.entry)));
    }
    let all = entries.into_iter().map(Ok::<_, std::convert::Infallible>);
    bundle::write(dir, &head, all).map_err(|error| CliError::failed(error.to_string()))?;
    Ok((head, key))
}

fn verify(dir: &Path, key: &VerifierKey, since: Option<&Path>, out: &Out) -> Result<(), CliError> {
    let known = since.map(|path| known_head(path, key)).transpose()?;
    let report = {
        let _spinner = Spinner::start(out, "verifying");
        bundle::verify(dir, key, known.as_ref())
    };
    out.answer(&report, words);
    match report.faults.first() {
        None => Ok(()),
        Some(first) => Err(CliError::new(Code::Integrity, format!("the ledger is not what was signed: {first}"))),
    }
}

fn known_head(path: &Path, key: &VerifierKey) -> Result<SignedTreeHead, CliError> {
    let bad =
        |error| CliError::new(Code::Integrity, format!("`{}` is no head of this ledger: {error}", path.display()));
    SignedTreeHead::verify(read(path)?.as_bytes(), key).map_err(bad)
}

pub(super) fn words(report: &bundle::Report) -> String {
    if report.is_sound() {
        let root = report.root.as_ref().map(Hash::to_string).unwrap_or_default();
        return format!("{} {} entries, root {root}", styled(GOOD, "verified"), report.entries);
    }
    let faults: Vec<String> = report.faults.iter().map(|fault| format!("  {fault}")).collect();
    format!(
        "{} {} of {} entries are as recorded\n{}",
        styled(BAD, "broken"),
        report.entries,
        report.size,
        faults.join("\n")
    )
}

async fn prove(client: &Client, seq: u64, to: Option<PathBuf>, out: &Out) -> Result<(), CliError> {
    let proof: InclusionProof = client.get(&format!("/api/v1/ledger/proof?seq={seq}")).await?;
    if let Some(path) = to {
        std::fs::write(&path, serde_json::to_vec_pretty(&proof).unwrap_or_default())?;
        out.note(&format!("written to {}; check it with `placet ledger check-proof {0} --key KEY`", path.display()));
        return Ok(());
    }
    out.answer(&proof, |proof| {
        format!(
            "entry {} of {}\n{}\n\nleaf {}\n{}\n\n{}",
            proof.seq,
            proof.size,
            proof.entry,
            proof.leaf,
            proof.proof.join("\n"),
            proof.note
        )
    });
    Ok(())
}

fn check_proof(file: &Path, key: &VerifierKey, out: &Out) -> Result<(), CliError> {
    let proof: InclusionProof = serde_json::from_str(&read(file)?)
        .map_err(|error| CliError::usage(format!("`{}`: {error}", file.display())))?;
    let broken = |why: String| CliError::new(Code::Integrity, why);
    let head = SignedTreeHead::verify(proof.note.as_bytes(), key).map_err(|error| broken(error.to_string()))?;
    let path: Result<Vec<Hash>, _> = proof.proof.iter().map(|hash| hash.parse()).collect();
    let path = path.map_err(|_| CliError::usage("the proof holds something that is no hash"))?;
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
