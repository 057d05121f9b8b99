//! `placet run export`: the decision about the results, and the outputs that were let out, each checked by its digest: into a folder
//! or an archive, or onto what the run was given.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::run::RunStatus;
use placet_domain::scope::ScopePath;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{ExportRequest, OutputView, RunView};
use placet_wire::endpoint::{ExportResults, FetchEvidence};

use super::archive::{Archive, Form, Member};
use super::onto::Application;
use super::{look, outputs, plan};
use crate::error::{CliError, Code};
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --onto, nothing is decided and nothing changed if somebody changed these files since the run began.\n\nExamples:\n  placet run export 3f2a --to results --output 1 --output 4\n  placet run export 3f2a --archive results.tar.gz\n  placet run export 3f2a --onto src --preview"
)]
pub(crate) struct Args {
    run: String,
    /// A folder that does not exist yet
    #[arg(long, value_name = "FOLDER", required_unless_present_any = ["onto", "archive"], conflicts_with = "onto")]
    to: Option<PathBuf>,
    /// A file that does not exist yet, which ends in .tar.gz, .tgz or .zip
    #[arg(long, value_name = "FILE", conflicts_with_all = ["onto", "to"])]
    archive: Option<PathBuf>,
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
    match (&args.to, &args.archive, &args.onto) {
        (Some(to), _, _) => into(&args, to, client, out).await,
        (None, Some(file), _) => pack(&args, file, client, out).await,
        (None, None, Some(onto)) => apply(&args, onto, client, out).await,
        (None, None, None) => Err(CliError::usage("say where to: --to, --archive or --onto")),
    }
}

/// Into one file.
async fn pack(args: &Args, file: &Path, client: &Client, out: &Out) -> Result<(), CliError> {
    let form = Form::of(file).ok_or_else(|| {
        let why = format!("`{}` does not say what kind of archive it is", file.display());
        CliError::usage(why).hint("let it end in .tar.gz, .tgz or .zip")
    })?;
    is_free(file, "a file")?;
    let view = decided(args, client, out).await?;
    let packed = chosen(args, &view, |output| output.exported);
    fetch_packed(client, &view, &packed, form, file).await?;
    out.answer(&view, |_| format!("{} outputs in {}", packed.len(), file.display()));
    Ok(())
}

/// Nobody's work is written over.
fn is_free(path: &Path, what: &str) -> Result<(), CliError> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let why = format!("`{}` exists already", path.display());
    Err(CliError::usage(why).hint(format!("name {what} that does not exist yet")))
}

/// The run with its results decided on: by this command, or before.
async fn decided(args: &Args, client: &Client, out: &Out) -> Result<RunView, CliError> {
    let view = look(client, &args.run).await?;
    check_names(&view.outputs)?;
    if view.status != RunStatus::PendingExport {
        return Ok(view);
    }
    out.note(&plan(&view));
    out.note(&outputs(&view).unwrap_or_default());
    accept(client, &view, &args.chosen).await
}

/// The control plane took only such names. Whoever writes files looks again: nothing lands anywhere but below.
fn check_names(outputs: &[OutputView]) -> Result<(), CliError> {
    let steers = |path: &str| path.chars().any(|c| c.is_control() || c == '\\');
    let bad = |output: &&OutputView| ScopePath::new(output.path.as_bytes()).is_err() || steers(&output.path);
    match outputs.iter().find(bad) {
        None => Ok(()),
        Some(output) => {
            let why = format!("the output {} has the name `{}`", output.id, spelled_out(&output.path));
            Err(CliError::failed(format!("{why}, which is no plain path below a folder; nothing was written")))
        }
    }
}

/// Into a folder of its own.
async fn into(args: &Args, to: &Path, client: &Client, out: &Out) -> Result<(), CliError> {
    is_free(to, "a folder")?;
    let view = decided(args, client, out).await?;
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
    Ok(client.post_if(ExportResults { run: seen.id }, seen.review, &ExportRequest { output_ids }).await?)
}

/// Everything or nothing: the folder appears when all of it is there and checked.
async fn fetch(client: &Client, run: &RunView, outputs: &[&OutputView], to: &Path) -> Result<(), CliError> {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |error: io::Error| CliError::failed(format!("`{}` cannot be written: {error}", to.display()));
    let draft = tempfile::Builder::new().prefix(".placet-export-").tempdir_in(parent).map_err(cannot)?;
    for output in outputs {
        let bytes = content(client, run, &output.path, output.digest).await?;
        place(draft.path(), output, &bytes).map_err(cannot)?;
    }
    fs::write(draft.path().join(free_name("SHA256SUMS", outputs)), sums(outputs)).map_err(cannot)?;
    fs::rename(draft.keep(), to).map_err(cannot)
}

/// Everything or nothing: the file appears when all of it is there and checked.
async fn fetch_packed(
    client: &Client,
    run: &RunView,
    outputs: &[&OutputView],
    form: Form,
    to: &Path,
) -> Result<(), CliError> {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |error: io::Error| CliError::failed(format!("`{}` cannot be written: {error}", to.display()));
    // As anybody's new file is: what may be seen of it is for their umask to say.
    let usual = fs::Permissions::from_mode(0o666);
    let draft = tempfile::Builder::new().prefix(".placet-export-").permissions(usual).tempfile_in(parent);
    let mut archive = Archive::new(form, io::BufWriter::new(draft.map_err(cannot)?));
    let mut sorted = outputs.to_vec();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    let (manifest, sums) = (listed(&sorted), sums(&sorted));
    let name = free_name("MANIFEST.json", outputs);
    archive.add(&Member { path: &name, bytes: manifest.as_bytes(), executable: false }).map_err(cannot)?;
    let name = free_name("SHA256SUMS", outputs);
    archive.add(&Member { path: &name, bytes: sums.as_bytes(), executable: false }).map_err(cannot)?;
    for output in sorted {
        let bytes = content(client, run, &output.path, output.digest).await?;
        let member = Member { path: &output.path, bytes: &bytes, executable: output.executable };
        archive.add(&member).map_err(cannot)?;
    }
    let draft =
        archive.finish().and_then(|to| to.into_inner().map_err(io::IntoInnerError::into_error)).map_err(cannot)?;
    draft.as_file().sync_all().map_err(cannot)?;
    draft.persist_noclobber(to).map(drop).map_err(|error| cannot(error.error))
}

/// What is in the archive and nothing else, so that the same outputs make the same archive.
fn listed(outputs: &[&OutputView]) -> String {
    let file = |output: &&OutputView| {
        serde_json::json!({
            "path": output.path, "digest": output.digest, "size_bytes": output.size_bytes, "executable": output.executable,
        })
    };
    let files: Vec<_> = outputs.iter().map(file).collect();
    format!("{:#}\n", serde_json::json!({ "v": 1, "files": files }))
}

fn sums(outputs: &[&OutputView]) -> String {
    outputs.iter().map(|output| format!("{}  {}\n", output.digest.to_hex(), output.path)).collect()
}

/// The bytes of an output, and nothing else.
pub(super) async fn content(client: &Client, run: &RunView, path: &str, digest: Digest) -> Result<Bytes, CliError> {
    let bytes = client.get_bytes(FetchEvidence { project: run.project, digest }).await?;
    if Digest::of(&bytes) == digest {
        return Ok(bytes);
    }
    Err(CliError::failed(format!("`{path}` is not what was approved; nothing was written")))
}

/// The usual name, unless an output has it.
fn free_name(usual: &str, outputs: &[&OutputView]) -> String {
    let is_free = |name: &String| !outputs.iter().any(|output| output.path.split('/').next() == Some(name));
    let others = (1..).map(|number| format!("{usual}.{number}"));
    std::iter::once(usual.to_owned()).chain(others).find(is_free).expect("there are more names than outputs")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn output(id: u32, path: &str) -> OutputView {
        let (digest, size_bytes, executable, exported) = (Digest::of(path.as_bytes()), 1, false, true);
        OutputView { id, path: path.to_owned(), digest, size_bytes, executable, exported }
    }

    #[test]
    fn c19_a_name_that_leads_elsewhere_is_refused_whoever_says_it() {
        check_names(&[output(1, "docs/report.md"), output(2, "a b/ü")]).unwrap();
        for bad in ["/etc/passwd", "../up", "a/../../b", "a//b", "", "a\\..\\b", "a\u{1b}[2J", "a\nb", "./a"] {
            let refused = check_names(&[output(1, "fine"), output(2, bad)]).unwrap_err();
            assert!(refused.message.contains("nothing was written"), "{bad:?}: {refused}");
        }
    }

    #[test]
    fn c19_what_lies_beside_outputs_takes_no_name_of_theirs() {
        let (one, other) = (output(1, "SHA256SUMS"), output(2, "SHA256SUMS.1/file"));
        assert_eq!(free_name("SHA256SUMS", &[&one, &other]), "SHA256SUMS.2");
        assert_eq!(free_name("MANIFEST.json", &[&one, &other]), "MANIFEST.json");
        assert!(listed(&[&one]).contains(&one.digest.to_string()));
    }
}
