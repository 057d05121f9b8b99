//! The root of one live tree, which a program may close like any other directory.

use std::ops::Deref;

use super::closed::Closed;
use super::entry::Meta;
use super::error::SpaceError;
use super::restore::Part;
use super::scan::directory_meta;
use super::{AGENT, Space, UPPER};
use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;

/// How it is told in messages.
pub(super) const SHOWN: &str = "the root of the tree";

/// An open root; closed again, if it was closed, when this is dropped.
pub(super) struct Root<'a> {
    dir: Dir,
    closed: Closed<'a>,
}

impl<'a> Root<'a> {
    pub(super) fn open(space: &'a Space, part: Part) -> Result<Self, SpaceError> {
        let name = name(part);
        let stat = space.dir.stat(name).doing("look at", SHOWN)?;
        let closed = Closed::open_up(&space.dir, name, &stat).doing("open up", SHOWN)?;
        let dir = space.dir.dir(name).doing("open", SHOWN)?;
        Ok(Self { dir, closed })
    }

    /// What it has, whatever was opened to look at it.
    pub(super) fn meta(&self) -> Result<Meta, SpaceError> {
        let meta = directory_meta(&self.dir, SHOWN)?;
        Ok(Meta { mode: self.closed.mode().unwrap_or(meta.mode), ..meta })
    }

    /// Who everything in it belongs to.
    pub(super) fn owner(&self) -> Result<Owner, SpaceError> {
        Ok(Owner::of(&self.dir.own_stat().doing("look at", SHOWN)?))
    }

    /// It has what it is to have.
    pub(super) fn is_settled(&mut self) {
        self.closed.let_go();
    }
}

impl Deref for Root<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

/// Where it is in a space.
pub(super) fn name(part: Part) -> &'static [u8] {
    match part {
        Part::Workspace => UPPER.as_bytes(),
        Part::Memory => AGENT.as_bytes(),
    }
}
