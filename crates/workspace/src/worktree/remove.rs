//! Removing a worktree: never with work in it that is nowhere else, unless exactly that work was named.

use std::fmt;

use super::{Kind, Worktree, WorktreeError, is_work};
use crate::difference::{DifferenceError, Origin};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::ObjectId;
use crate::layer::upper::{Shape, shapes};
use crate::path::TreePath;

/// Work that is in no commit of the repository.
///
/// Files that rules ignore do not count: builds make them anew. Nor does what the worktree was given. Commits on the branch do not count either: the branch
/// stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsaved {
    /// Files that differ from the branch.
    pub files: Vec<TreePath>,
    /// Files in an upper that was not promoted.
    pub unpromoted: Vec<TreePath>,
    /// Where a cage left the branch, if that was not harvested.
    pub unharvested: Option<ObjectId>,
}

impl Unsaved {
    /// Whether nothing would be lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unpromoted.is_empty() && self.unharvested.is_none()
    }
}

impl fmt::Display for Unsaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files.len() + self.unpromoted.len();
        write!(f, "{files} files")?;
        if let Some(first) = self.files.first().or(self.unpromoted.first()) {
            write!(f, " (first `{first}`)")?;
        }
        match &self.unharvested {
            Some(tip) => write!(f, ", commits up to {tip} that were not harvested"),
            None => Ok(()),
        }
    }
}

/// What may be lost when a worktree goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Losing {
    /// Nothing: with unsaved work in it, it stays.
    Nothing,
    /// This, and nothing else: what came since keeps it.
    Exactly(Unsaved),
}

impl Worktree {
    /// Work in it that is nowhere else.
    pub fn unsaved(&self) -> Result<Unsaved, DifferenceError> {
        let tip = self.tip()?;
        let differences = self.without_given(self.differences(&tip)?)?;
        let counts = |origin| matches!(origin, Origin::Staged | Origin::Unstaged | Origin::Untracked);
        let mut files: Vec<TreePath> = differences
            .iter()
            .filter(|each| counts(each.origin) && is_work(&each.path))
            .map(|each| each.path.clone())
            .collect();
        files.sort();
        files.dedup();
        let unpromoted = match self.kind() {
            Kind::Plain => self.unpromoted()?,
            Kind::Layered => Vec::new(),
        };
        let left =
            self.commits().map_err(WorktreeError::from).and_then(|commits| Ok(self.harvest(&commits)?.tip().ok()))?;
        Ok(Unsaved { files, unpromoted, unharvested: left.filter(|left| *left != tip) })
    }

    fn unpromoted(&self) -> Result<Vec<TreePath>, DifferenceError> {
        let upper = self.cage().upper;
        let upper = Dir::open(&upper).doing("open", upper.display())?;
        let shapes = shapes(&upper)?.into_iter();
        Ok(shapes.filter(|(_, shape)| !matches!(shape, Shape::Directory { .. })).map(|(path, _)| path).collect())
    }

    /// Removes it with everything in it, unless that would lose more than was said. Its branch stays if it has commits of
    /// its own.
    pub fn remove(self, losing: &Losing) -> Result<(), WorktreeError> {
        let unsaved = self.unsaved().map_err(Box::new)?;
        let allowed = match losing {
            Losing::Nothing => unsaved.is_empty(),
            Losing::Exactly(named) => unsaved.is_empty() || *named == unsaved,
        };
        if !allowed {
            return Err(WorktreeError::Unsaved { name: self.name().clone(), unsaved });
        }
        self.erase()
    }
}
