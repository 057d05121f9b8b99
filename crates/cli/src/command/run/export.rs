//! `placet run export`: the decision about the results, and the outputs that were let out, each checked by its digest.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::run::RunStatus;
use placet_wire::Client;
use placet_wire::api::{ExportRequest, OutputView, RunView};

use super::onto::Application;
use super::{look, outputs, plan};
use crate::error::{CliError, Code};
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --onto, nothing is decided and nothing changed if somebody changed these files since the run began.\n\nExamples:\n  placet run export 3f2a --to results --output 1 --output 4\n  placet run export 3f2a --onto src --preview"
)]
pub(crate) struct Args {
    run: String,
    /// A folder that does not exist yet
    #[arg(long, value_name = "FOLDER", required_unless_present = "onto", conflicts_with = "onto")]
    to: Option<PathBuf>,
    /// The folder that was given to the run: makes there what the run changed, removals too
    #[arg(long, value_name = "FOLDER")]
    onto: Option<PathBuf>,
    /// Only show what would be different there
    #[arg(long, requires = "onto")]
    preview: bool,
    /// Let only this output out; all of them, if none is named
    #[arg(long = "output", value_name = "NUMBER")]
    chosen: Vec<u32>,
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    match (&args.to, &args.onto) {
        (Some(to), _) => into(&args, to, client, out).await,
        (None, Some(onto)) => apply(&args, onto, client, out).await,
        (None, None) => Err(CliError::usage("say where to: --to or --onto")),
    }
}

/// Into a folder of its own.
async fn into(args: &Args, to: &Path, client: &Client, out: &Out) -> Result<(), CliError> {
    if to.exists() {
        let why = format!("`{}` exists already", to.display());
        return Err(CliError::usage(why).hint("name a folder that does not exist yet"));
    }
    let mut view = look(client, &args.run).await?;
    if view.status == RunStatus::PendingExport {
        out.note(&plan(&view));
        out.note(&outputs(&view).unwrap_or_default());
        view = accept(client, &view, &args.chosen).await?;
    }
    let fetched = chosen(args, &view, |output| output.exported);
    fetch(client, &view, &fetched, to).await?;
    out.answer(&view, |_| format!("{} outputs in {}", fetched.len(), to.display()));
    Ok(())
}

/// Onto the folder that was given to the run. Whether everything there is as the run had found it is looked at before anybody decides.
async fn apply(args: &Args, onto: &Path, client: &Client, out: &Out) -> Result<(), CliError> {
    let seen = look(client, &args.run).await?;
    let waits = seen.status == RunStatus::PendingExport;
    if !waits && seen.status != RunStatus::Completed {
        let why = format!("its results are not there to be decided on: it is {}", seen.status);
        return Err(CliError::new(Code::Conflict, why));
    }
    // Who chooses outputs has chosen no removals.
    let all = args.chosen.is_empty() && (waits || seen.outputs.iter().all(|output| output.exported));
    let removed: &[String] = if all { &seen.removed } else { &[] };
    let wanted = chosen(args, &seen, |output| waits || output.exported);
    let application = Application::plan(&seen, &wanted, removed, onto)?;
    let shown = application.shown(client, &seen).await?;
    if args.preview {
        out.answer(&seen, |_| shown);
        return Ok(());
    }
    out.note(&shown);
    let view = if waits { accept(client, &seen, &args.chosen).await? } else { seen.clone() };
    let made = application.make(client, &view).await?;
    out.answer(&view, |_| format!("{made} changes in {}", onto.display()));
    Ok(())
}

fn chosen<'a>(args: &Args, run: &'a RunView, may: impl Fn(&OutputView) -> bool) -> Vec<&'a OutputView> {
    let wanted = |output: &OutputView| args.chosen.is_empty() || args.chosen.contains(&output.id);
    run.outputs.iter().filter(|output| may(output) && wanted(output)).collect()
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
        let bytes = content(client, run, &output.path, output.digest).await?;
        place(draft.path(), output, &bytes).map_err(cannot)?;
        let _ = writeln!(sums, "{}  {}", output.digest.to_hex(), output.path);
    }
    fs::write(draft.path().join(sums_beside(outputs)), sums).map_err(cannot)?;
    fs::rename(draft.keep(), to).map_err(cannot)
}

/// The bytes of an output, and nothing else.
pub(super) async fn content(client: &Client, run: &RunView, path: &str, digest: Digest) -> Result<Bytes, CliError> {
    let bytes = client.get_bytes(&format!("/api/v1/projects/{}/evidence/{digest}", run.project)).await?;
    if Digest::of(&bytes) == digest {
        return Ok(bytes);
    }
    Err(CliError::failed(format!("`{path}` is not what was approved; nothing was written")))
}

/// Under the usual name, unless an output has it.
fn sums_beside(outputs: &[&OutputView]) -> String {
    let is_free = |name: &String| !outputs.iter().any(|output| output.path.split('/').next() == Some(name));
    let others = (1..).map(|number| format!("SHA256SUMS.{number}"));
    std::iter::once("SHA256SUMS".to_owned()).chain(others).find(is_free).expect("there are more names than outputs")
}

fn place(root: &Path, output: &OutputView, bytes: &[u8]) -> io::Result<()> {
    // The domain took only paths that stay below.
    let path = root.join(&output.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if output.executable { 0o777 } else { 0o666 })
        .open(&path)
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
}
