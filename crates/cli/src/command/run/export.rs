//! `placet run export`: the decision about the results, and the outputs that were let out, each checked by its digest.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use placet_domain::run::RunStatus;
use placet_wire::Client;
use placet_wire::api::{ExportRequest, OutputView, RunView};

use super::{look, outputs, plan};
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  placet run export 3f2a --to results --output 1 --output 4")]
pub(crate) struct Args {
    run: String,
    /// A folder that does not exist yet
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// Let only this output out; all of them, if none is named
    #[arg(long = "output", value_name = "NUMBER")]
    chosen: Vec<u32>,
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    if args.to.exists() {
        let why = format!("`{}` exists already", args.to.display());
        return Err(CliError::usage(why).hint("name a folder that does not exist yet"));
    }
    let mut view = look(client, &args.run).await?;
    if view.status == RunStatus::PendingExport {
        out.note(&plan(&view));
        out.note(&outputs(&view).unwrap_or_default());
        view = accept(client, &view, &args.chosen).await?;
    }
    let exported: Vec<&OutputView> = view.outputs.iter().filter(|output| output.exported).collect();
    let wanted = |output: &&&OutputView| args.chosen.is_empty() || args.chosen.contains(&output.id);
    let fetched: Vec<&OutputView> = exported.iter().filter(wanted).copied().collect();
    fetch(client, &view, &fetched, &args.to).await?;
    out.answer(&view, |_| format!("{} outputs in {}", fetched.len(), args.to.display()));
    Ok(())
}

async fn accept(client: &Client, seen: &RunView, chosen: &[u32]) -> Result<RunView, CliError> {
    let output_ids = (!chosen.is_empty()).then(|| chosen.iter().copied().collect::<BTreeSet<_>>());
    let path = format!("/api/v1/runs/{}/export", seen.id);
    Ok(client.post_if(&path, &seen.review.to_string(), &ExportRequest { output_ids }).await?)
}

/// Everything or nothing: the folder appears when all of it is there and checked.
async fn fetch(client: &Client, run: &RunView, outputs: &[&OutputView], to: &Path) -> Result<(), CliError> {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |error: io::Error| CliError::failed(format!("`{}` cannot be written: {error}", to.display()));
    let draft = tempfile::Builder::new().prefix(".placet-export-").tempdir_in(parent).map_err(cannot)?;
    let mut sums = String::new();
    for output in outputs {
        let path = format!("/api/v1/projects/{}/evidence/{}", run.project, output.digest);
        let bytes = client.get_bytes(&path).await?;
        if Digest::of(&bytes) != output.digest {
            return Err(CliError::failed(format!("`{}` is not what was approved; nothing was written", output.path)));
        }
        place(draft.path(), &output.path, &bytes).map_err(cannot)?;
        let _ = writeln!(sums, "{}  {}", output.digest.to_hex(), output.path);
    }
    fs::write(draft.path().join("SHA256SUMS"), sums).map_err(cannot)?;
    fs::rename(draft.keep(), to).map_err(cannot)
}

fn place(root: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    // The domain took only paths that stay below.
    let path = root.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
}
