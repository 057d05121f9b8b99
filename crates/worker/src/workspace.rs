//! WORKSPACE: where an action works. Usually a fresh directory that is gone afterwards; for an action of a run that is hosted here, the
//! run's own files, which are one action's at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::proposal::{Action, FileOperand};
use placet_domain::scope::Scope;
use placet_sandbox::{Layers, Rules};
use placet_wire::api::Job;
use placet_wire::endpoint::FetchEvidence;
use placet_workspace::TreePath;
use placet_workspace::space::SpaceError;

use crate::fence;
use crate::host::{Seat, Turn};
use crate::job::JobError;
use crate::lease::Worker;

/// The workspace of one attempt.
#[derive(Debug)]
pub(crate) enum Workspace {
    Fresh(Fresh),
    /// Layers above what was given to the run. Held until the attempt is over.
    OfRun(Box<OfRun>),
}

/// Workspace of a hosted run, for one of its actions.
#[derive(Debug)]
pub(crate) struct OfRun {
    layers: Layers,
    upper: PathBuf,
    turn: Turn,
    /// Paths that the run may change.
    scope: Scope,
    /// The part of the scope that mounts enforce.
    rules: Rules,
    /// Files outside of the scope that are lent to the action; they do not belong to the run.
    lent: BTreeSet<TreePath>,
}

/// An action's files, each with what was approved as its content.
pub(crate) type Files = Vec<(FileOperand, Bytes)>;

impl Workspace {
    pub(crate) fn fresh(scratch: &Path, job: &Job) -> Result<Self, JobError> {
        Fresh::make(scratch, job).map(Self::Fresh).map_err(JobError::Workspace)
    }

    /// Waits until no other action uses the run's workspace, then opens it. Paths outside of the scope are read-only in the cage.
    pub(crate) async fn of_run(seat: &Seat, scope: Scope) -> Result<Self, JobError> {
        let mut turn = seat.turn().await;
        let space = turn.relied_on()?;
        let (layers, upper) = (Layers::new(space.base(), space.upper(), space.work()), space.upper());
        // Changes left by an action whose worker ended before it settled them.
        let left: Vec<TreePath> = fence::outside(&scope, space.changed_paths().map_err(of_space)?).collect();
        space.undo(&left).map_err(of_space)?;
        let rules = fence::rules(&scope, &space.base()).map_err(JobError::Workspace)?;
        Ok(Self::OfRun(Box::new(OfRun { layers, upper, turn, scope, rules, lent: BTreeSet::new() })))
    }

    /// The first of these files that would take the place of other content in the workspace of a run.
    pub(crate) fn written_over(&mut self, files: &Files) -> Result<Option<String>, JobError> {
        let Self::OfRun(of_run) = self else { return Ok(None) };
        for (file, _) in files {
            if of_run.there(&tree_path(file)?, &file.path)?.is_some_and(|there| there != file.digest) {
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
            Self::OfRun(of_run) => files.iter().try_for_each(|(file, bytes)| of_run.place(file, bytes)),
        }
    }

    /// Mount rules for the action.
    pub(crate) fn rules(&self) -> Rules {
        match self {
            Self::Fresh(_) => Rules::writable(),
            Self::OfRun(of_run) => of_run.rules.clone(),
        }
    }

    /// Undoes the action's changes outside of the run's scope and returns their paths.
    pub(crate) fn settle(&mut self) -> Result<Vec<TreePath>, JobError> {
        match self {
            Self::Fresh(_) => Ok(Vec::new()),
            Self::OfRun(of_run) => of_run.settle().map_err(of_space),
        }
    }

    pub(crate) fn in_cage(&self) -> placet_sandbox::Workspace {
        match self {
            Self::Fresh(fresh) => fresh.0.as_path().into(),
            Self::OfRun(of_run) => of_run.layers.clone().into(),
        }
    }

    /// Where what the action wrote can be read.
    pub(crate) fn outputs(&self) -> &Path {
        match self {
            Self::Fresh(fresh) => &fresh.0,
            Self::OfRun(of_run) => &of_run.upper,
        }
    }
}

impl OfRun {
    /// Places a file for the action. One outside of the scope is only lent and never replaces an existing file.
    fn place(&mut self, file: &FileOperand, bytes: &[u8]) -> Result<(), JobError> {
        let path = tree_path(file)?;
        if fence::is_outside(&self.scope, &path) {
            match self.there(&path, &file.path)? {
                Some(there) if there == file.digest => return Ok(()),
                Some(_) => return Err(JobError::OutsideScope { path: file.path.clone() }),
                None => drop(self.lent.insert(path.clone())),
            }
        }
        self.turn.space().and_then(|space| space.place(&path, bytes)).map_err(of_space)
    }

    /// Returns the digest of a file in the workspace.
    fn there(&mut self, path: &TreePath, name: &str) -> Result<Option<Digest>, JobError> {
        let space = self.turn.space().map_err(of_space)?;
        let made = space.outputs(|output| output == path).map_err(of_space)?;
        Ok(match made.first() {
            Some(output) => Some(Digest::from_bytes(*output.digest.as_bytes())),
            None if space.missing(std::slice::from_ref(path)).map_err(of_space)?.is_empty() => {
                // This worker placed the file there, and no run writes below the layers.
                fs::read(space.base().join(name)).ok().map(|bytes| Digest::of(&bytes))
            }
            None => None,
        })
    }

    fn settle(&mut self) -> Result<Vec<TreePath>, SpaceError> {
        let space = self.turn.space()?;
        let changed: Vec<TreePath> = fence::outside(&self.scope, space.changed_paths()?).collect();
        space.undo(&changed)?;
        Ok(changed.into_iter().filter(|path| !self.lent.contains(path)).collect())
    }
}

fn tree_path(file: &FileOperand) -> Result<TreePath, JobError> {
    TreePath::new(file.path.as_str()).map_err(|bad| JobError::Workspace(io::Error::other(bad)))
}

fn of_space(error: SpaceError) -> JobError {
    JobError::Seat(error.into())
}

/// Fetches what an action needs, each file checked against the digest that was approved.
pub(crate) async fn fetch(worker: &Worker, job: &Job, action: &Action) -> Result<Files, JobError> {
    let mut files = Vec::new();
    for file in &action.spec().files {
        let content = FetchEvidence { project: job.project, digest: file.digest };
        let path = file.path.clone();
        match worker.config.client.get_bytes(content).await {
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
