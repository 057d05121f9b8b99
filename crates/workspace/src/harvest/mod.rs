//! Takes the commits of a run over into the real repository: those of one branch, checked, and nothing else.
//!
//! The run worked in a linked worktree whose common `.git` was layered, so everything git wrote is in that upper, and
//! everything else the run may have planted there too: hooks, settings, other branches, replacements, grafts.
//!
//! ```text
//!  upper ──► tip ──► quarantine ──► pack ──► strict check ──► connected? ──► into the repository ──► branch, index
//!            own     own code,      what the  in a second      nothing is     git index-pack          only from the
//!            code    objects only   branch    quarantine       missing                                expected value
//!                                   needs
//! ```
//!
//! Git never sees the upper. It runs with the real repository as its directory, and sees copies of object files in places
//! where it looks for objects. Until everything is checked, the real repository gets nothing.

mod intake;
mod objects;
mod quarantine;
mod tip;

use std::path::PathBuf;

use thiserror::Error;

use crate::difference::{Difference, DifferenceError, committed, lead_by_text};
use crate::error::{Doing, LayerError};
use crate::git::{Branch, Git, GitError, ObjectId};
use crate::layer::Layered;
use crate::path::TreePath;
use crate::repository::{CommitInfo, Repository};
use quarantine::Quarantine;

/// The most that is taken from one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HarvestLimits {
    /// Object files in the upper, and objects.
    pub objects: u64,
    /// One object, unpacked.
    pub object_bytes: u64,
    /// All objects together, as they are stored, and unpacked.
    pub total_bytes: u64,
    /// Each question to git.
    pub timeout_ms: u64,
}

impl Default for HarvestLimits {
    /// What large repositories take from anybody: objects up to the size that forges refuse.
    fn default() -> Self {
        Self { objects: 200_000, object_bytes: 100 << 20, total_bytes: 2 << 30, timeout_ms: 120_000 }
    }
}

/// Whether a branch may come to something that does not continue it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewriting {
    /// Every commit that was on it stays on it.
    #[default]
    Refused,
    /// The run may have amended or dropped commits.
    Allowed,
}

/// Why nothing was taken over. The branch and the index are as they were.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HarvestError {
    /// The run removed its own branch.
    #[error("the run left no branch `{0}`: there is nothing to take over")]
    BranchGone(Branch),
    /// The branch points to another one.
    #[error("the run made `{0}` a name for another branch, which is not followed")]
    Symbolic(Branch),
    /// Something that is not what git would have written.
    #[error("`{0}` in the run's repository is not what git writes")]
    NotPlain(String),
    /// Objects elsewhere.
    #[error("the run's repository takes objects from elsewhere (`objects/info/alternates`), which is not followed")]
    Alternates,
    /// Too large.
    #[error("the object `{id}` has {size_bytes} bytes unpacked, at most {limit_bytes} are taken")]
    ObjectTooLarge {
        /// Which one.
        id: String,
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Git found something wrong with the objects.
    #[error("the run's commits are refused: {0}")]
    Rejected(String),
    /// History would be lost.
    #[error("`{branch}` at {tip} does not continue {expected}: take it over with rewriting allowed, or not at all")]
    Rewritten {
        /// The branch.
        branch: Branch,
        /// Where it was when the run began.
        expected: ObjectId,
        /// Where the run left it.
        tip: ObjectId,
    },
    /// Whoever judges the commits does not want them.
    #[error("the run's commits are refused: {0}")]
    Refused(String),
    /// What the commits bring cannot be told.
    #[error(transparent)]
    Difference(#[from] Box<DifferenceError>),
    /// Somebody else moved the branch.
    #[error("`{branch}` is at {found} and not at {expected} any more: somebody else moved it")]
    Moved {
        /// The branch.
        branch: Branch,
        /// Where it was when the run began.
        expected: ObjectId,
        /// Where it is.
        found: String,
    },
    /// The worktree is not in a state that can be continued.
    #[error("the worktree `{git_dir}` {why}")]
    Worktree {
        /// Its private directory.
        git_dir: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A repository of a kind that is not read.
    #[error("the repository keeps its branches in a `reftable`, which is not read: use the `files` format")]
    Format,
    /// Git could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The upper could not be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

/// What was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Harvested {
    /// The run did not move its branch.
    Nothing,
    /// The branch is here now.
    Moved(ObjectId),
}

/// The commits of one run on its one branch.
#[derive(Debug)]
pub struct Harvest<'a> {
    layers: &'a Layered,
    branch: Branch,
    expected: ObjectId,
    worktree: Option<PathBuf>,
    files: Option<PathBuf>,
    rewriting: Rewriting,
    limits: HarvestLimits,
    git: Git,
}

/// Decides about commits before the branch moves: what they bring, file by file and commit by commit.
type Judge<'j> = &'j mut dyn FnMut(&[Difference], &[CommitInfo]) -> Result<(), String>;

impl<'a> Harvest<'a> {
    /// `layers` are those of the repository's common directory (`.git`). `expected` is where the branch was when the run
    /// began.
    pub fn new(layers: &'a Layered, branch: Branch, expected: ObjectId) -> Self {
        let (rewriting, limits) = (Rewriting::default(), HarvestLimits::default());
        let git = Git::new(layers.lower_path());
        Self { layers, branch, expected, worktree: None, files: None, rewriting, limits, git }
    }

    /// Git as it is run for this repository, with nothing of its settings left that starts a program.
    #[must_use]
    pub fn repository(mut self, repository: &Repository) -> Self {
        self.git = repository.git();
        self
    }

    /// The private directory of the linked worktree (`.git/worktrees/…`, the real one) whose index follows the branch.
    #[must_use]
    pub fn worktree(mut self, git_dir: impl Into<PathBuf>) -> Self {
        self.worktree = Some(git_dir.into());
        self
    }

    /// The files of that worktree, if they are on the host: those that changed in the second in which the index was last
    /// written are looked at, so that a newer index does not hide them.
    #[must_use]
    pub fn files(mut self, path: impl Into<PathBuf>) -> Self {
        self.files = Some(path.into());
        self
    }

    /// Whether the branch may come to something that does not continue it.
    #[must_use]
    pub fn rewriting(mut self, rewriting: Rewriting) -> Self {
        self.rewriting = rewriting;
        self
    }

    /// Limits instead of the usual ones.
    #[must_use]
    pub fn limits(mut self, limits: HarvestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the run left its branch, by its own word: nothing is checked yet.
    pub fn tip(&self) -> Result<ObjectId, HarvestError> {
        let lower = self.layers.lower_dir();
        if lower.look(&name(b"reftable")).doing("look at", "the repository")?.is_some() {
            return Err(HarvestError::Format);
        }
        let read = tip::read(&self.layers.upper()?, lower, &self.branch)?;
        Ok(read.unwrap_or_else(|| self.expected.clone()))
    }

    /// Takes the commits over and moves the branch. A call that was interrupted is finished by the next one.
    pub fn take(&self) -> Result<Harvested, HarvestError> {
        self.take_judged(None)
    }

    /// The same, if whoever judges says yes. They see every difference that the new commits bring, each commit on its
    /// own, from objects that were checked and are not in the repository yet. After a no, nothing has moved.
    pub fn take_if(
        &self,
        mut judge: impl FnMut(&[Difference], &[CommitInfo]) -> Result<(), String>,
    ) -> Result<Harvested, HarvestError> {
        self.take_judged(Some(&mut judge))
    }

    fn take_judged(&self, judge: Option<Judge<'_>>) -> Result<Harvested, HarvestError> {
        let tip = self.tip()?;
        let found = self.current()?;
        if tip == self.expected && found == tip.as_str() {
            return Ok(Harvested::Nothing);
        }
        self.check_worktree(&tip)?;
        if found == self.expected.as_str() {
            self.take_objects(&tip, judge)?;
            self.move_branch(&tip)?;
        } else if found != tip.as_str() {
            let (branch, expected) = (self.branch.clone(), self.expected.clone());
            return Err(HarvestError::Moved { branch, expected, found });
        }
        self.reset_index(&tip)?;
        Ok(Harvested::Moved(tip))
    }

    fn git(&self) -> Git {
        self.git.clone().timeout_ms(self.limits.timeout_ms)
    }

    /// Where the real branch is.
    fn current(&self) -> Result<String, HarvestError> {
        let printed = self.git().run(["rev-parse", "--verify", "--quiet", &self.branch.full()])?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    fn take_objects(&self, tip: &ObjectId, judge: Option<Judge<'_>>) -> Result<(), HarvestError> {
        let quarantine = Quarantine::new(self.layers.lower_dir(), self.layers.lower_path())?;
        let packs = objects::copy(&self.layers.upper()?, quarantine.found(), quarantine.owner(), &self.limits)?;
        let intake = intake::Intake { git: self.git(), quarantine: &quarantine, limits: &self.limits };
        let checked = intake.check(tip, &packs)?;
        if self.rewriting == Rewriting::Refused && !intake.continues(&checked, tip, &self.expected)? {
            let (branch, expected) = (self.branch.clone(), self.expected.clone());
            return Err(HarvestError::Rewritten { branch, expected, tip: tip.clone() });
        }
        if let Some(judge) = judge {
            let (mut list, commits) = committed(&intake.incoming(), &self.expected, tip).map_err(Box::new)?;
            lead_by_text(&mut list);
            judge(&list, &commits).map_err(HarvestError::Refused)?;
        }
        intake.accept(&checked)
    }

    /// The one write to a branch: this one, from the value it must have.
    fn move_branch(&self, tip: &ObjectId) -> Result<(), HarvestError> {
        let (full, reason) = (self.branch.full(), "placet: commits of a run");
        let arguments = ["update-ref", "--no-deref", "-m", reason, &full, tip.as_str(), self.expected.as_str()];
        self.git().run(arguments)?;
        Ok(())
    }

    /// The index must hold what the branch held: what somebody else added to it would be lost.
    fn check_worktree(&self, tip: &ObjectId) -> Result<(), HarvestError> {
        let Some(git_dir) = &self.worktree else { return Ok(()) };
        let git = self.git().at(git_dir);
        let refuse = |why| Err(HarvestError::Worktree { git_dir: git_dir.clone(), why });
        let head = git.run(["symbolic-ref", "--quiet", "HEAD"])?;
        if String::from_utf8_lossy(&head).trim() != self.branch.full() {
            return refuse("has another branch checked out");
        }
        let holds = |id: &ObjectId| git.ask(["diff-index", "--cached", "--quiet", id.as_str()]);
        let finished = self.current()? == tip.as_str() && holds(tip)?;
        if finished || holds(&self.expected)? {
            Ok(())
        } else {
            refuse("has changes in its index: commit or reset them")
        }
    }

    /// The index alone: no file of the worktree is written, and no filter for one is run. What is known about files that
    /// stay the same is kept, or git would read all of them again.
    fn reset_index(&self, tip: &ObjectId) -> Result<(), HarvestError> {
        let Some(git_dir) = &self.worktree else { return Ok(()) };
        let git = self.git().at(git_dir);
        let git = match &self.files {
            Some(files) => git.work_tree(files),
            None => git,
        };
        git.run(["read-tree", "-i", "-m", tip.as_str()])?;
        Ok(())
    }
}

fn name(bytes: &'static [u8]) -> TreePath {
    TreePath::new(bytes).expect("a plain name is a path")
}
