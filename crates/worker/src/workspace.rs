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
use placet_workspace::space::SpaceError;

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
        turn: Turn,
    },
}

/// An action's files, each with what was approved as its content.
pub(crate) type Files = Vec<(FileOperand, Bytes)>;

impl Workspace {
    pub(crate) fn fresh(scratch: &Path, job: &Job) -> Result<Self, JobError> {
        Fresh::make(scratch, job).map(Self::Fresh).map_err(JobError::Workspace)
    }

    /// The run's own, once nobody else works in it.
    pub(crate) async fn of_run(seat: &Seat) -> Result<Self, JobError> {
        let mut turn = seat.turn().await;
        let space = turn.relied_on()?;
        let (layers, upper) = (Layers::new(space.base(), space.upper(), space.work()), space.upper());
        Ok(Self::OfRun { layers, upper, turn })
    }

    /// The first of these files that would take the place of other content in the workspace of a run.
    pub(crate) fn written_over(&mut self, files: &Files) -> Result<Option<String>, JobError> {
        let Self::OfRun { turn, .. } = self else { return Ok(None) };
        let seat = |error: SpaceError| JobError::Seat(error.into());
        let space = turn.space().map_err(seat)?;
        for (file, _) in files {
            let path = TreePath::new(file.path.as_str()).map_err(|bad| JobError::Workspace(io::Error::other(bad)))?;
            let made = space.outputs(|output| *output == path).map_err(seat)?;
            let there = match made.first() {
                Some(output) => Some(Digest::from_bytes(*output.digest.as_bytes())),
                None if space.missing(std::slice::from_ref(&path)).map_err(seat)?.is_empty() => {
                    // We laid it there ourselves, and nobody writes below the layers.
                    fs::read(space.base().join(&file.path)).ok().map(|bytes| Digest::of(&bytes))
                }
                None => None,
            };
            if there.is_some_and(|there| there != file.digest) {
                return Ok(Some(file.path.clone()));
            }
        }
        Ok(None)
    }

    /// Lays down the action's files.
    pub(crate) fn place(&mut self, files: &Files) -> Result<(), JobError> {
        match self {
            Self::Fresh(fresh) => {
                files.iter().try_for_each(|(file, bytes)| fresh.place(file, bytes)).map_err(JobError::Workspace)
            }
            Self::OfRun { turn, .. } => files.iter().try_for_each(|(file, bytes)| {
                let path = TreePath::new(file.path.as_str());
                let path = path.map_err(|bad| JobError::Workspace(io::Error::other(bad)))?;
                turn.space().and_then(|space| space.place(&path, bytes)).map_err(|error| JobError::Seat(error.into()))
            }),
        }
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

/// Fetches what an action needs, each file checked against the digest that was approved.
pub(crate) async fn fetch(worker: &Worker, job: &Job, action: &Action) -> Result<Files, JobError> {
    let mut files = Vec::new();
    for file in &action.spec().files {
        let url = format!("/api/v1/projects/{}/evidence/{}", job.project, file.digest);
        let path = file.path.clone();
        match worker.config.client.get_bytes(&url).await {
            Ok(bytes) if Digest::of(&bytes) == file.digest => files.push((file.clone(), bytes)),
            Ok(_) => return Err(JobError::WrongFile { path }),
            Err(source) => return Err(JobError::Fetch { path, source }),
        }
    }
    Ok(files)
}

/// A directory of one attempt, removed with it.
#[derive(Debug)]
pub(crate) struct Fresh(PathBuf);

impl Fresh {
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
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a workspace was not removed");
        }
    }
}
