//! `placet evidence`: what executions left, fetched and checked.

use std::path::PathBuf;

use placet_domain::digest::Digest;
use placet_domain::evidence::{Item, Manifest};
use placet_domain::text::spelled_out;
use placet_sandbox::LimitName;
use placet_wire::Client;
use placet_wire::api::ActionDetail;

use crate::context::{Who, action_id};
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// What the execution of an action left
    List { action: String },
    /// Fetch one piece (`stdout`, `stderr`, `out/…`) and check it against its digest
    #[command(after_help = "Example:\n  placet evidence get ACTION stdout")]
    Get {
        action: String,
        name: String,
        /// Write it here instead of to stdout
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Fetch everything an action left and check every digest
    Verify { action: String },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::List { action } => {
            let (_, manifest) = find(&client, &action).await?;
            out.answer(&manifest, words);
        }
        Command::Get { action, name, to } => {
            let (detail, manifest) = find(&client, &action).await?;
            let item = manifest.items.iter().find(|item| item.name == name);
            let item = item.ok_or_else(|| {
                CliError::new(Code::NotFound, format!("no evidence `{name}`")).hint("placet evidence list ACTION")
            })?;
            let bytes = fetch(&client, &detail, item).await?;
            match to {
                Some(path) => std::fs::write(path, bytes)?,
                None => out.bytes(&bytes)?,
            }
        }
        Command::Verify { action } => {
            let (detail, manifest) = find(&client, &action).await?;
            for item in &manifest.items {
                fetch(&client, &detail, item).await?;
            }
            let count = manifest.items.len();
            out.answer(&serde_json::json!({ "checked": count }), |_| format!("{count} pieces, all as recorded"));
        }
    }
    Ok(())
}

/// The manifest of an action, checked against the digest that the ledger holds.
pub(super) async fn find(client: &Client, typed: &str) -> Result<(ActionDetail, Manifest), CliError> {
    let id = action_id(client, typed).await?;
    let detail: ActionDetail = client.get(&format!("/api/v1/actions/{id}")).await?;
    let recorded = detail.action.evidence.ok_or_else(|| {
        CliError::new(Code::NotFound, format!("the action left no evidence; it is {}", detail.action.status))
    })?;
    let bytes = client.get_bytes(&format!("/api/v1/actions/{id}/evidence")).await?;
    checked("the manifest", recorded, &bytes)?;
    let manifest = serde_json::from_slice(&bytes)
        .map_err(|error| CliError::failed(format!("the manifest cannot be read: {error}")))?;
    Ok((detail, manifest))
}

pub(super) async fn fetch(client: &Client, detail: &ActionDetail, item: &Item) -> Result<bytes::Bytes, CliError> {
    let path = format!("/api/v1/projects/{}/evidence/{}", detail.action.project, item.digest);
    let bytes = client.get_bytes(&path).await?;
    checked(&format!("`{}`", item.name), item.digest, &bytes)?;
    Ok(bytes)
}

fn checked(what: &str, recorded: Digest, bytes: &[u8]) -> Result<(), CliError> {
    let found = Digest::of(bytes);
    if found == recorded {
        return Ok(());
    }
    Err(CliError::new(Code::Integrity, format!("{what} is {found}, recorded was {recorded}")))
}

/// Names and reasons are a worker's own: each stays on its line.
fn words(manifest: &Manifest) -> String {
    let rows: Vec<Vec<String>> = manifest
        .items
        .iter()
        .map(|item| vec![spelled_out(&item.name), format!("{} bytes", item.size_bytes), item.digest.to_string()])
        .collect();
    let usage = manifest.usage;
    format!(
        "{} after {} ms ({} ms of processor time, at most {} of memory)\n{}",
        spelled_out(&manifest.exit.in_words()),
        usage.wall_ms,
        usage.cpu_ms,
        LimitName::Memory.show(usage.peak_memory_bytes),
        table(&rows)
    )
}
