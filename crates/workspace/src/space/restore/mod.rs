//! The way back to a snapshot, in one step for workspace and memory.
//!
//! ```text
//!  what differs? ──► prepare it beside ──► journal ──► exchange, path by path ──► look again ──► the old goes
//! ```
//!
//! Only what differs is touched: going back costs what the run did since, not what it has. A tree in which there is more
//! than is looked at, or that cannot be read, is replaced as a whole. Everything that is put in
//! place is prepared and checked before; up to the journal nothing live was touched, and a crash leaves everything as it
//! was. With the journal written, opening the space again takes the steps that are left. No cage can run in between:
//! the lock that cages need is held, and a space is opened before it is used.
//!
//! Nothing is flushed: the kernel does not flush what cages write either. After a restart of the machine live trees are
//! not to be relied on, and a rollback then reads and compares everything.

mod after;
mod apply;
mod journal;
mod plan;
mod prepare;
mod recover;
mod stage;
mod trees;

use rustix::io::Errno;

pub(super) use journal::Part;
pub(super) use recover::recover;
pub(super) use trees::{Live, Trees};

use super::error::SpaceError;
use super::index::Stamp;
use super::scan::Scan;
use super::snapshot::{Saved, SnapshotRecord};
use super::{Space, files};
use crate::error::Doing;
use after::After;
use apply::Ground;
use journal::Journal;

const RESTORE: &[u8] = b"restore";
const HELD: &[u8] = b"held";
const JOURNAL: &[u8] = b"journal";

/// What a rollback did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Paths that were put, taken or exchanged, each with all that is below it.
    pub paths: u64,
}

/// What was done when the space was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing was interrupted.
    #[default]
    Nothing,
    /// A snapshot or rollback had begun and had changed nothing; what it left is gone.
    Undone,
    /// A rollback had begun to change things; it was finished, and everything is as the snapshot has it.
    Finished,
    /// A rollback had begun to change things and could not be finished, or something is not as the snapshot has it. Until
    /// it is rolled back again, to whichever snapshot, nothing else is done.
    Disturbed,
    /// The machine was started anew since the space was last used: what cages wrote may not have reached the disk. Roll
    /// back to a snapshot before going on.
    MachineRestarted,
}

/// Where a rollback stands; whoever watches may end the process there, and does in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Prepared,
    Journaled,
    Stepped(usize),
    Touched,
    CleanedUp,
}

pub(super) fn restore(
    space: &Space,
    number: u64,
    expected: &SnapshotRecord,
    watch: &mut dyn FnMut(Point),
) -> Result<Restored, SpaceError> {
    let saved = Saved::load(space, number)?;
    saved.check(expected)?;
    recover::begin(space)?;
    let live = Trees::open(space)?.look(space, &saved);
    let journal = match prepare::prepare(space, &saved, &live) {
        Ok(journal) => journal,
        Err(error) => {
            recover::discard(space)?;
            return Err(error);
        }
    };
    watch(Point::Prepared);
    let bytes = serde_json::to_vec(&journal).map_err(SpaceError::unwritable)?;
    let restoring = space.dir.dir(RESTORE).doing("open", "the rollback")?;
    files::replace(&restoring, JOURNAL, &bytes)?;
    watch(Point::Journaled);
    finish(space, &journal, watch)?;
    let stamps = look_again(space, &saved, &live, &journal)?;
    space.remember(number, saved.record.workspace, stamps)?;
    recover::end(space)?;
    watch(Point::CleanedUp);
    Ok(Restored { paths: journal.steps.len() as u64 })
}

/// Takes what was there before out of the way, journal included, in one step. It is removed when there is time: on a busy
/// disk, removing takes longer than everything else.
fn set_aside(space: &Space) -> Result<(), SpaceError> {
    let heap = match space.dir.make(super::REPLACED) {
        Err(Errno::EXIST) => space.dir.dir(super::REPLACED),
        made => made,
    };
    let heap = heap.doing("make room for", "what was there before")?;
    let taken = heap.names().doing("list", "what was there before")?.len();
    // Names count up and all go together, so the next one is free.
    let moved = space.dir.move_to(RESTORE, &heap, taken.to_string().as_bytes());
    Ok(moved.doing("set aside", "what was there before")?)
}

fn finish(space: &Space, journal: &Journal, watch: &mut dyn FnMut(Point)) -> Result<(), SpaceError> {
    let held = space.dir.dir(RESTORE).and_then(|restoring| restoring.dir(HELD)).doing("open", "the rollback")?;
    let (trees, others): (Vec<_>, Vec<_>) = journal.steps.iter().partition(|step| step.path.is_none());
    for step in &trees {
        apply::take_tree(space, &held, step)?;
    }
    let mut ground = Ground { trees: Trees::open(space)?, held: &held };
    journal.touched.iter().try_for_each(|touched| ground.open(touched))?;
    for (position, step) in others.into_iter().enumerate() {
        ground.take(step)?;
        watch(Point::Stepped(position));
    }
    let objects = space.objects()?;
    journal.touched.iter().rev().try_for_each(|touched| ground.touch(touched, &objects))?;
    watch(Point::Touched);
    Ok(())
}

/// Compares what is in place now with what was wanted, and tells how the files of the workspace are known again.
fn look_again(
    space: &Space,
    saved: &Saved,
    live: &Live<Option<Scan>>,
    journal: &Journal,
) -> Result<Vec<Option<Stamp>>, SpaceError> {
    let trees = Trees::open(space)?;
    let of = |part, live: &Option<Scan>, wanted| {
        After::new(part, journal).stamps(trees.root(part), live.as_ref(), wanted, space.limits)
    };
    of(Part::Memory, &live.memory, &saved.memory)?;
    of(Part::Workspace, &live.workspace, &saved.workspace)
}
