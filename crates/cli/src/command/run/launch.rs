//! What `placet run new` gives to an agent that a worker starts: its program, its files, and what is shared with it.

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
    /// A file or folder that anybody may see: it lies in the run's workspace
    #[arg(long = "input", value_name = "PATH", requires = "launch")]
    inputs: Vec<PathBuf>,
    /// The same for what is internal: you say that this run may see it
    #[arg(long = "share", value_name = "PATH", requires = "launch")]
    shared: Vec<PathBuf>,
}

impl LaunchArgs {
    /// Uploads what the agent is given, and says what to start; nothing, if the agent comes by itself.
    pub(super) async fn upload(self, client: &Client, project: ProjectId) -> Result<Option<LaunchRequest>, CliError> {
        let Some(program) = self.launch else { return Ok(None) };
        let mut files = Vec::new();
        for (path, from) in found(&self.files)? {
            let (digest, size_bytes) = upload(client, project, &from).await?;
            files.push(FileOperand { path, digest, size_bytes });
        }
        let mut inputs = Vec::new();
        let public = found(&self.inputs)?.into_iter().map(|file| (file, DataClass::Public));
        let internal = found(&self.shared)?.into_iter().map(|file| (file, DataClass::Internal));
        for ((path, from), class) in public.chain(internal) {
            let path = path.parse().map_err(|bad| CliError::usage(format!("{bad}")))?;
            let (digest, _) = upload(client, project, &from).await?;
            inputs.push(Input { path, class, shared: class == DataClass::Internal, digest: Some(digest) });
        }
        Ok(Some(LaunchRequest { program, arguments: self.arguments, profile: self.agent_cage, files, inputs }))
    }
}

async fn upload(client: &Client, project: ProjectId, from: &Path) -> Result<(Digest, u64), CliError> {
    let bytes = Bytes::from(fs::read(from).map_err(|error| unreadable(from, &error))?);
    let digest = Digest::of(&bytes);
    let kept: KeptBlob = client.put_bytes(&format!("/api/v1/projects/{project}/evidence/{digest}"), bytes).await?;
    Ok((digest, kept.size_bytes))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::usage(format!("`{}` cannot be read: {error}", path.display()))
}

/// The plain files behind what was named, with the path each will have: a file its own name, a folder's files theirs below it.
fn found(named: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, CliError> {
    let mut files = Vec::new();
    for path in named {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        match (metadata.is_dir(), path.file_name()) {
            (true, _) => gather(path, "", &mut files)?,
            (false, Some(name)) => files.push((text(path, name)?, path.clone())),
            (false, None) => return Err(unreadable(path, &"it has no name")),
        }
    }
    Ok(files)
}

/// Links are left out: what they lead to was not named.
fn gather(dir: &Path, below: &str, files: &mut Vec<(String, PathBuf)>) -> Result<(), CliError> {
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|error| unreadable(dir, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{below}{}", text(dir, &entry.file_name())?);
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
        if kind.is_dir() {
            gather(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}

fn text(at: &Path, name: &std::ffi::OsStr) -> Result<String, CliError> {
    name.to_str().map(str::to_owned).ok_or_else(|| unreadable(at, &"a name in it is no text"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_files_and_links_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("agent/lib")).unwrap();
        for (path, text) in [("agent/main.py", "m"), ("agent/lib/tools.py", "t"), ("notes.md", "n")] {
            fs::write(dir.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("agent/passwd")).unwrap();
        let paths = |named: &[&str]| {
            let named: Vec<_> = named.iter().map(|name| dir.path().join(name)).collect();
            found(&named).map(|files| files.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
        };
        assert_eq!(paths(&["agent", "notes.md"]).unwrap(), ["lib/tools.py", "main.py", "notes.md"]);
        assert!(paths(&["nothing"]).is_err());
    }
}
