//! The way back to a snapshot, in one step for workspace and memory.
//!
//! ```text
//!  what differs? ──► prepare it beside ──► journal ──► exchange, path by path ──► look again ──► the old goes
//! ```
//!
//! Only what differs is touched: going back costs what the run did since, not what it has. Everything that is put in
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
mod recover;
mod stage;

use std::collections::HashMap;

use rustix::io::Errno;

pub(super) use journal::Part;
pub(super) use recover::recover;

use super::error::SpaceError;
use super::index::{Stamp, boot};
use super::make::Maker;
use super::scan::{Content, Scan, Trust, scan};
use super::snapshot::{Saved, SnapshotRecord};
use super::{Space, files};
use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;
use after::After;
use apply::Ground;
use journal::{Journal, Step, Touched};
use plan::Plan;
use stage::Stage;

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
    let trees = Trees::open(space)?;
    let live = trees.scan(space, Some(&saved))?;
    let journal = match trees.prepare(space, &saved, &live) {
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
    finish(space, &trees, &journal, watch)?;
    let stamps = trees.look_again(space, &saved, &live, &journal)?;
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

fn finish(space: &Space, trees: &Trees, journal: &Journal, watch: &mut dyn FnMut(Point)) -> Result<(), SpaceError> {
    let held = space.dir.dir(RESTORE).and_then(|restoring| restoring.dir(HELD)).doing("open", "the rollback")?;
    let ground = Ground { workspace: &trees.workspace, memory: &trees.memory, held: &held };
    journal.touched.iter().try_for_each(|touched| ground.open(touched))?;
    for (position, step) in journal.steps.iter().enumerate() {
        ground.take(step)?;
        watch(Point::Stepped(position));
    }
    let objects = space.objects()?;
    for touched in journal.touched.iter().rev() {
        let maker = Maker { objects: &objects, owner: trees.owner(touched.part)?, number: 0 };
        ground.touch(touched, &maker)?;
    }
    watch(Point::Touched);
    Ok(())
}

/// Both live trees.
pub(super) struct Trees {
    workspace: Dir,
    memory: Dir,
}

/// Both of them as they are now.
pub(super) struct Live {
    pub(super) workspace: Scan,
    pub(super) memory: Scan,
}

impl Trees {
    pub(super) fn open(space: &Space) -> Result<Self, SpaceError> {
        Ok(Self { workspace: space.tree(Part::Workspace)?, memory: space.tree(Part::Memory)? })
    }

    /// Reads both as far as they are not known. A snapshot that was read already need not be read again for that.
    pub(super) fn scan(&self, space: &Space, at_hand: Option<&Saved>) -> Result<Live, SpaceError> {
        let known = space.known(at_hand);
        let trust = known.as_ref().map_or(Trust::Nothing(None), Trust::Stamps);
        let workspace = scan(&self.workspace, trust, Content::Named, space.limits)?;
        let memory = scan(&self.memory, Trust::Nothing(None), Content::Named, space.limits)?;
        Ok(Live { workspace, memory })
    }

    fn owner(&self, part: Part) -> Result<Owner, SpaceError> {
        let root = match part {
            Part::Workspace => &self.workspace,
            Part::Memory => &self.memory,
        };
        Ok(Owner::of(&root.own_stat().doing("look at", "the root of the tree")?))
    }

    /// Compares what is in place now with what was wanted, and tells how the files of the workspace are known again.
    fn look_again(
        &self,
        space: &Space,
        saved: &Saved,
        live: &Live,
        journal: &Journal,
    ) -> Result<Vec<Option<Stamp>>, SpaceError> {
        let limits = space.limits;
        let of = |part, root, live, wanted| After::new(part, journal).stamps(root, live, wanted, limits);
        of(Part::Memory, &self.memory, &live.memory, &saved.memory)?;
        of(Part::Workspace, &self.workspace, &live.workspace, &saved.workspace)
    }

    fn prepare(&self, space: &Space, saved: &Saved, live: &Live) -> Result<Journal, SpaceError> {
        let restoring = space.dir.make(RESTORE).doing("make room for", "the rollback")?;
        let held = restoring.make(HELD).doing("make room for", "the rollback")?;
        let (objects, mut next) = (space.objects()?, 0);
        let (mut steps, mut all_touched) = (Vec::new(), Vec::new());
        let parts = [
            (Part::Workspace, &self.workspace, &live.workspace, &saved.workspace),
            (Part::Memory, &self.memory, &live.memory, &saved.memory),
        ];
        for (part, root, live, wanted) in parts {
            let maker = Maker { objects: &objects, owner: self.owner(part)?, number: saved.number };
            let plan = Plan::new(live, wanted);
            let mut stage = Stage { part, maker, live: root, wanted, held: &held, made: HashMap::new() };
            let staged: Vec<Step> = stage.steps(&plan, &mut next)?;
            steps.extend(staged);
            let touched = plan.touched.into_iter();
            all_touched.extend(touched.map(|(path, meta)| Touched { part, path, meta: meta.clone() }));
        }
        let (number, state) = (saved.number, saved.record.state());
        Ok(Journal { boot: boot(), number, state, steps, touched: all_touched })
    }
}
