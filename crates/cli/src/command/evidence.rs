//! `placet evidence`: what executions left, fetched and checked. What looks like a secret is taken out of what is shown,
//! unless somebody asks for the bytes as they were recorded.

use std::borrow::Cow;
use std::path::PathBuf;

use placet_domain::digest::Digest;
use placet_domain::evidence::{Item, Manifest};
use placet_domain::text::spelled_out;
use placet_sandbox::LimitName;
use placet_secrets::Scanner;
use placet_wire::api::ManifestQuery;
use placet_wire::api::{ActionDetail, PieceSecrets, REMOVED, SecretList, SecretView};
use placet_wire::endpoint::{FetchEvidence, ListSecrets, ShowAction, ShowManifest};
use placet_wire::{Client, ClientError};
use serde::Serialize;

use super::retention;
use crate::context::{Who, action_id};
use crate::error::{CliError, Code};
use crate::out::{BAD, Out, styled, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// What the execution of an action left
    List { action: String },
    /// Fetch one piece (`stdout`, `stderr`, `out/…`), checked; its secrets are hidden
    #[command(
        after_help = "Examples:\n  placet evidence get ACTION stdout\n  placet evidence get ACTION out/a.pem --raw --to a.pem"
    )]
    Get {
        action: String,
        name: String,
        /// The bytes as they were recorded, with the secrets that are in them
        #[arg(long)]
        raw: bool,
        /// Write it here instead of to stdout
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Fetch everything an action left and check every digest
    Verify { action: String },
    /// Remove what nothing needs any more and whose time has come; or only show it
    Expire(retention::Expire),
    /// Keep what a run names, or all of a project, whatever was agreed
    Preserve(retention::Preserve),
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::List { action } => {
            let (detail, manifest) = find(&client, &action).await?;
            let secrets = secrets(&client, &detail).await?;
            out.answer(&Listing { manifest: &manifest, secrets: &secrets }, words);
        }
        Command::Get { action, name, raw, to } => {
            let (detail, manifest) = find(&client, &action).await?;
            let item = manifest.items.iter().find(|item| item.name == name);
            let item = item.ok_or_else(|| {
                CliError::new(Code::NotFound, format!("no evidence `{name}`")).hint("placet evidence list ACTION")
            })?;
            let bytes = fetch(&client, &detail, item).await?;
            let shown = if raw { Cow::Borrowed(&bytes[..]) } else { without_secrets(&bytes, out) };
            match to {
                Some(path) => std::fs::write(path, shown)?,
                None => out.bytes(&shown)?,
            }
        }
        Command::Verify { action } => {
            let (detail, manifest) = find(&client, &action).await?;
            let removed = verify(&client, &detail, &manifest).await?;
            let checked = manifest.items.len() - removed.len();
            out.answer(&serde_json::json!({ "checked": checked, "removed": removed }), |_| verified(checked, &removed));
        }
        Command::Expire(args) => retention::expire(args, &client, out).await?,
        Command::Preserve(args) => retention::preserve(args, &client, out).await?,
    }
    Ok(())
}

/// What was removed, and with which entry. What is gone without one, or is not what it was, is an error.
async fn verify(client: &Client, detail: &ActionDetail, manifest: &Manifest) -> Result<Vec<String>, CliError> {
    let mut removed = Vec::new();
    for item in &manifest.items {
        match bytes_of(client, detail, item).await {
            Ok(bytes) => checked(&format!("`{}`", item.name), item.digest, &bytes)?,
            Err(ClientError::Refused(problem)) if problem.code == REMOVED => {
                removed.push(format!("{}: {}", item.name, problem.detail));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(removed)
}

fn verified(checked: usize, removed: &[String]) -> String {
    let all = if removed.is_empty() { "all " } else { "" };
    let lines = removed.iter().map(|line| format!("\n{}", spelled_out(line)));
    format!("{checked} pieces, {all}as recorded{}", lines.collect::<String>())
}

/// The manifest of an action, checked against the digest that the ledger holds.
pub(super) async fn find(client: &Client, typed: &str) -> Result<(ActionDetail, Manifest), CliError> {
    let id = action_id(client, typed).await?;
    let detail: ActionDetail = client.get(ShowAction { action: id }).await?;
    let recorded = detail.action.evidence.ok_or_else(|| {
        CliError::new(Code::NotFound, format!("the action left no evidence; it is {}", detail.action.status))
    })?;
    let bytes = client.get_bytes(ShowManifest { action: id, query: ManifestQuery::default() }).await?;
    checked("the manifest", recorded, &bytes)?;
    let manifest = serde_json::from_slice(&bytes)
        .map_err(|error| CliError::failed(format!("the manifest cannot be read: {error}")))?;
    Ok((detail, manifest))
}

pub(super) async fn fetch(client: &Client, detail: &ActionDetail, item: &Item) -> Result<bytes::Bytes, CliError> {
    let bytes = bytes_of(client, detail, item).await?;
    checked(&format!("`{}`", item.name), item.digest, &bytes)?;
    Ok(bytes)
}

async fn bytes_of(client: &Client, detail: &ActionDetail, item: &Item) -> Result<bytes::Bytes, ClientError> {
    client.get_bytes(FetchEvidence { project: detail.action.project, digest: item.digest }).await
}

fn checked(what: &str, recorded: Digest, bytes: &[u8]) -> Result<(), CliError> {
    let found = Digest::of(bytes);
    if found == recorded {
        return Ok(());
    }
    Err(CliError::new(Code::Integrity, format!("{what} is {found}, recorded was {recorded}")))
}

/// The bytes without what looks like secrets now: rules learn, and what was recorded long ago is shown by those of today.
fn without_secrets<'b>(bytes: &'b [u8], out: &Out) -> Cow<'b, [u8]> {
    let clean = Scanner::shipped().redact(bytes);
    if clean != bytes {
        out.note("secrets were taken out of what is shown; --raw gives the bytes as they were recorded");
    }
    clean
}

async fn secrets(client: &Client, detail: &ActionDetail) -> Result<Vec<PieceSecrets>, CliError> {
    let list: SecretList = client.get(ListSecrets { action: detail.action.id }).await?;
    Ok(list.pieces.into_iter().filter(|piece| !piece.secrets.is_empty()).collect())
}

/// What `list` answers: the manifest as it is, and what looked like secrets in its pieces.
#[derive(Serialize)]
struct Listing<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    #[serde(skip_serializing_if = "<[PieceSecrets]>::is_empty")]
    secrets: &'a [PieceSecrets],
}

/// Names and reasons are a worker's own: each stays on its line.
fn words(listing: &Listing<'_>) -> String {
    let manifest = listing.manifest;
    let not_taken =
        manifest.not_taken.iter().map(|file| format!("`{}` {}", spelled_out(&file.path), file.why.in_words()));
    let rows: Vec<Vec<String>> = manifest
        .items
        .iter()
        .map(|item| vec![spelled_out(&item.name), format!("{} bytes", item.size_bytes), item.digest.to_string()])
        .collect();
    let usage = manifest.usage;
    format!(
        "{} after {} ms ({} ms of processor time, at most {} of memory)\n{}",
        spelled_out(&manifest.exit.to_string()),
        usage.wall_ms,
        usage.cpu_ms,
        LimitName::Memory.show(usage.peak_memory_bytes),
        [table(&rows)].into_iter().chain(not_taken).chain(warnings(listing.secrets)).collect::<Vec<_>>().join("\n")
    )
}

/// One line for each place, in the order of the pieces.
fn warnings(pieces: &[PieceSecrets]) -> Vec<String> {
    let line = |piece: &PieceSecrets, seen: &SecretView| {
        let SecretView { rule, line, column, shown, .. } = seen;
        format!("{} {}:{line}:{column} {rule} {shown}", styled(BAD, "secret"), spelled_out(&piece.name))
    };
    let of_piece = |piece: &PieceSecrets| {
        let more = (piece.more > 0)
            .then(|| format!("{} {}: {} more", styled(BAD, "secret"), spelled_out(&piece.name), piece.more));
        piece.secrets.iter().map(|seen| line(piece, seen)).chain(more).collect::<Vec<_>>()
    };
    pieces.iter().flat_map(of_piece).collect()
}
