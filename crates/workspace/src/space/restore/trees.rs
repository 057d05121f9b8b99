//! Both live trees, and what is in them.

use super::super::Space;
use super::super::error::SpaceError;
use super::super::root::Root;
use super::super::scan::{Content, Scan, Trust, scan};
use super::super::snapshot::Saved;
use super::journal::Part;

/// Both live trees, open.
pub(in crate::space) struct Trees<'a> {
    workspace: Root<'a>,
    memory: Root<'a>,
}

/// What there is to say about both of them.
pub(in crate::space) struct Live<S = Scan> {
    pub(in crate::space) workspace: S,
    pub(in crate::space) memory: S,
}

impl<'a> Trees<'a> {
    pub(in crate::space) fn open(space: &'a Space) -> Result<Self, SpaceError> {
        Ok(Self { workspace: Root::open(space, Part::Workspace)?, memory: Root::open(space, Part::Memory)? })
    }

    pub(super) fn root(&self, part: Part) -> &Root<'a> {
        match part {
            Part::Workspace => &self.workspace,
            Part::Memory => &self.memory,
        }
    }

    pub(super) fn root_mut(&mut self, part: Part) -> &mut Root<'a> {
        match part {
            Part::Workspace => &mut self.workspace,
            Part::Memory => &mut self.memory,
        }
    }

    /// Reads both as far as they are not known. A snapshot that was read already need not be read again for that.
    pub(in crate::space) fn scan(&self, space: &Space, at_hand: Option<&Saved>) -> Result<Live, SpaceError> {
        let (workspace, memory) = self.each(space, at_hand);
        Ok(Live { workspace: workspace?, memory: memory? })
    }

    /// The same, with nothing for what is more than is looked at or cannot be read: a run that could keep people from
    /// looking at what it left must not keep them from going back.
    pub(in crate::space) fn look(&self, space: &Space, at_hand: &Saved) -> Live<Option<Scan>> {
        let (workspace, memory) = self.each(space, Some(at_hand));
        Live { workspace: workspace.ok(), memory: memory.ok() }
    }

    fn each(&self, space: &Space, at_hand: Option<&Saved>) -> (Result<Scan, SpaceError>, Result<Scan, SpaceError>) {
        let known = space.known(at_hand);
        let trust = known.as_ref().map_or(Trust::Nothing(None), Trust::Stamps);
        let workspace = scan(&self.workspace, trust, Content::Named, space.limits);
        (workspace, scan(&self.memory, Trust::Nothing(None), Content::Named, space.limits))
    }
}
