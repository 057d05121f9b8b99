//! A private directory per attempt, with exactly the files the action names. Gone when the job is.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use placet_domain::digest::Digest;
use placet_domain::proposal::{Action, FileOperand};
use placet_wire::api::Job;

use crate::job::JobError;
use crate::lease::Worker;

#[derive(Debug)]
pub(crate) struct Workspace(PathBuf);

impl Workspace {
    /// Makes the directory and fetches the files, each checked against the digest that was approved.
    pub(crate) async fn prepare(worker: &Worker, job: &Job, action: &Action) -> Result<Self, JobError> {
        let workspace = Self::make(&worker.config.scratch, job).map_err(JobError::Workspace)?;
        for file in &action.spec().files {
            let path = format!("/api/v1/projects/{}/evidence/{}", job.project, file.digest);
            let bytes = worker.config.client.get_bytes(&path).await?;
            if Digest::of(&bytes) != file.digest {
                return Err(JobError::WrongFile { path: file.path.clone() });
            }
            workspace.place(file, &bytes).map_err(JobError::Workspace)?;
        }
        Ok(workspace)
    }

    fn make(scratch: &Path, job: &Job) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
        let dir = scratch.join(format!("{}-{}", job.action, job.attempt));
        // Never an existing one: what an earlier attempt left must not leak into this one.
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        Ok(Self(dir))
    }

    fn place(&self, file: &FileOperand, bytes: &[u8]) -> io::Result<()> {
        // Sealing refused absolute paths, `..` and the like; nothing but us has written here yet.
        let path = self.0.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a workspace was not removed");
        }
    }
}
