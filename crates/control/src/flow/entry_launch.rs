//! LAUNCH FROM THE ENTRY: where nobody says who works in a planned run, it is what the entry of the chosen agent starts.
//!
//! The agent's files are kept as evidence of the project first, so that the plan names them by digest like everything else that a
//! person approves.

use placet_domain::catalogue::Launch;
use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::planning::Preparation;
use placet_domain::proposal::FileOperand;
use placet_domain::refusal::Refusal;
use placet_wire::api::{LaunchRequest, USUAL_AGENT_PROFILE};

use super::receive::keep_blob;
use super::{Caller, No};
use crate::app::App;
use crate::kit::KitFile;

/// What the entry of the chosen agent starts, with its files, and with the inputs of the intent.
pub(super) async fn launch_of_entry(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    prepared: &Preparation,
) -> Result<LaunchRequest, No> {
    let (launch, kit) = app.rules().launch_of(&prepared.plan().selection.chosen);
    let Some(Launch { program: Some(program), arguments, profile, .. }) = launch else {
        let why =
            "the entry of the chosen agent starts nothing; name an `agent` that comes by itself, or what to `launch`";
        return Err(Refusal::invalid(why).into());
    };
    let mut files = Vec::new();
    for file in kit {
        files.push(kept(app, caller, project, file).await?);
    }
    Ok(LaunchRequest {
        program: program.to_string(),
        arguments: arguments.iter().map(ToString::to_string).collect(),
        profile: profile.as_ref().map_or_else(|| USUAL_AGENT_PROFILE.to_owned(), ToString::to_string),
        files,
        inputs: prepared.inputs().to_vec(),
    })
}

async fn kept(app: &App, caller: &Caller, project: ProjectId, file: &KitFile) -> Result<FileOperand, No> {
    let digest = Digest::of(&file.bytes);
    let size_bytes = keep_blob(app, caller, project, digest, file.bytes.clone()).await?;
    Ok(FileOperand { path: file.path.clone(), digest, size_bytes })
}
