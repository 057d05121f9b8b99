//! Control groups: the kernel's way to limit, count and end a tree of processes as one.
//!
//! ```text
//!  discover ──► parents ──► group ──► (the helper joins) ──► removed
//!  pure: which   once per    one per    see `crate::enter`     with the cage, or by
//!  directories   process     cage                              the next start
//! ```
//!
//! Works on version 2 (the root, or a subtree that was handed to this process), on version 1 (one directory per
//! controller), on mixtures of both, and finds nothing where the caller has no rights. A cage is entered all the same
//! then; what its limits are worth without groups is written at [`crate::Limits`].
//!
//! Directories of cages lie below the group of the calling process, so that whatever limits *it* limits them too.
//! Nothing here changes a group it did not make, with one exception that [`parents`] explains.

mod discover;
mod leftovers;
mod parents;
pub(crate) mod read;
mod remove;
pub(crate) mod settings;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use leftovers::collect_leftovers;
pub(crate) use parents::{Parents, parents};

use crate::error::SandboxError;
use crate::profile::Limits;
use crate::request::Freezing;
pub(crate) use leftovers::Name;

/// What a control group does for a cage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Controller {
    /// Limits and counts memory.
    Memory,
    /// Limits and counts processes.
    Processes,
    /// Counts processor time.
    CpuTime,
    /// Limits how fast processor time is used.
    CpuShare,
    /// Lets the whole tree stand still. A file of every group of version 2, and no controller there.
    Freezer,
}

impl Controller {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Memory, Self::Processes, Self::CpuTime, Self::CpuShare, Self::Freezer];
}

/// The two generations of the kernel's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupVersion {
    /// One hierarchy of directories per controller, or per few of them.
    V1,
    /// One hierarchy for all.
    V2,
}

/// The directory of a cage in one hierarchy of control groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDirectory {
    /// Where it is on the host.
    pub path: PathBuf,
    /// Which files to expect there.
    pub version: GroupVersion,
    /// What it is used for.
    pub controllers: Vec<Controller>,
}

/// The control groups of one cage. Dropping it ends what is left in them and removes them.
#[derive(Debug)]
pub(crate) struct Group {
    directories: Vec<GroupDirectory>,
}

impl Group {
    /// Before this process has its first child: one that has to step aside does so alone, because a child that came up
    /// before would stay behind.
    pub(crate) fn find_place() {
        parents();
    }

    /// Makes the directories, with these limits. Empty where the host offers none.
    pub(crate) fn make(limits: &Limits, freezing: Freezing) -> Result<Self, SandboxError> {
        Self::below(parents(), limits, freezing)
            .map_err(|source| SandboxError::Io { doing: "make a control group", source })
    }

    /// The directories it would make.
    pub(crate) fn foresee(limits: &Limits, freezing: Freezing) -> Result<Vec<GroupDirectory>, SandboxError> {
        let name = Name::next().map_err(|source| SandboxError::Io { doing: "name a control group", source })?;
        Ok(parents().wanted(limits, freezing).map(|parent| parent.directory_of(&name.to_string())).collect())
    }

    fn below(parents: &Parents, limits: &Limits, freezing: Freezing) -> io::Result<Self> {
        let mut group = Self { directories: Vec::new() };
        let name = Name::next()?.to_string();
        for parent in parents.wanted(limits, freezing) {
            let directory = parent.directory_of(&name);
            fs::create_dir(&directory.path)?;
            // Noted as soon as it is made: when a later one fails, dropping the group removes it.
            group.directories.push(directory);
        }
        group.directories.iter().try_for_each(|directory| settings::write(directory, limits))?;
        Ok(group)
    }

    pub(crate) fn directories(&self) -> &[GroupDirectory] {
        &self.directories
    }

    /// Ends what is left in it and removes it, now.
    pub(crate) fn remove(&mut self) {
        for directory in self.directories.drain(..) {
            // What cannot be removed now, because the kernel still holds a process, is collected by a later start.
            let _ = remove::remove(&directory.path);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.remove();
    }
}
