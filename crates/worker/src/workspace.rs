//! WORKSPACE: where an action works. Usually a fresh directory that is gone afterwards; for an action of a run that is hosted here, the
//! run's own files, which are one action's at a time.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::proposal::{Action, FileOperand};
use placet_sandbox::Layers;
use placet_wire::api::Job;
use placet_workspace::TreePath;

use crate::host::{Seat, Turn};
use crate::job::JobError;
use crate::lease::Worker;

/// The workspace of one attempt.
#[derive(Debug)]
pub(crate) enum Workspace {
    Fresh(Fresh),
    /// Layers above what was given to the run. Held until the attempt is over.
    OfRun {
        layers: Layers,
        upper: PathBuf,
        _turn: Turn,
    },
}

impl Workspace {
    /// Makes it ready and fetches the action's files into it, each checked against the digest that was approved.
    pub(crate) async fn prepare(
        worker: &Worker,
        job: &Job,
        action: &Action,
        seat: Option<&Seat>,
    ) -> Result<Self, JobError> {
        let mut files = Vec::new();
        for file in &action.spec().files {
            files.push((file, fetch(worker, job, file).await?));
        }
        match seat {
            None => Fresh::prepare(&worker.config.scratch, job, &files).map(Self::Fresh).map_err(JobError::Workspace),
            Some(seat) => Self::of_run(seat, &files).await,
        }
    }

    async fn of_run(seat: &Seat, files: &[(&FileOperand, Bytes)]) -> Result<Self, JobError> {
        let mut turn = seat.turn().await;
        let space = turn.space()?;
        for (file, bytes) in files {
            let path = TreePath::new(file.path.as_str()).map_err(|bad| JobError::Workspace(io::Error::other(bad)))?;
            space.place(&path, bytes)?;
        }
        let (layers, upper) = (Layers::new(space.base(), space.upper(), space.work()), space.upper());
        Ok(Self::OfRun { layers, upper, _turn: turn })
    }

    pub(crate) fn in_cage(&self) -> placet_sandbox::Workspace {
        match self {
            Self::Fresh(fresh) => fresh.0.as_path().into(),
            Self::OfRun { layers, .. } => layers.clone().into(),
        }
    }

    /// Where what the action wrote can be read.
    pub(crate) fn outputs(&self) -> &Path {
        match self {
            Self::Fresh(fresh) => &fresh.0,
            Self::OfRun { upper, .. } => upper,
        }
    }
}

async fn fetch(worker: &Worker, job: &Job, file: &FileOperand) -> Result<Bytes, JobError> {
    let path = format!("/api/v1/projects/{}/evidence/{}", job.project, file.digest);
    let bytes = worker.config.client.get_bytes(&path).await?;
    if Digest::of(&bytes) == file.digest { Ok(bytes) } else { Err(JobError::WrongFile { path: file.path.clone() }) }
}

/// A directory of one attempt, removed with it.
#[derive(Debug)]
pub(crate) struct Fresh(PathBuf);

impl Fresh {
    fn prepare(scratch: &Path, job: &Job, files: &[(&FileOperand, Bytes)]) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
        let dir = scratch.join(format!("{}-{}", job.action, job.attempt));
        // Never an existing one: what an earlier attempt left must not leak into this one.
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        let fresh = Self(dir);
        files.iter().try_for_each(|(file, bytes)| fresh.place(file, bytes))?;
        Ok(fresh)
    }

    fn place(&self, file: &FileOperand, bytes: &[u8]) -> io::Result<()> {
        // Sealing refused absolute paths, `..` and the like; nothing but us has written here yet.
        let path = self.0.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a workspace was not removed");
        }
    }
}
