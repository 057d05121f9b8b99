//! What `placet run new` and `placet run plan` give to an agent that a worker starts: its program, its files, and what is shared with it.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::planning::{DataClass, Input};
use placet_domain::proposal::FileOperand;
use placet_domain::run::Launch;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{KeptBlob, LaunchRequest};
use placet_wire::endpoint::StoreEvidence;

use crate::agent_files::{found, found_in_folders, unreadable};
use crate::error::CliError;

#[derive(Debug, clap::Args)]
pub(crate) struct LaunchArgs {
    /// A program that a worker starts as its agent, in a cage; instead of --agent
    #[arg(long, value_name = "PROGRAM", conflicts_with = "agent")]
    launch: Option<String>,
    /// An argument of that program
    #[arg(long = "launch-arg", value_name = "TEXT", allow_hyphen_values = true, requires = "launch")]
    arguments: Vec<String>,
    /// A file or folder of the agent: it lies in the agent's own directory
    #[arg(long = "agent-file", value_name = "PATH", requires = "launch")]
    files: Vec<PathBuf>,
    /// The kind of cage that the agent lives in
    #[arg(long, value_name = "PROFILE", default_value = "agent", requires = "launch")]
    agent_cage: String,
    /// A public file or folder for the run's workspace; a folder keeps its name
    #[arg(long = "input", value_name = "PATH")]
    inputs: Vec<PathBuf>,
    /// The same for what is internal: you say that this run may see it
    #[arg(long = "share", value_name = "PATH")]
    shared: Vec<PathBuf>,
}

impl LaunchArgs {
    /// Uploads what the agent is given, and says what to start; nothing, if the agent comes by itself.
    pub(super) async fn upload(&self, client: &Client, project: ProjectId) -> Result<Option<LaunchRequest>, CliError> {
        let Some(program) = self.launch.clone() else { return Ok(None) };
        let (arguments, profile) = (self.arguments.clone(), self.agent_cage.clone());
        let mut files = Vec::new();
        for (path, from) in found(&self.files)? {
            let (digest, size_bytes) = upload(client, project, &from).await?;
            files.push(FileOperand { path, digest, size_bytes });
        }
        let inputs = self.share(client, project).await?;
        Ok(Some(LaunchRequest { program, arguments, profile, files, inputs }))
    }

    /// Uploads what is shared with the run.
    pub(super) async fn share(&self, client: &Client, project: ProjectId) -> Result<Vec<Input>, CliError> {
        let mut inputs = Vec::new();
        let public = found_in_folders(&self.inputs)?.into_iter().map(|file| (file, DataClass::Public));
        let internal = found_in_folders(&self.shared)?.into_iter().map(|file| (file, DataClass::Internal));
        for ((path, from), class) in public.chain(internal) {
            let path = path.parse().map_err(|bad| CliError::usage(format!("{bad}")))?;
            let (digest, _) = upload(client, project, &from).await?;
            inputs.push(Input { path, class, shared: class == DataClass::Internal, digest: Some(digest) });
        }
        Ok(inputs)
    }

    /// Whether something is shared, although no program is named that a worker starts.
    pub(super) const fn shares_with_nobody(&self) -> bool {
        self.launch.is_none() && !(self.inputs.is_empty() && self.shared.is_empty())
    }
}

async fn upload(client: &Client, project: ProjectId, from: &Path) -> Result<(Digest, u64), CliError> {
    let bytes = Bytes::from(fs::read(from).map_err(|error| unreadable(from, &error))?);
    let digest = Digest::of(&bytes);
    let kept: KeptBlob = client.put_bytes(StoreEvidence { project, digest }, bytes).await?;
    Ok((digest, kept.size_bytes))
}

/// What will be started and what it gets, for whoever approves it.
pub(super) fn shown(launch: &Launch) -> String {
    let words = std::iter::once(&launch.program).chain(&launch.arguments);
    let command = words.map(|word| spelled_out(word)).collect::<Vec<_>>().join(" ");
    let mut text = format!("\n  starts {command}\n  in a cage of kind {} ({})", launch.profile, launch.profile_digest);
    for file in &launch.files {
        text.push_str(&format!("\n  with   {} ({} bytes, {})", spelled_out(&file.path), file.size_bytes, file.digest));
    }
    for input in &launch.inputs {
        let digest = input.digest.map(|digest| digest.to_string()).unwrap_or_default();
        text.push_str(&format!("\n  shares {} ({}, {digest})", spelled_out(input.path.as_str()), input.class));
    }
    text
}
