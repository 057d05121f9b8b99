//! Applies previewed changes to the lower: all of them or none, as far as a file system allows.
//!
//! ```text
//!  compare again ──► begin ──► stage ──► plan ──► apply, step by step ──► done ──► clean up
//!  same as           journal   copies,   journal  each step moves aside   journal
//!  previewed?                  flushed            what was there
//! ```
//!
//! Nothing is overwritten and nothing is unlinked before everything is in place: what was there is moved into the staging
//! directory, looked at again, and moved back if it is not what the preview showed. A crash before `done` is undone when
//! the run is opened again, a crash after it is finished.
//!
//! A reader of the lower can see some changes before others, for milliseconds; no file system offers more.

mod apply;
mod journal;
mod stage;
mod undo;

#[cfg(test)]
mod tests;

use journal::{Journal, State};
use rustix::fs::FlockOperation;

use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::layer::Layered;
use crate::layer::baseline::Baseline;
use crate::layer::changes::Changes;
use crate::layer::preview::{Compared, compare};
use crate::remove::remove_tree;

/// How the staging directory begins, where copies wait and where what was there is kept. It is in the lower itself, the
/// one place that is certain to be on its file system. Names that begin so are never promoted.
pub(crate) const STAGING: &[u8] = b".placet-promotion";

/// What was done about an interrupted promotion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovered {
    /// There was none.
    #[default]
    Nothing,
    /// The lower is as it was before.
    Undone,
    /// The lower has all changes.
    Finished,
}

/// Where a promotion stands; whoever watches may end the process there, and does in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Begun,
    Staged,
    Journaled,
    Applied(usize),
    Done,
    CleanedUp,
}

pub(crate) fn promote(
    layered: &Layered,
    baseline: &Baseline,
    previewed: &Changes,
    watch: &mut dyn FnMut(Point),
) -> Result<(), LayerError> {
    super::hold(&layered.lower, &layered.lower_path)?;
    let result = promote_held(layered, baseline, previewed, watch);
    // The descriptor stays open with the layers; another run may promote next.
    let released = rustix::fs::flock(&layered.lower, FlockOperation::Unlock);
    result.and(released.doing("release", layered.lower_path.display()))
}

fn promote_held(
    layered: &Layered,
    baseline: &Baseline,
    previewed: &Changes,
    watch: &mut dyn FnMut(Point),
) -> Result<(), LayerError> {
    let now = compare(&layered.read_upper()?, &layered.lower, baseline, layered.limits)?;
    if *previewed != now.changes {
        return Err(LayerError::Outdated(previewed.differing(&now.changes)));
    }
    let conflicts = previewed.conflicts();
    if !conflicts.is_empty() {
        return Err(LayerError::Conflicts(conflicts));
    }
    if is_unfinished(&layered.lower).doing("list", layered.lower_path.display())? {
        return Err(LayerError::Unfinished(layered.lower_path.clone()));
    }
    let journal = Journal::begin();
    journal.write(&layered.run)?;
    match stage_and_apply(layered, &now, &journal, watch) {
        Ok(()) => finish(layered, &journal)?,
        Err(error) => {
            take_back(layered, &journal)?;
            return Err(error);
        }
    }
    watch(Point::CleanedUp);
    Ok(())
}

fn stage_and_apply(
    layered: &Layered,
    now: &Compared,
    begun: &Journal,
    watch: &mut dyn FnMut(Point),
) -> Result<(), LayerError> {
    watch(Point::Begun);
    let (staging, steps) = stage::stage(layered, now, begun.staging_name())?;
    watch(Point::Staged);
    let planned = begun.plan(steps);
    planned.write(&layered.run)?;
    watch(Point::Journaled);
    apply::apply(&layered.lower, &staging, planned.steps(), watch)?;
    planned.done().write(&layered.run)?;
    watch(Point::Done);
    Ok(())
}

/// After an error: whatever the journal says by now.
fn take_back(layered: &Layered, begun: &Journal) -> Result<(), LayerError> {
    let journal = Journal::read(&layered.run, &layered.run_path)?.unwrap_or_else(|| begun.clone());
    undo_steps(layered, &journal)?;
    finish(layered, &journal)
}

fn undo_steps(layered: &Layered, journal: &Journal) -> Result<(), LayerError> {
    let staging = absent(layered.lower.dir(journal.staging_name())).doing("open", "the staging directory")?;
    match staging {
        Some(staging) => undo::undo(&layered.lower, &staging, journal.steps()),
        // It goes when everything is undone.
        None => Ok(()),
    }
}

/// Whether the directory holds what a promotion needs while it is at work.
pub(crate) fn is_unfinished(lower: &Dir) -> rustix::io::Result<bool> {
    Ok(lower.names()?.iter().any(|name| name.starts_with(STAGING)))
}

/// Finishes or undoes what an interrupted call left.
pub(crate) fn recover(layered: &Layered) -> Result<Recovered, LayerError> {
    let Some(journal) = Journal::read(&layered.run, &layered.run_path)? else { return Ok(Recovered::Nothing) };
    super::hold(&layered.lower, &layered.lower_path)?;
    let recovered = match journal.state() {
        State::Begun | State::Planned => {
            undo_steps(layered, &journal)?;
            Recovered::Undone
        }
        State::Done => Recovered::Finished,
    };
    finish(layered, &journal)?;
    rustix::fs::flock(&layered.lower, FlockOperation::Unlock).doing("release", "the lower")?;
    Ok(recovered)
}

/// The staging directory goes before the journal that explains it.
fn finish(layered: &Layered, journal: &Journal) -> Result<(), LayerError> {
    let trash = [journal.staging_name(), b"-done"].concat();
    let removed = remove_tree(&layered.lower, journal.staging_name(), &trash).and_then(|()| layered.lower.sync());
    removed.doing("remove the staging directory in", layered.lower_path.display())?;
    Journal::remove(&layered.run)
}
