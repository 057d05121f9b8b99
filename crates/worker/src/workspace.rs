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

/// The workspace of a hosted run, for one action of it.
#[derive(Debug)]
pub(crate) struct OfRun {
    layers: Layers,
    upper: PathBuf,
    turn: Turn,
    /// What the run may change.
    scope: Scope,
    /// What mounts keep of that.
    rules: Rules,
    /// Files outside of the scope that the action was given: they are not the run's.
    lent: BTreeSet<TreePath>,
}

/// An action's files, each with what was approved as its content.
pub(crate) type Files = Vec<(FileOperand, Bytes)>;

impl Workspace {
    pub(crate) fn fresh(scratch: &Path, job: &Job) -> Result<Self, JobError> {
        Fresh::make(scratch, job).map(Self::Fresh).map_err(JobError::Workspace)
    }

    /// The run's own, once nobody else works in it. What its scope does not allow is read-only in the cage.
    pub(crate) async fn of_run(seat: &Seat, scope: Scope) -> Result<Self, JobError> {
        let mut turn = seat.turn().await;
        let space = turn.relied_on()?;
        let (layers, upper) = (Layers::new(space.base(), space.upper(), space.work()), space.upper());
        // What an action left that ended with its worker, before it was settled.
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

    /// What the action may do where.
    pub(crate) fn rules(&self) -> Rules {
        match self {
            Self::Fresh(_) => Rules::writable(),
            Self::OfRun(of_run) => of_run.rules.clone(),
        }
    }

    /// After the action: undoes what it changed outside of the scope of its run, and names it.
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
    /// A file outside of the scope is lent to the action, and takes the place of nothing.
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

    /// The content of a file of the workspace, by its digest.
    fn there(&mut self, path: &TreePath, name: &str) -> Result<Option<Digest>, JobError> {
        let space = self.turn.space().map_err(of_space)?;
        let made = space.outputs(|output| output == path).map_err(of_space)?;
        Ok(match made.first() {
            Some(output) => Some(Digest::from_bytes(*output.digest.as_bytes())),
            None if space.missing(std::slice::from_ref(path)).map_err(of_space)?.is_empty() => {
                // We laid it there ourselves, and nobody writes below the layers.
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
