//! What is done when a space is opened after something was interrupted, and what is removed because nothing needs it.

use std::collections::HashSet;

use super::entry::Entry;
use super::error::SpaceError;
use super::prove::SCRATCH;
use super::restore::{self, Recovery};
use super::snapshot::{self, Saved};
use super::{BOOT, INDEX, REPLACED, SNAPSHOTS, Space, TRASH, files, index};
use crate::dir::absent;
use crate::error::Doing;
use crate::remove::remove_tree;

impl Space {
    pub(super) fn recover(&self) -> Result<Recovery, SpaceError> {
        let _held = self.hold()?;
        let snapshots = self.dir.dir(SNAPSHOTS).doing("open", "the snapshots")?;
        for (dir, left) in [(&self.dir, TRASH), (&snapshots, TRASH)] {
            remove_tree(dir, left, b".placet-trash-of-trash").doing("remove", "what was on its way out")?;
        }
        // Whoever cannot open a space cannot roll back again either.
        let rollback = restore::recover(self).unwrap_or(Recovery::Disturbed);
        self.tidy()?;
        let unfinished = self.discard_unfinished()?;
        if rollback == Recovery::Disturbed {
            return Ok(rollback);
        }
        if files::read(&self.dir, BOOT)?.as_deref() != Some(index::boot().as_bytes()) {
            return Ok(Recovery::MachineRestarted);
        }
        Ok(if rollback == Recovery::Nothing && unfinished { Recovery::Undone } else { rollback })
    }

    /// Removes what a snapshot that was not finished left, and what only it needs; whether there was one.
    pub(super) fn discard_unfinished(&self) -> Result<bool, SpaceError> {
        remove_tree(&self.dir, SCRATCH, TRASH).doing("remove", "what was made to be looked at")?;
        let snapshots = self.dir.dir(SNAPSHOTS).doing("open", "the snapshots")?;
        let is_there = absent(snapshots.stat(snapshot::UNFINISHED)).doing("look at", "the snapshots")?.is_some();
        if is_there {
            self.sweep()?;
            // Last, because it says that there is something to sweep.
            remove_tree(&snapshots, snapshot::UNFINISHED, TRASH).doing("remove", "an unfinished snapshot")?;
        }
        Ok(is_there)
    }

    /// Removes what rollbacks replaced.
    pub(super) fn tidy(&self) -> Result<(), SpaceError> {
        Ok(remove_tree(&self.dir, REPLACED, TRASH).doing("remove", "what rollbacks replaced")?)
    }

    /// Removes content that no snapshot needs. An index counts on what it names being kept, so it goes as well.
    pub(super) fn sweep(&self) -> Result<(), SpaceError> {
        absent(self.dir.unlink(INDEX)).doing("remove", "the index")?;
        let mut needed = HashSet::new();
        for number in self.snapshots()? {
            // What a damaged one needs is not known, so everything stays.
            let Ok(saved) = Saved::load(self, number) else { return Ok(()) };
            let entries = saved.workspace.entries.iter().chain(&saved.memory.entries);
            needed.extend(entries.filter_map(Entry::digest));
        }
        self.objects()?.sweep(&needed)
    }
}
