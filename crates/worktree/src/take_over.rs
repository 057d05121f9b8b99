//! TAKE OVER: what a command did in its cage comes out, or does not, as a whole.
//!
//! Commits come through the harvest, files of a plain worktree through promotion; both are judged by the manifest first,
//! although the kernel has kept it already. What is refused stays in the layers, where the next command finds it and may
//! set it right.

use placet_domain::scope::Glob;
use placet_domain::worktree::Manifest;
use placet_workspace::harvest::{HarvestError, Harvested};
use placet_workspace::layer::{Baseline, Changes, Layered};
use placet_workspace::worktree::Kind;
use placet_workspace::{CommitInfo, Difference, LayerError, ObjectId, RepositoryError, Worktree, WorktreeError};

use crate::check::{bad_commit, unfit};
use crate::commit_form::CommitForm;
use crate::own;

#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error(transparent)]
    Harvest(#[from] HarvestError),
    #[error(transparent)]
    Layer(#[from] LayerError),
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("nothing was taken over: {0}; it is kept in the worktree's layers until it is put right")]
    OutOfScope(String),
    #[error(
        "nothing was taken over: the clock of the file system was set back while the command ran, so changes of others cannot be told; run \
         another command, which takes it over"
    )]
    ClockSetBack,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub from: ObjectId,
    pub to: ObjectId,
    pub commits: u64,
    /// Files that changed in a plain worktree.
    pub files: usize,
    /// How much more room they take; nothing, if what changed does not tell.
    grown_bytes: Option<i64>,
}

/// How much more room something takes than before.
fn grown(before: Option<u64>, after: Option<u64>) -> Option<i64> {
    after?.checked_signed_diff(before?)
}

/// What is known of a worktree before a command runs in it, so that what others change meanwhile is noticed.
#[derive(Debug)]
pub struct Before<'a> {
    worktree: &'a Worktree,
    manifest: &'a Manifest,
    exempted: &'a [Glob],
    form: &'a CommitForm,
    tip: ObjectId,
    baseline: Option<Baseline>,
}

impl<'a> Before<'a> {
    pub fn record(
        worktree: &'a Worktree,
        manifest: &'a Manifest,
        exempted: &'a [Glob],
        form: &'a CommitForm,
    ) -> Result<Self, TakeOverError> {
        let baseline = match worktree.kind() {
            Kind::Plain => Some(worktree.baseline()?),
            Kind::Layered => None,
        };
        Ok(Self { worktree, manifest, exempted, form, tip: worktree.tip()?, baseline })
    }

    /// Takes the work over. The cage must have ended.
    pub fn take(&self) -> Result<Taken, TakeOverError> {
        let previewed = self.preview()?;
        let (to, commits) = self.harvest()?;
        let (mut files, mut grown_bytes) = (0, Some(0));
        if let Some((layered, baseline, changes)) = previewed {
            files = changes.len();
            let before = self.worktree.room_of(&changes)?;
            layered.promote(baseline, &changes)?;
            layered.discard()?;
            grown_bytes = grown(before, self.worktree.room_of(&changes)?);
            // Where nothing moved, the index knows every file already.
            if files > 0 || commits > 0 {
                self.worktree.refresh()?;
            }
        }
        Ok(Taken { from: self.tip.clone(), to, commits, files, grown_bytes })
    }

    /// Records the worktree's disk usage without inspecting every file again, from the last measured size and the changes of the command. A
    /// refused command changed nothing.
    pub fn note_room(&self, taken: Option<&Taken>) -> Result<u64, TakeOverError> {
        let before = self.worktree.measured_files();
        let grown = taken.map_or(Some(0), |taken| taken.grown_bytes);
        Ok(match (before, grown) {
            (Some(before), Some(grown)) => self.worktree.measure_beside(before.saturating_add_signed(grown))?,
            (_, _) => self.worktree.measure()?,
        })
    }

    /// What would be promoted, every path of it in scope. The upper of a layered worktree stays where it is.
    fn preview(&self) -> Result<Option<(Layered, &Baseline, Changes)>, TakeOverError> {
        let Some(baseline) = &self.baseline else { return Ok(None) };
        if !self.worktree.relies_on(baseline)? {
            return Err(TakeOverError::ClockSetBack);
        }
        let layered = self.worktree.files()?;
        let changes = layered.preview(baseline)?;
        for change in changes.iter() {
            self.allowed(change.path().as_bytes()).map_err(TakeOverError::OutOfScope)?;
        }
        Ok(Some((layered, baseline, changes)))
    }

    fn harvest(&self) -> Result<(ObjectId, u64), TakeOverError> {
        let layered = self.worktree.commits()?;
        let harvested = self.worktree.harvest(&layered)?.take_if(|differences, commits| {
            commits.iter().try_for_each(|commit| self.takes_commit(commit))?;
            differences.iter().try_for_each(|difference| self.takes(difference))
        })?;
        let Harvested::Moved(to) = harvested else { return Ok((self.tip.clone(), 0)) };
        let commits = self.worktree.repository().commits(&self.tip, &to)?.len() as u64;
        // The real repository has it all now, and the layer would hide what others do there.
        layered.discard()?;
        Ok((to, commits))
    }

    /// Once it is on the branch, a message is not changed any more: one that slipped past the hook is told while it can be.
    fn takes_commit(&self, commit: &CommitInfo) -> Result<(), String> {
        match bad_commit(commit, self.form) {
            Some(bad) => Err(format!("{}: {}", &bad.commit[..12], bad.because)),
            None => Ok(()),
        }
    }

    /// The same questions as the scope-check asks: both names of what was renamed, and what stands there now.
    fn takes(&self, difference: &Difference) -> Result<(), String> {
        let mut names = [Some(&difference.path), difference.old_path.as_ref()].into_iter().flatten();
        names.try_for_each(|path| self.allowed(path.as_bytes()))?;
        match unfit(difference) {
            Some(because) => Err(format!("`{}`: {because}", difference.path)),
            None => Ok(()),
        }
    }

    /// Whether a path lies in the scope.
    fn allowed(&self, path: &[u8]) -> Result<(), String> {
        let shown = || placet_domain::text::spelled_out(&String::from_utf8_lossy(path));
        let Ok(scope_path) = placet_domain::scope::ScopePath::new(path) else {
            return Err(format!("`{}` is no name for a file of a worktree", shown()));
        };
        if own::is_known(path) {
            return Err(format!("`{}` belongs to the runtime", shown()));
        }
        if placet_secrets::is_env_file(path) {
            return Err(format!("`{}` is an environment file", shown()));
        }
        if self.manifest.judge(self.exempted, &scope_path).is_allowed() {
            return Ok(());
        }
        Err(format!("`{}` is outside of the agent's scope", shown()))
    }
}
