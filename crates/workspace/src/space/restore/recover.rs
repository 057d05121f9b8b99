//! What becomes of a rollback that was interrupted. Before its journal nothing was changed, and it is undone; after it, the
//! steps that are left are taken, and everything is looked at: nobody knows what the process that began did last.
//!
//! One that cannot be finished keeps nobody from rolling back again, and everybody from anything else.

use super::super::error::SpaceError;
use super::super::index::boot;
use super::super::snapshot::Saved;
use super::super::{Space, files};
use super::journal::Journal;
use super::{JOURNAL, RESTORE, Recovery, Trees, finish, set_aside};
use crate::dir::absent;
use crate::error::Doing;
use crate::remove::remove_tree;

/// Says that the live trees are no state that ever was; gone with the next rollback that succeeds.
const DISTURBED: &[u8] = b"disturbed";

/// Does what is left of a rollback that was interrupted.
pub(in crate::space) fn recover(space: &Space) -> Result<Recovery, SpaceError> {
    let recovery = match absent(space.dir.dir(RESTORE)).doing("open", "the rollback")? {
        None => Recovery::Nothing,
        Some(restoring) => {
            let bytes = files::read(&restoring, JOURNAL)?;
            let journal: Option<Journal> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            match journal.filter(|journal| journal.boot == boot()) {
                Some(journal) => return finish_again(space, &journal),
                None => discard(space).map(|()| Recovery::Undone)?,
            }
        }
    };
    let is_disturbed = absent(space.dir.stat(DISTURBED)).doing("look at", "the space")?.is_some();
    Ok(if is_disturbed { Recovery::Disturbed } else { recovery })
}

fn finish_again(space: &Space, journal: &Journal) -> Result<Recovery, SpaceError> {
    finish(space, journal, &mut |_| {})?;
    let saved = Saved::load(space, journal.number)?;
    let live = Trees::open(space)?.scan(space, Some(&saved))?;
    let is_same = live.workspace.tree == saved.workspace && live.memory.tree == saved.memory;
    if !is_same || saved.record.state() != journal.state {
        return Ok(Recovery::Disturbed);
    }
    space.remember(journal.number, saved.record.workspace, live.workspace.stamps)?;
    end(space)?;
    Ok(Recovery::Finished)
}

/// Makes room for a rollback, whatever an earlier one left.
pub(super) fn begin(space: &Space) -> Result<(), SpaceError> {
    match recover(space) {
        Ok(Recovery::Nothing | Recovery::Undone | Recovery::Finished | Recovery::MachineRestarted) => {}
        // What it could not do, the next one does; until then the trees are neither what was nor what was to be.
        Ok(Recovery::Disturbed) | Err(_) => files::replace(&space.dir, DISTURBED, b"")?,
    }
    discard(space)
}

/// Everything is as it was to be.
pub(super) fn end(space: &Space) -> Result<(), SpaceError> {
    absent(space.dir.unlink(DISTURBED)).doing("remove", "the note on an earlier rollback")?;
    set_aside(space)
}

/// Removes what was prepared.
pub(super) fn discard(space: &Space) -> Result<(), SpaceError> {
    Ok(remove_tree(&space.dir, RESTORE, super::super::TRASH).doing("remove", "what a rollback left")?)
}
