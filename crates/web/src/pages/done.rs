//! Details of the actions that a checkpoint lists: their arguments, the program's output, and the files they left, each compared with its
//! earlier version. Access to the bytes is the same as in the API.

use std::collections::BTreeMap;

use placet_control::App;
use placet_control::flow::{Caller, Look};
use placet_control::http::Failure;
use placet_control::read::actions::detail;
use placet_control::read::files::FileShown;
use placet_control::read::{entries, files};
use placet_domain::evidence::Manifest;
use placet_domain::proposal::FileOperand;
use placet_domain::run::{Run, RunStatus};

use super::output;
use crate::markup::{DoneAction, STREAMS};

/// Limit of actions shown in full; further ones are listed as links to their own pages.
const MOST: usize = 12;
/// Prefix of output files in the names of evidence.
const LEFT: &str = "out/";

/// Files by path, at one moment.
type Files = BTreeMap<String, FileOperand>;

pub(super) async fn of_checkpoint(
    app: &App,
    caller: &Caller,
    run: &Run,
    look: &Look,
) -> Result<Vec<DoneAction>, Failure> {
    if run.status != RunStatus::CheckpointReached {
        return Ok(Vec::new());
    }
    let (mut before, mut done) = (inputs(app, run).await?, Vec::new());
    for state in look.done.actions.iter().chain(&look.interrupted.actions).take(MOST) {
        let detail = detail(app, state).await?;
        let evidence = entries::manifest(app, state).await?;
        let spec = detail.spec;
        before.extend(spec.files.iter().map(|file| (file.path.clone(), file.clone())));
        let left = evidence.as_ref().map(left_by).unwrap_or_default();
        let files = shown(app, caller, run, &left, &before).await?;
        before.extend(left);
        // The files that the action left are shown below, compared.
        let mut outputs = output::shown(app, caller, run.project, evidence.as_ref()).await?;
        outputs.retain(|output| STREAMS.contains(&output.name.as_str()));
        done.push(DoneAction { action: detail.action.id, argv: spec.argv, outputs, files });
    }
    Ok(done)
}

/// Files that the run was given as inputs.
async fn inputs(app: &App, run: &Run) -> Result<Files, Failure> {
    let mut files = Files::new();
    for input in run.hosting.launch().iter().flat_map(|launch| &launch.inputs) {
        let Some(digest) = input.digest else { continue };
        let Some(kept) = app.store().kept(run.project, digest).await? else { continue };
        let path = input.path.to_string();
        files.insert(path.clone(), FileOperand { path, digest, size_bytes: kept.size_bytes });
    }
    Ok(files)
}

fn left_by(manifest: &Manifest) -> Files {
    let files = manifest.items.iter().filter_map(|item| {
        let path = item.name.strip_prefix(LEFT)?.to_owned();
        Some((path.clone(), FileOperand { path, digest: item.digest, size_bytes: item.size_bytes }))
    });
    files.collect()
}

async fn shown(app: &App, caller: &Caller, run: &Run, left: &Files, before: &Files) -> Result<Vec<FileShown>, Failure> {
    let mut pairs = Vec::new();
    for (path, file) in left {
        pairs.push((file, before.get(path).filter(|known| known.digest != file.digest)));
    }
    Ok(files::compared(app, caller, run, &pairs).await?)
}
